// distance by a metric of two sums: computes the quotient of the sums of each pair of a query and a
// training row.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   bits    of a row, of dims words
//   out     [q, t]      row-major, stride in elements; raw values
//
// A thread takes one training row and a run of queries. A warp reads a column of a block of rows as one line
// of 128 bytes, and the value of a query, which all its threads read at once, from the first-level cache.
// Several columns are read before the first is summed, which hides the latency. Runs of queries that read the
// same rows are neighbours, so that all but the first find them in the second-level cache. Of bits the sums
// are whole numbers, since counts are turned into floats no faster than bits are counted.
// Work: q * t * dims times two sums; for one query the rows are read once, and little else takes time.
#include "common/metric.cuh"
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;
constexpr int most_queries = 8;  // of a run

using bits_sum = std::uint32_t;
using numbers_sum = float;

__device__ __forceinline__ std::uint32_t ones_both(float a, float b) {
  return static_cast<std::uint32_t>(__popc(__float_as_uint(a) & __float_as_uint(b)));
}
__device__ __forceinline__ std::uint32_t ones_apart(float a, float b) {
  return static_cast<std::uint32_t>(__popc(__float_as_uint(a) ^ __float_as_uint(b)));
}
__device__ __forceinline__ float share(float p, float q) {
  const float infinity = __uint_as_float(0x7F800000u);
  return p == 0 ? 0 : q == 0 || p == infinity ? infinity : __fdiv_rn(p, q);
}

/// The two sums of a metric after a column, and their quotient.
template <Metric metric>
struct TwoSums;
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key)                                                          \
  template <>                                                                                            \
  struct TwoSums<Metric::id> {                                                                           \
    using Sum = rows##_sum;                                                                              \
    static __device__ __forceinline__ Sum next_first(Sum acc, float a, float b) { return first; }        \
    static __device__ __forceinline__ Sum next_second(Sum acc, float a, float b) { return second; }      \
    static __device__ __forceinline__ float quotient([[maybe_unused]] float x, [[maybe_unused]] float y, \
                                                     [[maybe_unused]] float n) {                         \
      return key;                                                                                        \
    }                                                                                                    \
  };
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC

/// Block b takes query run b % runs and 256 training rows. The last run may end with queries that are not
/// asked for: it takes the last query again for them.
template <Metric metric, int queries_a_run>
__global__ __launch_bounds__(threads) void distance_sums(const Rows queries, const Rows train, const float n,
                                                         const std::uint32_t runs, const Matrix<float> out) {
  using Of = TwoSums<metric>;
  const std::uint32_t t = blockIdx.x / runs * threads + threadIdx.x;
  const std::uint32_t first_query = blockIdx.x % runs * queries_a_run;
  if (t >= train.rows) return;
  const float* const row = row_at(train, train.first + t);
  const float* query[queries_a_run];
  typename Of::Sum firsts[queries_a_run], seconds[queries_a_run];
#pragma unroll
  for (int q = 0; q < queries_a_run; ++q) {
    query[q] = row_at(queries, queries.first + min(first_query + q, queries.rows - 1));
    firsts[q] = seconds[q] = 0;
  }
#pragma unroll 8
  for (std::uint32_t d = 0; d < queries.dims; ++d) {
    const float b = __ldg(row + std::size_t{d} * rows_a_block);
#pragma unroll
    for (int q = 0; q < queries_a_run; ++q) {
      const float a = __ldg(query[q] + std::size_t{d} * rows_a_block);
      firsts[q] = Of::next_first(firsts[q], a, b);
      seconds[q] = Of::next_second(seconds[q], a, b);
    }
  }
#pragma unroll
  for (int q = 0; q < queries_a_run; ++q)
    if (first_query + q < queries.rows)
      out.data[(first_query + q) * out.stride + t] =
          Of::quotient(static_cast<float>(firsts[q]), static_cast<float>(seconds[q]), n);
}

template <Metric metric, int queries_a_run>
cudaError_t launch_sums(const Queue& queue, const spi::DistanceStep& step) {
  const std::uint32_t runs = divide_up<std::uint32_t>(step.queries.rows, queries_a_run);
  return launch(queue, distance_sums<metric, queries_a_run>,
                std::uint64_t{runs} * divide_up(step.train.rows, threads), threads, 0, rows_of(step.queries),
                rows_of(step.train), static_cast<float>(step.train.bits), runs, matrix_of(step.out));
}

}  // namespace

cudaError_t distance_of_sums(const Queue& queue, const spi::DistanceStep& step) {
  const bool alone = step.queries.rows == 1;
  switch (step.metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key)            \
  case Metric::id:                                         \
    return alone ? launch_sums<Metric::id, 1>(queue, step) \
                 : launch_sums<Metric::id, most_queries>(queue, step);
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return cudaErrorInvalidValue;  // the others have chains
  }
}

}  // namespace kith::cuda
