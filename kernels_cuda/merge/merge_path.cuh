// Many threads merge two ascending lists: each finds where its part of the result begins.
// Source: Odeh, Green, Mwassi, Shmueli, Birk, Merge Path, 2012.
#pragma once

#include "common/common.cuh"

namespace kith::cuda {

/// Two ascending lists to be merged; of equal keys, those of `a` come first.
struct Pair {
  const Key* a;
  std::uint32_t a_count;
  const Key* b;
  std::uint32_t b_count;

  /// The least and the largest possible number of the first `place` merged keys that come from a.
  __device__ std::uint32_t fewest(std::uint32_t place) const { return place > b_count ? place - b_count : 0; }
  __device__ std::uint32_t most(std::uint32_t place) const { return min(place, a_count); }

  /// Returns whether a[i] is among the first `place` merged keys, for fewest <= i < most. This is true up to
  /// some i, then false.
  __device__ bool within(std::uint32_t place, std::uint32_t i) const { return a[i] <= b[place - 1 - i]; }
};

/// Returns how many of the first `place` merged keys come from a. One thread computes it, in log2 steps.
__device__ inline std::uint32_t split(const Pair& pair, std::uint32_t place) {
  std::uint32_t low = pair.fewest(place), high = pair.most(place);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (pair.within(place, middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Returns the same, computed by a warp that tries 32 places at a time: log32 steps, for lists in
/// slow memory.
__device__ inline std::uint32_t split_by_warp(const Pair& pair, std::uint32_t place, std::uint32_t lane) {
  std::uint32_t low = pair.fewest(place), high = pair.most(place);
  while (low < high) {
    const std::uint32_t step = divide_up(high - low, 32u);
    const std::uint64_t tried = low + std::uint64_t{lane} * step;
    const bool within = tried < high && pair.within(place, static_cast<std::uint32_t>(tried));
    const auto several = static_cast<std::uint32_t>(__popc(__ballot_sync(0xFFFFFFFFu, within)));
    if (several == 0) break;
    high = static_cast<std::uint32_t>(min(std::uint64_t{high}, low + std::uint64_t{several} * step));
    low += (several - 1) * step + 1;
  }
  return low;
}

/// Returns the merged keys place .. place + each - 1, with no_key behind the last.
template <int each>
__device__ __forceinline__ void merge_from(const Pair& pair, std::uint32_t place, Key (&merged)[each]) {
  place = min(place, pair.a_count + pair.b_count);
  std::uint32_t i = split(pair, place), j = place - i;
  Key a = i < pair.a_count ? pair.a[i] : no_key, b = j < pair.b_count ? pair.b[j] : no_key;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const bool from_a = a <= b;
    merged[e] = from_a ? a : b;
    if (from_a) {
      ++i;
      a = i < pair.a_count ? pair.a[i] : no_key;
    } else {
      ++j;
      b = j < pair.b_count ? pair.b[j] : no_key;
    }
  }
}

/// Returns how many of the first `keys` of an ascending list are below `key`; with or_equal, below or equal
/// to it.
__device__ inline std::uint32_t count_before(const Key* list, std::uint32_t keys, Key key, bool or_equal) {
  std::uint32_t low = 0, high = keys;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (list[middle] < key || (or_equal && list[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace kith::cuda
