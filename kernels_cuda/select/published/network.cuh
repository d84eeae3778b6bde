// The steps of a bitonic network on keys in registers, across the lanes of a warp and the warps of a block.
//
// Thread i holds keys i * each .. i * each + each - 1. All steps sort ascending: a sorted half is compared
// with the other half in reverse (the flip, number ^ (size - 1)), and halving steps follow (number ^ stride).
// So the padding at the end never moves, and needs no memory. Source: Batcher 1968.
#pragma once

#include "common/sort.cuh"

namespace kith::cuda {

/// Does the halving steps with strides each / 2 ... 1.
template <int each>
__device__ __forceinline__ void merge_registers(Key (&key)[each]) {
#pragma unroll
  for (int stride = each / 2; stride > 0; stride /= 2) {
#pragma unroll
    for (int e = 0; e < each; ++e)
      if ((e & stride) == 0) exchange(key[e], key[e | stride]);
  }
}

/// Returns the smaller of both keys, or the larger.
__device__ __forceinline__ Key smaller_or_larger(Key mine, Key other, bool larger) {
  return (mine > other) == larger ? mine : other;
}

/// Does the halving steps with strides 16 * each ... each in all warps, and those below.
template <int each>
__device__ __forceinline__ void merge_warp(Key (&key)[each], std::uint32_t lane) {
#pragma unroll
  for (std::uint32_t stride = 16; stride > 0; stride /= 2) {
#pragma unroll
    for (int e = 0; e < each; ++e)
      key[e] = smaller_or_larger(key[e], __shfl_xor_sync(0xFFFFFFFFu, key[e], stride), (lane & stride) != 0);
  }
  merge_registers(key);
}

/// Does one step with a thread of another warp, number `threadIdx.x ^ mask`; a flip exchanges keys in
/// reverse. Threads with bit `larger` keep the larger keys. Two buffers are used in turn, so that one barrier
/// is enough.
///   buffer  [each, blockDim.x] in shared memory
template <int each, bool flip>
__device__ __forceinline__ void exchange_in_block(Key (&key)[each], std::uint32_t mask, std::uint32_t larger,
                                                  Key* buffer) {
  const std::uint32_t thread = threadIdx.x, threads = blockDim.x;
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) buffer[e * threads + thread] = key[e];
  __syncthreads();
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e)
    key[e] = smaller_or_larger(key[e], buffer[(flip ? each - 1 - e : e) * threads + (thread ^ mask)],
                               (thread & larger) != 0);
}

/// Sorts the keys of a block. It ends without a barrier; the buffers may be reused after one.
///   buffers  [2, each, blockDim.x] in shared memory; blockDim.x is a power of two, at least 32
template <int each>
__device__ __forceinline__ void sort_block(Key (&key)[each], Key* buffers) {
  const std::uint32_t lane = threadIdx.x % 32, threads = blockDim.x;
  sort_warp(key, lane);
  std::uint32_t turn = 0;
  const auto buffer = [&] { return buffers + (turn++ % 2) * (each * threads); };
  for (std::uint32_t size = 64; size <= threads; size *= 2) {  // `size` threads share a sorted run
    exchange_in_block<each, true>(key, size - 1, size / 2, buffer());
    for (std::uint32_t stride = size / 4; stride >= 32; stride /= 2)
      exchange_in_block<each, false>(key, stride, stride, buffer());
    merge_warp(key, lane);
  }
}

}  // namespace kith::cuda
