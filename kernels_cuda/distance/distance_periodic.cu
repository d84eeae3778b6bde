// distance in a periodic box: computes one chain for each pair of a query and a training row.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   lengths [dims]      of the columns, +infinity for open ones
//   out     [q, t]      row-major, stride in elements; raw values
//
// A thread computes the chains of one training row with each query of a run, whose values all threads of a
// warp read at once. Rows in a box mostly have two or three columns, and are mostly searched by boxes.
// Work: q * t * dims terms of four instructions each; q * t floats are written.
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t run = 8;  // queries of a block

/// Block b takes query run b % runs and 256 training rows.
template <Metric metric>
__global__ __launch_bounds__(threads) void distance_periodic(const Rows queries, const Rows train,
                                                             const float* lengths, const std::uint32_t runs,
                                                             const Matrix<float> out) {
  const std::uint32_t t = blockIdx.x / runs * threads + threadIdx.x, first = blockIdx.x % runs * run;
  if (t >= train.rows) return;
  const float* const row = row_at(train, train.first + t);
  for (std::uint32_t q = first; q < min(first + run, queries.rows); ++q) {
    const float* const query = row_at(queries, queries.first + q);
    float acc = Chain<metric>::start();
    for (std::uint32_t d = 0; d < queries.dims; ++d)
      acc = next_periodic<metric>(acc, __ldg(query + std::size_t{d} * rows_a_block),
                                  __ldg(row + std::size_t{d} * rows_a_block), __ldg(lengths + d));
    out.data[q * out.stride + t] = acc;
  }
}

}  // namespace

cudaError_t distance_in_box(const Queue& queue, const spi::DistanceStep& step) {
  const std::uint32_t runs = divide_up(step.queries.rows, run);
  return with_chain(step.metric, [&](auto chain) {
    constexpr Metric metric = decltype(chain)::value;
    if constexpr (takes_box(metric))
      return launch(queue, distance_periodic<metric>,
                    std::uint64_t{runs} * divide_up(step.train.rows, threads), threads, 0,
                    rows_of(step.queries), rows_of(step.train), lengths_of(step.train), runs,
                    matrix_of(step.out));
    else
      return cudaErrorNotSupported;
  });
}

}  // namespace kith::cuda
