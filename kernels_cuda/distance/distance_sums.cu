// distance by a metric of two sums: computes the quotient of the sums of each pair of a query and a
// training row.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   terms   [dims]      parameters of the columns (metrics.def), with which sums are of terms; or none
//   n       bits of a row, of dims words; or its columns, of which some may be NaN, if the metric takes gaps
//   out     [q, t]      row-major, stride in elements; raw values
//
// A thread takes one training row and a run of queries. A warp reads a column of a block of rows as one line
// of 128 bytes, and the value of a query, which all its threads read at once, from the first-level cache.
// Sixteen columns are read before the first is summed, which hides the latency. Runs of queries that read the
// same rows are neighbours, so that all but the first find them in the second-level cache. Of bits the sums
// are whole numbers, and a word of a pair is counted once, which takes the time of eight other instructions.
// Work: q * t * dims times two sums, or one count; for one query the rows are read once, and little else
// takes time.
#include <string_view>

#include "common/metric.cuh"
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t sums_threads = 256;
constexpr int most_queries = 8;              // of a run
constexpr std::uint32_t columns_ahead = 16;  // read before the first of them is summed

using bits_sum = std::uint32_t;
using numbers_sum = float;
using gaps_sum = float;

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
__device__ __forceinline__ float share_code(float p, float q) {
  const std::uint64_t code =
      p == 0 ? 0 : static_cast<std::uint64_t>(p) * 0x7F7FFFFE / static_cast<std::uint64_t>(q);
  return __uint_as_float(0xFF7FFFFFu - static_cast<std::uint32_t>(code));
}
__device__ __forceinline__ float known(float x) {
  return isnan(x) ? 0.0f : x;
}
__device__ __forceinline__ float is_known(float x) {
  return isnan(x) ? 0.0f : 1.0f;
}
__device__ __forceinline__ float rescaled(float x, float n, float y) {
  const double product = static_cast<double>(x) * static_cast<double>(n);  // exact
  return y == 0 ? __uint_as_float(spi::masked_bits)
                : __double2float_rn(__ddiv_rn(product, static_cast<double>(y)));
}

/// The two sums of a metric after a column, and their quotient.
template <Metric metric>
struct TwoSums;
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key, floats, shown)                                           \
  template <>                                                                                            \
  struct TwoSums<Metric::id> {                                                                           \
    static constexpr bool counts_ones = std::string_view(#first) == "acc + ones_both(a, b)" &&           \
                                        std::string_view(#second) == "acc + ones_apart(a, b)";           \
    using Sum = rows##_sum;                                                                              \
    static __device__ __forceinline__ Sum next_first(Sum acc, float a, float b) { return first; }        \
    static __device__ __forceinline__ Sum next_second(Sum acc, float a, float b) { return second; }      \
    static __device__ __forceinline__ float quotient([[maybe_unused]] float x, [[maybe_unused]] float y, \
                                                     [[maybe_unused]] float n) {                         \
      if (floats > 0 && n > floats) return share_code(y, x + y);                                         \
      return key;                                                                                        \
    }                                                                                                    \
  };
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC

template <Metric metric>
inline constexpr bool of_bits = compares_bits(metric);

/// The sums of a training row and the queries of a run.
template <Metric metric, int queries, bool bits = of_bits<metric>>
struct RunSums {
  float firsts[queries] = {}, seconds[queries] = {};

  __device__ __forceinline__ void add_row(float) {}
  __device__ __forceinline__ void add(int q, float a, float b) {
    firsts[q] = TwoSums<metric>::next_first(firsts[q], a, b);
    seconds[q] = TwoSums<metric>::next_second(seconds[q], a, b);
  }
  __device__ __forceinline__ float quotient(int q, std::uint32_t, float n) const {
    return TwoSums<metric>::quotient(firsts[q], seconds[q], n);
  }
};

/// Of bits each word of a pair is counted once: where the ones of both rows are known, those that differ
/// follow from those that both have.
template <Metric metric, int queries>
struct RunSums<metric, queries, true> {
  static_assert(TwoSums<metric>::counts_ones);
  std::uint32_t both[queries] = {}, ones = 0;

  __device__ __forceinline__ void add_row(float b) { ones += ones_both(b, b); }
  __device__ __forceinline__ void add(int q, float a, float b) { both[q] += ones_both(a, b); }
  __device__ __forceinline__ float quotient(int q, std::uint32_t of_query, float n) const {
    return TwoSums<metric>::quotient(static_cast<float>(both[q]),
                                     static_cast<float>(ones + of_query - 2 * both[q]), n);
  }
};

/// Counts the ones of the queries of a run, by all threads of a block.
template <int queries>
__device__ __forceinline__ void count_ones(const float* const (&query)[queries], std::uint32_t dims,
                                           std::uint32_t (&ones)[queries]) {
  if (threadIdx.x < queries) ones[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int q = 0; q < queries; ++q) {
    std::uint32_t own = 0;
    for (std::uint32_t d = threadIdx.x; d < dims; d += sums_threads) {
      const float a = __ldg(query[q] + std::size_t{d} * rows_a_block);
      own += ones_both(a, a);
    }
    if (own > 0) atomicAdd(ones + q, own);
  }
  __syncthreads();
}

/// Block b takes query run b % runs and 256 training rows. The last run may end with queries that are not
/// asked for: it takes the last query again for them.
///   kind  differences, or mixed: sums are then of terms, which take the place of the query's values
template <Metric metric, int queries_a_run, Terms kind>
__global__ __launch_bounds__(sums_threads) void distance_sums(const Rows queries, const Rows train,
                                                              const float* const terms, const float n,
                                                              const std::uint32_t runs,
                                                              const Matrix<float> out) {
  __shared__ std::uint32_t ones[queries_a_run];
  const std::uint32_t t = blockIdx.x / runs * sums_threads + threadIdx.x;
  const std::uint32_t first_query = blockIdx.x % runs * queries_a_run;
  const float* query[queries_a_run];
#pragma unroll
  for (int q = 0; q < queries_a_run; ++q)
    query[q] = row_at(queries, queries.first + min(first_query + q, queries.rows - 1));
  if constexpr (of_bits<metric>) count_ones(query, queries.dims, ones);
  if (t >= train.rows) return;
  const float* const row = row_at(train, train.first + t);
  RunSums<metric, queries_a_run> sums;
  const auto add = [&](std::uint32_t d, float b) {
    sums.add_row(b);
#pragma unroll
    for (int q = 0; q < queries_a_run; ++q) {
      const float a = __ldg(query[q] + std::size_t{d} * rows_a_block);
      if constexpr (kind == Terms::mixed)
        sums.add(q, pair_term<kind>(a, b, __ldg(terms + d)), 0.0f);
      else
        sums.add(q, a, b);
    }
  };
  std::uint32_t d = 0;
  for (; d + columns_ahead <= queries.dims; d += columns_ahead) {
    float b[columns_ahead];
#pragma unroll
    for (std::uint32_t i = 0; i < columns_ahead; ++i) b[i] = __ldg(row + std::size_t{d + i} * rows_a_block);
#pragma unroll
    for (std::uint32_t i = 0; i < columns_ahead; ++i) add(d + i, b[i]);
  }
  for (; d < queries.dims; ++d) add(d, __ldg(row + std::size_t{d} * rows_a_block));
#pragma unroll
  for (int q = 0; q < queries_a_run; ++q)
    if (first_query + q < queries.rows)
      out.data[(first_query + q) * out.stride + t] = sums.quotient(q, of_bits<metric> ? ones[q] : 0, n);
}

template <Metric metric, int queries_a_run>
cudaError_t launch_sums(const Queue& queue, const spi::DistanceStep& step) {
  const std::uint32_t runs = divide_up<std::uint32_t>(step.queries.rows, queries_a_run);
  auto* kernel = distance_sums<metric, queries_a_run, Terms::differences>;
  if constexpr (takes_mixed_terms(metric))
    if (step.train.mixed) kernel = distance_sums<metric, queries_a_run, Terms::mixed>;
  return launch(queue, kernel, std::uint64_t{runs} * divide_up(step.train.rows, sums_threads), sums_threads,
                0, rows_of(step.queries), rows_of(step.train),
                step.train.mixed ? terms_of(step.train) : nullptr, static_cast<float>(step.summed()), runs,
                matrix_of(step.out));
}

}  // namespace

cudaError_t distance_of_sums(const Queue& queue, const spi::DistanceStep& step) {
  const std::uint32_t m = step.queries.rows;
  switch (step.metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, ...)                                    \
  case Metric::id:                                            \
    return m == 1   ? launch_sums<Metric::id, 1>(queue, step) \
           : m <= 4 ? launch_sums<Metric::id, 4>(queue, step) \
                    : launch_sums<Metric::id, most_queries>(queue, step);
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return cudaErrorInvalidValue;  // the others have chains
  }
}

}  // namespace kith::cuda
