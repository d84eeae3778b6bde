// distance by terms, in a periodic box or others: computes one chain for each pair of a query and a training
// row.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   terms   [dims]      parameters of the columns (metrics.def)
//   out     [q, t]      row-major, stride in elements; raw values
//
// A thread computes the chains of one training row with each query of a run, whose values all threads of a
// warp read at once. Rows in a box mostly have two or three columns, and are mostly searched by boxes.
// Work: q * t * dims terms of four instructions each, if periodic; q * t floats are written.
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t periodic_threads = 256;
constexpr std::uint32_t run = 8;  // queries of a block

/// Block b takes query run b % runs and 256 training rows.
template <Metric metric, Terms kind>
__global__ __launch_bounds__(periodic_threads) void distance_periodic(const Rows queries, const Rows train,
                                                                      const float* terms,
                                                                      const std::uint32_t runs,
                                                                      const Matrix<float> out) {
  const std::uint32_t t = blockIdx.x / runs * periodic_threads + threadIdx.x, first = blockIdx.x % runs * run;
  if (t >= train.rows) return;
  const float* const row = row_at(train, train.first + t);
  for (std::uint32_t q = first; q < min(first + run, queries.rows); ++q) {
    const float* const query = row_at(queries, queries.first + q);
    float acc = Chain<metric>::start();
    for (std::uint32_t d = 0; d < queries.dims; ++d)
      acc = next_term<metric, kind>(acc, __ldg(query + std::size_t{d} * rows_a_block),
                                    __ldg(row + std::size_t{d} * rows_a_block), __ldg(terms + d));
    out.data[q * out.stride + t] = acc;
  }
}

}  // namespace

cudaError_t distance_by_terms(const Queue& queue, const spi::DistanceStep& step) {
  const std::uint32_t runs = divide_up(step.queries.rows, run);
  return with_chain(step.metric, [&](auto chain) {
    constexpr Metric metric = decltype(chain)::value;
    if constexpr (takes_box(metric)) {
      auto* kernel = distance_periodic<metric, Terms::periodic>;
      if constexpr (takes_mixed_terms(metric))
        if (step.train.mixed) kernel = distance_periodic<metric, Terms::mixed>;
      return launch(queue, kernel, std::uint64_t{runs} * divide_up(step.train.rows, periodic_threads),
                    periodic_threads, 0, rows_of(step.queries), rows_of(step.train), terms_of(step.train),
                    runs, matrix_of(step.out));
    } else {
      return cudaErrorNotSupported;
    }
  });
}

}  // namespace kith::cuda
