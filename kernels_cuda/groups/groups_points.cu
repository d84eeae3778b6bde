// groups, for three columns: finds the k nearest rows of each query in its group.
//
//   queries [q, 3]   train [t, 3]   blocks of 32 rows
//   query_borders, row_borders [groups + 1]
//   out [q, k]   keys, ascending, padded with no_key
//
// A thread keeps one query, and goes through the first 1024 rows of its group twice. First it keeps the
// least chain of each part of 8 rows, and the k smallest of those of 16 rows (of 8, above k = 16). Each
// belongs to a row of its own, so the last of the k bounds the distance of the k-th neighbour. Then it goes
// through the parts whose least chain is within the bound, mostly one in seven, and their rows within the
// bound go by a queue to its list of keys in registers. Least chains are kept as their upper 16 bits:
// no order is turned around by that, so that no part within the bound is missed.
// Rows after the first 1024 are read once. The lanes of a warp empty their queues together, so that no lane
// waits for the insertions of another.
// Work: 1.2 q t' dims multiply-adds for groups of t' rows, and some 1.2 k insertions per list for the first
// 1024 rows, where one pass would make k (1 + ln(1024 / k)). Shared memory: 24 KiB.
// Source: minima of parts as a bound after Alabi and others, Fast k-selection algorithms for graphics
// processing units, 2012; thread queues of Johnson, Douze, Jegou 2017 (FAISS).
#include "groups/groups.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t point_threads = 64;
constexpr int part = 8, step_rows = 2 * part;
constexpr std::uint32_t parts = 128, pass_rows = parts * part;

/// Inserts a value, or nothing for a NaN, into ascending values and drops the last.
template <int keys>
__device__ __forceinline__ void insert_value(float (&list)[keys], float value) {
  value = fminf(value, bound_value(no_key));
#pragma unroll
  for (int j = keys - 1; j > 0; --j) list[j] = fminf(list[j], fmaxf(list[j - 1], value));
  list[0] = fminf(list[0], value);
}

template <Metric metric, int rows>
__device__ __forceinline__ void chains_of_points(float (&acc)[rows], const float (&a)[3], const float* row) {
#pragma unroll
  for (int e = 0; e < rows; ++e) acc[e] = Chain<metric>::start();
#pragma unroll
  for (int d = 0; d < 3; ++d)
#pragma unroll
    for (int e = 0; e < rows; e += 4) {
      float b[4];
      load_neighbours(b, row + d * rows_a_block + e);
#pragma unroll
      for (int j = 0; j < 4; ++j) acc[e + j] = Chain<metric>::next(acc[e + j], a[d], b[j]);
    }
}

/// Makes the chains of rows that do not count no candidates.
///   r  the first row
template <int rows>
__device__ __forceinline__ void leave_out(float (&acc)[rows], const Range& range, std::uint32_t own,
                                          std::uint32_t r) {
  if (r >= range.begin && r + rows <= range.end && own - r >= rows) return;
#pragma unroll
  for (int e = 0; e < rows; ++e) {
    const std::uint32_t t = r + static_cast<std::uint32_t>(e);
    if (t < range.begin || t >= range.end || t == own) acc[e] = not_a_candidate();
  }
}

template <int rows>
__device__ __forceinline__ float least_of(const float* acc) {
  float least = acc[0];
#pragma unroll
  for (int e = 1; e < rows; ++e) least = fminf(least, acc[e]);
  return least;
}

/// Returns the upper half of a least chain, or of a bound: halves keep the order of values. A NaN, which has
/// no row, comes after every bound.
template <Metric metric>
__device__ __forceinline__ std::uint16_t half_of(float value) {
  constexpr bool may_be_negative = metric == Metric::negative_dot;
  const std::uint32_t bits = may_be_negative ? ordered_bits(value) : __float_as_uint(value);
  return static_cast<std::uint16_t>(bits >> 16);
}

template <Metric metric, int keys>
__global__ __launch_bounds__(point_threads) void nearest_points_in_groups(const Groups step) {
  constexpr int places = 2 * part;
  constexpr bool fine = keys > 16;  // more bounds for long lists
  __shared__ std::uint16_t least[parts][point_threads];
  __shared__ Key queues[places][point_threads];
  const std::uint32_t number = blockIdx.x * point_threads + threadIdx.x, lane = threadIdx.x;
  const std::uint32_t q = min(number, step.queries.rows - 1);
  Range range(step, group_of(step, q));
  const std::uint32_t own = own_row(step, q);
  if (number != q) range.end = range.begin;  // lanes without a query of their own read no row
  const float* const query = row_at(step.queries, step.queries.first + q);
  float a[3];
#pragma unroll
  for (int d = 0; d < 3; ++d) a[d] = __ldg(query + d * rows_a_block);

  const int unused = keys - static_cast<int>(step.k);  // keys and values that are below all others
  Key list[keys];
  int size = 0;
  float limit = bound_value(no_key);
  const auto empty_queue = [&] {
    for (int e = 0; e < size; ++e) insert_key(list, queues[e][lane]);
    size = 0;
    limit = fminf(limit, bound_value(list[keys - 1]));
  };

  const std::uint32_t r0 = range.begin / step_rows * step_rows;
  const std::uint32_t steps =
      range.begin < range.end ? divide_up(min(range.end - r0, pass_rows), std::uint32_t{step_rows}) : 0;
  float bounds[keys];
#pragma unroll
  for (int j = 0; j < keys; ++j) bounds[j] = j < unused ? -bound_value(no_key) : bound_value(no_key);
  for (std::uint32_t s = 0; s < steps; ++s) {
    float acc[step_rows];
    const std::uint32_t r = r0 + s * step_rows;
    chains_of_points<metric>(acc, a, row_at(step.train, r));
    leave_out(acc, range, own, r);
    const float one = least_of<part>(acc), other = least_of<part>(acc + part);
    least[2 * s][lane] = half_of<metric>(one);
    least[2 * s + 1][lane] = half_of<metric>(other);
    if (fine) {
      insert_value(bounds, one);
      insert_value(bounds, other);
    } else {
      insert_value(bounds, fminf(one, other));
    }
  }
  limit = bounds[keys - 1];
#pragma unroll
  for (int j = 0; j < keys; ++j) list[j] = j < unused ? 0 : no_key;
  std::uint32_t within = 0;  // parts, whose numbers replace the least chains of those before
  const std::uint16_t code = half_of<metric>(limit);
  for (std::uint32_t p = 0; p < 2 * steps; ++p)
    if (least[p][lane] <= code) least[within++][lane] = static_cast<std::uint16_t>(p);
  std::uint32_t i = 0, later = r0 + pass_rows;
  while (__any_sync(0xFFFFFFFFu, i < within || later < range.end)) {
    if (i < within || later < range.end) {
      const std::uint32_t r = i < within ? r0 + least[i][lane] * std::uint32_t{part} : later;
      if (i < within)
        ++i;
      else
        later += part;
      float acc[part];
      chains_of_points<metric>(acc, a, row_at(step.train, r));
      leave_out(acc, range, own, r);
      if (least_of<part>(acc) <= limit) {
#pragma unroll
        for (int e = 0; e < part; ++e)
          if (acc[e] <= limit)
            queues[size++][lane] = key_of(acc[e], r + static_cast<std::uint32_t>(e) + range.shift);
      }
    }
    if (__any_sync(0xFFFFFFFFu, size > places - part)) empty_queue();
  }
  empty_queue();
  if (number != q) return;
  write_list(list, step, q);
}

template <int keys>
cudaError_t points_by(const Queue& queue, Metric metric, const Groups& step) {
  const std::uint32_t blocks = divide_up(step.queries.rows, point_threads);
  return with_chain(metric, [&](auto chain) {
    return launch(queue, nearest_points_in_groups<decltype(chain)::value, keys>, blocks, point_threads, 0,
                  step);
  });
}

}  // namespace

cudaError_t search_groups_of_points(const Queue& queue, Metric metric, const Groups& step) {
  if (step.k <= 8) return points_by<8>(queue, metric, step);
  if (step.k <= 16) return points_by<16>(queue, metric, step);
  if (step.k <= 32) return points_by<32>(queue, metric, step);
  return points_by<groups_max_k>(queue, metric, step);
}

}  // namespace kith::cuda
