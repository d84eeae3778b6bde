// Sorts the front of a list in shared memory by a block whose threads hold several keys, so that shared
// memory is read and written less often than there are steps: a warp does the steps among its 256 or 128 keys
// by shuffles, and a thread up to three of the others at a time. A kernel needs more registers for it: in
// shortlist.cuh it made the selection of 32 among many values take twice as long (H200).
// Source: Batcher, Sorting networks and their applications, 1968 (bitonic sort).
// No twin in kernels_cl: sort_list.cl sorts a whole list in this way.
#pragma once

#include "common/sort.cuh"

namespace kith::cuda {

/// Returns whether the merges of `size` keys let keys fall at this place of a list.
__device__ __forceinline__ bool falls(std::uint32_t place, std::uint32_t size, std::uint32_t length) {
  return (place & size & (length - 1)) != 0;
}

__device__ __forceinline__ void put_in_order(Key& a, Key& b, bool falling) {
  const Key first = a, second = b;
  if ((first > second) == falling) return;
  a = second;
  b = first;
}

/// Does `levels` steps of the merges of `size` keys, from `step` on. A thread holds the 2^levels keys that
/// meet in these steps.
template <int levels>
__device__ inline void exchange_keys(Key* keys, std::uint32_t length, std::uint32_t step,
                                     std::uint32_t size) {
  constexpr std::uint32_t each = 1u << levels;
  const std::uint32_t apart = step >> (levels - 1);
  for (std::uint32_t i = threadIdx.x; i < length / each; i += blockDim.x) {
    const std::uint32_t below = i & (apart - 1), place = (i - below) * each + below;
    const bool falling = falls(place, size, length);
    Key key[each];
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) key[e] = keys[place + e * apart];
#pragma unroll
    for (std::uint32_t other = each / 2; other > 0; other /= 2)
#pragma unroll
      for (std::uint32_t e = 0; e < each; ++e)
        if ((e & other) == 0) put_in_order(key[e], key[e + other], falling);
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) keys[place + e * apart] = key[e];
  }
}

/// Does the steps below 32 * each of the merges of least, 2 least, ... most keys. Each warp holds 32 * each
/// neighbouring keys.
template <int each>
__device__ inline void merge_in_warps(Key* keys, std::uint32_t length, std::uint32_t least,
                                      std::uint32_t most) {
  constexpr std::uint32_t part = 32 * each;
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t first = threadIdx.x / 32 * part + lane; first < length; first += blockDim.x * each) {
    Key key[each];
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) key[e] = keys[first + e * 32];
    for (std::uint32_t size = least; size <= most; size *= 2) {
#pragma unroll
      for (std::uint32_t step = part / 2; step > 0; step /= 2) {
        if (step >= size) continue;
#pragma unroll
        for (std::uint32_t e = 0; e < each; ++e) {
          const bool falling = falls(first + e * 32, size, length);
          if (step >= 32) {
            if ((e & step / 32) == 0) put_in_order(key[e], key[(e + step / 32) % each], falling);
          } else {
            const Key mine = key[e], other = __shfl_xor_sync(0xFFFFFFFFu, mine, static_cast<int>(step));
            const bool lower = (lane & step) == 0;
            if ((mine > other) == (lower != falling)) key[e] = other;
          }
        }
      }
    }
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) keys[first + e * 32] = key[e];
  }
}

/// Does all steps of the merges of `size` keys. Ends with a barrier.
template <int each>
__device__ inline void merge_keys(Key* keys, std::uint32_t length, std::uint32_t size) {
  constexpr std::uint32_t part = 32 * each;
  constexpr int most = each >= 8 ? 3 : each >= 4 ? 2 : 1;  // with 2^most keys a thread, all have some
  for (std::uint32_t step = size / 2; step >= part;) {
    if (step >= part << (most - 1)) {
      exchange_keys<most>(keys, length, step, size);
      step >>= most;
    } else {
      exchange_keys<1>(keys, length, step, size);
      step /= 2;
    }
    __syncthreads();
  }
  merge_in_warps<each>(keys, length, size, size);
  __syncthreads();
}

/// Sorts a list of at least 32 * each keys. Begins and ends with a barrier.
template <int each>
__device__ inline void sort_keys(Key* keys, std::uint32_t length) {
  __syncthreads();
  merge_in_warps<each>(keys, length, 2, 32 * each);
  __syncthreads();
  for (std::uint32_t size = 64 * each; size <= length; size *= 2) merge_keys<each>(keys, length, size);
}

/// Moves the `size` smallest of `found` keys in shared memory to the front, and sorts them. `found` is
/// between size + 1 and 2 * size. The first `size` keys and the rest are sorted separately; then the smaller
/// half of both is kept. All threads call this.
///   size  a power of two, at least 32 * each
///   each  keys that a thread holds
template <int each>
__device__ inline void sort_front(Key* keys, std::uint32_t size, std::uint32_t found) {
  const std::uint32_t rest = max(32u * each, power_of_two(found - size));
  for (std::uint32_t i = found + threadIdx.x; i < size + rest; i += blockDim.x) keys[i] = no_key;
  sort_keys<each>(keys, size);
  sort_keys<each>(keys + size, rest);
  // The smaller of each pair of keys[j] and its mirror in the rest: together they are the `size` smallest,
  // and they first rise, then fall.
  for (std::uint32_t j = threadIdx.x; j < rest; j += blockDim.x)
    keys[size - 1 - j] = min(keys[size - 1 - j], keys[size + j]);
  __syncthreads();
  merge_keys<each>(keys, size, size);
}

}  // namespace kith::cuda
