// Gathers candidates that pass the test, which are rare, in a buffer of shared memory for each warp. A warp
// appends 32 of them at a time, or twice as many, so that it waits for places in the lists once for these.
// No twin in kernels_cl: append_sums.cl, gather.cl and collect_fused_test.cl have this.
#pragma once

#include "propose/candidates.cuh"

namespace kith::cuda {

/// Returns element `at` of an array that is in registers.
template <int first, int count, class T, int columns>
__device__ __forceinline__ T pick(const T (&from)[columns], std::uint32_t at) {
  if constexpr (count == 1) {
    return from[first];
  } else {
    const T a = pick<first, count / 2>(from, at), b = pick<first + count / 2, count / 2>(from, at);
    return at & (count / 2) ? b : a;
  }
}

/// A row that passed the test of a query.
struct alignas(16) Finding {
  std::uint32_t query, place, row;  // `place` counts in the step, as gaps do
  float low;
};

/// The distance between the bounds of a finding, which collect_low() has written for its place.
struct GapOfPlace {
  __device__ __forceinline__ float of(const HalfCollection& collection, const Finding& found) const {
    return gap_at(collection.from, found.place);
  }
};

/// Returns whether a finding passes. It was tested before it was found, unless a Gap has a test of its own.
template <class Gap>
__device__ __forceinline__ bool passes(const Gap&, const HalfCollection&, Finding&) {
  return true;
}

/// Says that queries are few, so that many findings are of one.
template <class Gap>
inline constexpr bool has_few_queries = false;

/// The number of findings that a warp has room for until they are appended, `each` by a lane.
template <int each = 1>
inline constexpr std::uint32_t room_for_findings = 32 * (each + 1);
inline constexpr std::uint32_t findings_of_warp = room_for_findings<>;

/// The findings of a warp that are not yet appended.
///   Gap   gives the distance between the bounds of a finding, and its test, passes()
///   each  how many a lane appends at a time
template <class Gap = GapOfPlace, int each = 1>
class Findings {
 public:
  /// `buffer` belongs to this warp and has room_for_findings<each> places.
  __device__ __forceinline__ Findings(Finding* buffer, std::uint32_t lane, Gap gap = {})
      : buffer_(buffer), lane_(lane), gap_(gap) {}

  /// Adds the findings of those lanes that have one. All lanes of a warp call this.
  __device__ __forceinline__ void add(const HalfCollection& collection, bool has, const Finding& found) {
    const std::uint32_t vote = __ballot_sync(whole_warp, has);
    const auto before = static_cast<std::uint32_t>(__popc(vote & ((1u << lane_) - 1)));
    if (has) buffer_[count_ + before] = found;
    count_ += static_cast<std::uint32_t>(__popc(vote));
    if (count_ >= 32 * each) append(collection, 32 * each);
  }

  /// Appends the findings that are left.
  __device__ __forceinline__ void finish(const HalfCollection& collection) { append(collection, count_); }

 private:
  /// Appends the last `many` findings, at most 32 * each. Those of a lane wait for memory at the same time.
  __device__ __forceinline__ void append(const HalfCollection& collection, std::uint32_t many) {
    __syncwarp();
    count_ -= many;
    const Lists<std::uint32_t>& lists = collection.out.lists;
    Finding found[each];
    float gap[each];
    std::uint32_t at[each];
    bool passed[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      passed[i] = lane_ + 32 * i < many;
      if (!passed[i]) continue;
      found[i] = buffer_[count_ + lane_ + 32 * i];
      gap[i] = gap_.of(collection, found[i]);
      passed[i] = passes(gap_, collection, found[i]);
    }
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (passed[i])
        at[i] = place_in_list(lists.counts.data + found[i].query * lists.counts.stride, found[i].query);
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (passed[i] && at[i] < lists.capacity)
        put_candidate(collection.out, gap[i], found[i].query, at[i], found[i].row, found[i].low);
    __syncwarp();
  }

  /// Takes a place in the list of a query. Lanes of one query take theirs together, where queries are few.
  __device__ __forceinline__ std::uint32_t place_in_list(std::uint32_t* count, std::uint32_t query) const {
    if constexpr (has_few_queries<Gap>) {
      const std::uint32_t same = __match_any_sync(__activemask(), query),
                          before = static_cast<std::uint32_t>(__popc(same & ((1u << lane_) - 1)));
      const int first = __ffs(static_cast<int>(same)) - 1;
      std::uint32_t at = 0;
      if (before == 0) at = atomicAdd(count, static_cast<std::uint32_t>(__popc(same)));
      return __shfl_sync(same, at, first) + before;
    } else {
      return atomicAdd(count, 1u);
    }
  }

  Finding* const buffer_;
  const std::uint32_t lane_;
  const Gap gap_;
  std::uint32_t count_ = 0;
};

}  // namespace kith::cuda
