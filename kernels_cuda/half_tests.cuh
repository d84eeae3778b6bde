// What becomes of the sums that tensor cores leave: each is tested where it is, and what passes, seldom one
// of thousands, is appended to the list of its query.
//
// Of 16 queries by 8 training rows a lane has four sums: of queries lane / 4 and lane / 4 + 8, and of rows
// 2 (lane % 4) and the next. What passes is gathered in shared memory, a buffer a warp, and appended when
// there are 32, so that a warp waits for its places once in 32 times. Before there is any theta all rows
// pass: then the four lanes of a query, a quad, take places together, by one atomic addition.
#pragma once

#include "candidates.cuh"

namespace kith::cuda {

/// Of the rows of a warp what a lane needs: low [2 j + e] is of row 8 j + 2 (lane % 4) + e, NaN where there
/// is none. `from` begins at row 0 of the warp's.
template <int columns>
__device__ __forceinline__ void load_low(float (&low)[columns], const float* from, std::uint32_t lane) {
#pragma unroll
  for (int j = 0; j < columns / 2; ++j) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(from) + j * 4 + lane % 4);
    low[2 * j] = two.x;
    low[2 * j + 1] = two.y;
  }
}

/// Element `at` of registers.
template <int first, int count, int columns>
__device__ __forceinline__ float pick(const float (&from)[columns], std::uint32_t at) {
  if constexpr (count == 1) {
    return from[first];
  } else {
    const float a = pick<first, count / 2>(from, at), b = pick<first + count / 2, count / 2>(from, at);
    return at & (count / 2) ? b : a;
  }
}

/// By how much more than by the gap of a row bounds are apart that were found with query q: by nothing.
struct NoSlack {
  __device__ __forceinline__ float of(std::uint32_t) const { return 0; }
};

/// Append all of 16 queries' rows, four places of a lane after four of the next one of its quad: where lists
/// are aligned that is an access instead of four.
template <int columns>
__device__ __forceinline__ void append_all(const HalfCollection& collection, const float (&v)[columns],
                                           std::uint32_t q, std::uint32_t place, std::uint32_t row,
                                           float slack, std::uint32_t lane) {
  static_assert(columns % 4 == 0);
  const BoundedLists& out = collection.out;
  std::uint32_t at = 0;
  if (lane % 4 == 0) at = atomicAdd(out.lists.counts.data + q * out.lists.counts.stride, 4 * columns);
  at = __shfl_sync(whole_warp, at, 0, 4) + lane % 4 * 4;
  const bool at_once = can_put_four(out, q, at);
#pragma unroll
  for (std::uint32_t i = 0; i < columns; i += 4, at += 16) {
    float gap[4];
    std::uint32_t of[4];
#pragma unroll
    for (std::uint32_t e = 0; e < 4; ++e) {
      const std::uint32_t column = (i + e) / 2 * 8 + lane % 4 * 2 + e % 2;
      gap[e] = __fadd_ru(gap_at(collection.from, place + column), slack);
      of[e] = row + column;
    }
    if (at_once && at + 4 <= out.lists.capacity) {
      put_four(out, gap, q, at, of, v + i);
    } else {
#pragma unroll
      for (std::uint32_t e = 0; e < 4; ++e)
        if (at + e < out.lists.capacity) put_candidate(out, gap[e], q, at + e, of[e], v[i + e]);
    }
  }
}

/// Room of a warp for what it has found and not yet appended.
inline constexpr std::uint32_t findings_of_warp = 64;

/// What a warp has found and not yet appended. Where all rows may pass, as in a first step, they are appended
/// faster; where they hardly can, that only takes registers.
template <bool all_may_pass = true, class Slack = NoSlack>
class Findings {
 public:
  /// `buffer`: of this warp, findings_of_warp long.
  __device__ __forceinline__ Findings(uint4* buffer, std::uint32_t lane, Slack slack = {})
      : buffer_(buffer), lane_(lane), slack_(slack) {}

  /// Add what passes of 16 queries at a time, of which this quad has query `q`. By all lanes of a warp.
  ///   v      what is compared with theta, NaN where there is no row
  ///   place  of column 0 of the warp's in ProductLow, and its training row `row`
  template <int columns>
  __device__ __forceinline__ void test(const HalfCollection& collection, const float (&v)[columns],
                                       float theta, std::uint32_t q, std::uint32_t place, std::uint32_t row) {
    static_assert(columns <= 32);
    std::uint32_t pending = 0;
#pragma unroll
    for (int i = 0; i < columns; ++i)
      if (v[i] <= theta) pending |= 1u << i;
    constexpr std::uint32_t all = columns == 32 ? 0xFFFFFFFFu : (1u << columns % 32) - 1;
    if constexpr (all_may_pass) {
      if (__all_sync(whole_warp, pending == all)) {  // before there is any theta
        append_all(collection, v, q, place, row, slack_.of(q), lane_);
        return;
      }
    }
    while (__any_sync(whole_warp, pending != 0)) {
      const auto i = static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1;
      const std::uint32_t column = i / 2 * 8 + lane_ % 4 * 2 + i % 2;
      add(collection, pending != 0, q, place + column, row + column, pick<0, columns>(v, i));
      pending &= pending - 1;
    }
  }

  /// Add a finding of each lane that has one.
  __device__ __forceinline__ void add(const HalfCollection& collection, bool has, std::uint32_t q,
                                      std::uint32_t place, std::uint32_t row, float v) {
    const std::uint32_t vote = __ballot_sync(whole_warp, has);
    const auto before = static_cast<std::uint32_t>(__popc(vote & ((1u << lane_) - 1)));
    if (has) buffer_[count_ + before] = {q, place, row, __float_as_uint(v)};
    count_ += static_cast<std::uint32_t>(__popc(vote));
    if (count_ >= 32) append(collection, 32);
  }

  /// Append what is left.
  __device__ __forceinline__ void finish(const HalfCollection& collection) {
    append(collection, count_);
  }

 private:
  /// Append the last `many`, up to 32.
  __device__ __forceinline__ void append(const HalfCollection& collection, std::uint32_t many) {
    __syncwarp();
    count_ -= many;
    if (lane_ < many) {
      const uint4 found = buffer_[count_ + lane_];
      const Lists<std::uint32_t>& lists = collection.out.lists;
      const float gap = __fadd_ru(gap_at(collection.from, found.y), slack_.of(found.x));
      const std::uint32_t at = atomicAdd(lists.counts.data + found.x * lists.counts.stride, 1u);
      if (at < lists.capacity)
        put_candidate(collection.out, gap, found.x, at, found.z, __uint_as_float(found.w));
    }
    __syncwarp();
  }

  uint4* const buffer_;  // query, place, row, v
  const std::uint32_t lane_;
  const Slack slack_;
  std::uint32_t count_ = 0;
};

}  // namespace kith::cuda
