// groups: finds the k nearest rows of each query in its group.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   query_borders, row_borders [groups + 1]
//   out [q, k]   keys, ascending, padded with no_key
//
// A thread keeps one query, with its list of at least k keys in registers. It finds its group by halving, and
// computes the chains of the group's rows, several at a time. Neighbouring queries are mostly of one group,
// so that a warp reads the same rows at once, from the first-level cache; no thread waits for another. The
// rows below the bound go to a queue in shared memory. When the queue of one lane is nearly full, all lanes
// of the warp empty theirs into their lists, so that long insertions run together.
// Queries of three columns are in registers; others are read again for each step of rows.
// Work: q t' dims multiply-adds for groups of t' rows; if rows are in random order, about k (1 + ln(t' / k))
// insertions per list. Shared memory: 16 or 8 KiB.
// Source: the filter before selection of Johnson, Douze, Jegou 2017 (FAISS), and their thread queues.
#include "groups/groups.cuh"
#include "groups/groups_products.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t group_threads = 64;

/// Computes the chains of one query with `each` neighbouring rows.
///   a      [fixed_dims]  the query, if its columns are few
///   query  column 0 of the query; columns are rows_a_block apart
template <Metric metric, int fixed_dims, int each>
__device__ __forceinline__ void chains_of_rows(float (&acc)[each], const float* a, const float* query,
                                               const float* row, std::uint32_t dims) {
  static_assert(each % 4 == 0);
#pragma unroll
  for (int e = 0; e < each; ++e) acc[e] = Chain<metric>::start();
  const auto accumulate = [&](float value, const float* column) {
#pragma unroll
    for (int e = 0; e < each; e += 4) {
      const float4 b = __ldg(reinterpret_cast<const float4*>(column + e));
      acc[e] = Chain<metric>::next(acc[e], value, b.x);
      acc[e + 1] = Chain<metric>::next(acc[e + 1], value, b.y);
      acc[e + 2] = Chain<metric>::next(acc[e + 2], value, b.z);
      acc[e + 3] = Chain<metric>::next(acc[e + 3], value, b.w);
    }
  };
  if constexpr (fixed_dims > 0) {
#pragma unroll
    for (int d = 0; d < fixed_dims; ++d) accumulate(a[d], row + d * rows_a_block);
  } else {
#pragma unroll 4
    for (std::uint32_t d = 0; d < dims; ++d, row += rows_a_block, query += rows_a_block)
      accumulate(__ldg(query), row);
  }
}

template <Metric metric, int keys, int fixed_dims>
__global__ __launch_bounds__(group_threads) void nearest_in_groups(const Groups step) {
  constexpr int each = fixed_dims > 0 ? 8 : 16, places = 2 * each;
  __shared__ Key queues[places][group_threads];
  const std::uint32_t number = blockIdx.x * group_threads + threadIdx.x, dims = step.queries.dims;
  const std::uint32_t q =
      min(number, step.queries.rows - 1);  // lanes without a query of their own read no row
  const Range range(step, group_of(step, q));
  const std::uint32_t own = own_row(step, q);
  const float* const query = row_at(step.queries, step.queries.first + q);
  float a[fixed_dims > 0 ? fixed_dims : 1];
#pragma unroll
  for (int d = 0; d < fixed_dims; ++d) a[d] = __ldg(query + d * rows_a_block);

  const int unused = keys - static_cast<int>(step.k);  // keys that are below all others
  Key list[keys];
#pragma unroll
  for (int j = 0; j < keys; ++j) list[j] = j < unused ? 0 : no_key;
  float limit = bound_value(no_key);
  int size = 0;
  const auto empty_queue = [&] {
    for (int e = 0; e < size; ++e) insert_key(list, queues[e][threadIdx.x]);
    size = 0;
    limit = bound_value(list[keys - 1]);
  };
  const std::uint32_t first = range.begin / each * each;
  const std::uint32_t steps =
      number == q && range.begin < range.end ? divide_up(range.end - first, std::uint32_t{each}) : 0;
  const auto take_step = [&](std::uint32_t r) {
    float acc[each];
    chains_of_rows<metric, fixed_dims>(acc, a, query, row_at(step.train, r), dims);
    float least = acc[0];
#pragma unroll
    for (int e = 1; e < each; ++e) least = fminf(least, acc[e]);
    if (least <= limit) {
#pragma unroll
      for (int e = 0; e < each; ++e) {
        const std::uint32_t t = r + e;
        if (acc[e] <= limit && t >= range.begin && t < range.end && t != own)
          queues[size++][threadIdx.x] = key_of(acc[e], t + range.shift);
      }
    }
  };
  for (std::uint32_t s = 0; __any_sync(0xFFFFFFFFu, s < steps); ++s) {
    if (s < steps) take_step(first + s * each);
    if (__any_sync(0xFFFFFFFFu, size > places - each)) empty_queue();
  }
  empty_queue();
  if (number != q) return;
  write_list(list, step, q);
}

template <int keys>
cudaError_t groups_by(const Queue& queue, Metric metric, const Groups& step) {
  const std::uint32_t blocks = divide_up(step.queries.rows, group_threads);
  return with_chain(metric, [&](auto chain) {
    constexpr Metric of = decltype(chain)::value;
    constexpr int points = 3;  // columns
    if (step.queries.dims == points)
      return launch(queue, nearest_in_groups<of, keys, points>, blocks, group_threads, 0, step);
    return launch(queue, nearest_in_groups<of, keys, 0>, blocks, group_threads, 0, step);
  });
}

Groups groups_of(const spi::GroupsStep& step) {
  return {rows_of(step.queries),
          rows_of(step.train),
          step.first_query,
          step.first_row,
          count_of(step.row_borders.cols) - 1,
          input_of(step.query_borders).data,
          input_of(step.row_borders).data,
          step.k,
          step.from_group,
          step.own >= 0,
          static_cast<std::uint32_t>(step.own),
          matrix_of(step.out)};
}

}  // namespace

std::size_t groups_scratch(const Queue& queue, const spi::GroupsStep& step) {
  const std::uint32_t groups = count_of(step.row_borders.cols) - 1, rows = step.train.rows;
  return spi::products_pay(rows / groups, step.train.dims, step.k) && products_fit(queue, step)
             ? scratch_of_products(rows, groups, step.train.dims)
             : 0;
}

cudaError_t search_groups(const Queue& queue, const spi::GroupsStep& step) {
  const Groups all = groups_of(step);
  const std::size_t scratch = groups_scratch(queue, step);
  if (scratch > 0 && step.scratch.bytes >= scratch)
    return search_groups_by_products(queue, all, address_of<void>(step.scratch));
  const std::uint32_t rows_a_group = step.train.rows / all.groups;
  if (step.train.dims == 3 && rows_a_group >= spi::fewest_rows_twice && rows_a_group <= spi::most_rows_twice)
    return search_groups_of_points(queue, step.metric, all);
  if (step.k <= 8) return groups_by<8>(queue, step.metric, all);
  if (step.k <= 16) return groups_by<16>(queue, step.metric, all);
  if (step.k <= 32) return groups_by<32>(queue, step.metric, all);
  return groups_by<groups_max_k>(queue, step.metric, all);
}

}  // namespace kith::cuda
