// What the kernels of groups share: the step, and the rows that a query asks.
#pragma once

#include "common/rows.cuh"

namespace kith::cuda {

struct Groups {
  Rows queries, train;
  std::uint32_t first_query, first_row, groups;
  const std::uint32_t *query_borders, *row_borders;
  std::uint32_t k;
  bool from_group, asks_itself;
  std::uint32_t own;
  Matrix<Key> out;
};

/// Returns the group that has this number, which it finds by halving.
///   borders  [groups + 1]
__device__ __forceinline__ std::uint32_t group_at(const std::uint32_t* borders, std::uint32_t groups,
                                                  std::uint32_t number) {
  std::uint32_t group = 0, until = groups;  // the group is one of group ... until - 1
  while (until - group > 1) {
    const std::uint32_t middle = group + (until - group) / 2;
    if (__ldg(borders + middle) <= number)
      group = middle;
    else
      until = middle;
  }
  return group;
}

/// Returns the group of query q of the step.
__device__ __forceinline__ std::uint32_t group_of(const Groups& step, std::uint32_t q) {
  return group_at(step.query_borders, step.groups, step.first_query + q);
}

/// The rows of a group, in the memory of training rows.
struct Range {
  std::uint32_t begin, end;
  std::uint32_t shift;  // turns a row of the memory into the row of a key, modulo 2^32

  __device__ __forceinline__ Range(const Groups& step, std::uint32_t group) {
    const std::uint32_t first = __ldg(step.row_borders + group);
    const std::uint32_t to_memory = step.train.first - step.first_row;  // wraps around, and back
    begin = first + to_memory;
    end = __ldg(step.row_borders + group + 1) + to_memory;
    shift = 0u - to_memory - (step.from_group ? first : 0u);
  }
};

/// Returns the row of the memory that does not count for query q of the step; no_row: all count.
__device__ __forceinline__ std::uint32_t own_row(const Groups& step, std::uint32_t q) {
  return step.asks_itself ? step.own + step.first_query + q + (step.train.first - step.first_row) : no_row;
}

/// A list keeps k keys, behind `keys` - k that are below all others.
/// Inserts a key into ascending keys and drops the last.
template <int keys>
__device__ __forceinline__ void insert_key(Key (&list)[keys], Key key) {
#pragma unroll
  for (int j = keys - 1; j > 0; --j) {
    const bool after = list[j - 1] <= key;
    const Key moved = after ? key : list[j - 1];
    list[j] = key < list[j] ? moved : list[j];
  }
  list[0] = min(list[0], key);
}

/// Writes the list of query q of the step.
template <int keys>
__device__ __forceinline__ void write_list(const Key (&list)[keys], const Groups& step, std::uint32_t q) {
  const int unused = keys - static_cast<int>(step.k);
  Key* const out = step.out.data + q * step.out.stride;
#pragma unroll
  for (int j = 0; j < keys; ++j)
    if (j >= unused) out[j - unused] = list[j];
}

/// Searches groups of many rows of three columns (groups_points.cu).
cudaError_t search_groups_of_points(const Queue& queue, Metric metric, const Groups& step);

}  // namespace kith::cuda
