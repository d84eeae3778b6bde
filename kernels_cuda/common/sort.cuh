// Sorts keys in shared memory by a block, or in registers by a warp. No branch depends on the data.
// Source: Batcher, Sorting networks and their applications, 1968 (bitonic sort).
#pragma once

#include "common/common.cuh"

namespace kith::cuda {

/// Sorts `lists` lists of `length` keys in shared memory, each `pitch` keys behind the one before.
///   length  a power of two, at least 2
/// All threads of the block call this, in whole warps; it begins and ends with a barrier. As long as partners
/// are at most 32 apart, each warp touches only its own 64 keys, and waits for no other warp.
/// Work: lists * length / 4 * log2(length) * (log2(length) + 1) comparisons by all threads together.
__device__ inline void sort_lists(Key* keys, std::uint32_t lists, std::uint32_t length, std::uint32_t pitch) {
  const std::uint32_t half = length / 2, pairs = lists * half;
  const std::uint32_t log2_half = 31 - __clz(half);
  __syncthreads();
  for (std::uint32_t size = 2; size <= length; size *= 2) {
    for (std::uint32_t step = size / 2; step > 0; step /= 2) {
      for (std::uint32_t i = threadIdx.x; i < pairs; i += blockDim.x) {
        const std::uint32_t pair = i & (half - 1);
        const std::uint32_t low = 2 * pair - (pair & (step - 1));
        Key* first = keys + (i >> log2_half) * pitch + low;
        Key* second = first + step;
        const Key a = *first, b = *second;
        const bool falling = (low & size & (length - 1)) != 0;
        if ((a > b) != falling) {
          *first = b;
          *second = a;
        }
      }
      const std::uint32_t next_step = step > 1 ? step / 2 : size;
      if (step > 32 || next_step > 32) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

/// Sorts the 32 * each keys of a warp; key number lane * each + e ends in key[e] of lane `lane`.
///   each  a power of two
template <int each>
__device__ __forceinline__ void sort_warp(Key (&key)[each], std::uint32_t lane) {
#pragma unroll
  for (int size = 2; size <= 32 * each; size *= 2) {
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
#pragma unroll
      for (int e = 0; e < each; ++e) {
        const bool rising = ((lane * each + e) & size) == 0;
        if (step < each) {
          if ((e & step) != 0) continue;
          const Key a = key[e], b = key[e | (step < each ? step : 0)];
          if ((a > b) == rising) {
            key[e] = b;
            key[e | (step < each ? step : 0)] = a;
          }
        } else {
          const Key mine = key[e], other = __shfl_xor_sync(0xFFFFFFFFu, mine, step / each);
          const bool lower = (lane & (step / each)) == 0;
          if ((mine > other) == (lower == rising)) key[e] = other;
        }
      }
    }
  }
}

/// Sorts the 32 * each keys of a warp as sort_warp() does, but by loops that stay loops: where a kernel sorts
/// once, each of its instructions is read from memory once, which takes longer than to execute it.
///   each  a power of two
template <int each>
__device__ __forceinline__ void sort_warp_once(Key (&key)[each], std::uint32_t lane) {
  const auto merge_in_lane = [&](int size, bool rising) {
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
#pragma unroll
      for (int e = 0; e < each; ++e) {
        if ((e & step) != 0) continue;
        const Key a = key[e], b = key[e | step];
        const bool swap = (a > b) == (((e & size) == 0) == rising);
        key[e] = swap ? b : a;
        key[e | step] = swap ? a : b;
      }
    }
  };
#pragma unroll
  for (int size = 2; size <= each; size *= 2) merge_in_lane(size, size < each || lane % 2 == 0);
#pragma unroll 1
  for (std::uint32_t lanes = 2; lanes <= 32; lanes *= 2) {
    const bool rising = (lane & lanes) == 0;
#pragma unroll 1
    for (std::uint32_t partner = lanes / 2; partner > 0; partner /= 2) {
      const bool smaller = ((lane & partner) == 0) == rising;
#pragma unroll
      for (int e = 0; e < each; ++e) {
        const Key mine = key[e], other = __shfl_xor_sync(0xFFFFFFFFu, mine, partner);
        key[e] = (mine > other) == smaller ? other : mine;
      }
    }
    merge_in_lane(each, rising);
  }
}

/// Puts the smaller key into `a`, and the larger into `b`.
__device__ __forceinline__ void exchange(Key& a, Key& b) {
#ifdef __CUDA_ARCH__
  // Both halves of a key are selected separately, with one common comparison. For a choice between whole keys
  // the compiler would make a minimum and a maximum, with a comparison each.
  asm("{ .reg .pred falling; .reg .b32 a0, a1, b0, b1, s0, s1, l0, l1;"
      "  setp.lt.u64 falling, %1, %0;"
      "  mov.b64 {a0, a1}, %0; mov.b64 {b0, b1}, %1;"
      "  selp.b32 s0, b0, a0, falling; selp.b32 s1, b1, a1, falling;"
      "  selp.b32 l0, a0, b0, falling; selp.b32 l1, a1, b1, falling;"
      "  mov.b64 %0, {s0, s1}; mov.b64 %1, {l0, l1}; }"
      : "+l"(a), "+l"(b));
#else
  const Key smaller = min(a, b);
  b = max(a, b);
  a = smaller;
#endif
}

/// Number of keys in the shared memory that store_warp() needs.
template <int each>
inline constexpr std::uint32_t store_keys = each * 34;

/// Writes the first `wanted` of the 32 * each keys of a warp, as sort_warp() leaves them, so that
/// neighbouring lanes write neighbouring keys. `slots` is shared memory of the warp that is no longer read; a
/// pitch of 34 avoids bank conflicts.
///   each  a power of two
template <int each>
__device__ __forceinline__ void store_warp(const Key (&key)[each], Key* slots, std::uint32_t lane, Key* to,
                                           std::uint32_t wanted) {
#pragma unroll
  for (int e = 0; e < each; ++e) slots[static_cast<std::uint32_t>(e) * 34 + lane] = key[e];
  __syncwarp();
  for (std::uint32_t j = lane; j < min(wanted, std::uint32_t{each} * 32); j += 32)
    to[j] = slots[j % each * 34 + j / each];
}

}  // namespace kith::cuda
