// What all kernels share: keys, the parts of a row, and launching. Names and bits are those of
// lib/include/kith/key.hpp; docs/contract.md, section 2, defines them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/kernels.hpp"
#include "common/views.hpp"

namespace kith::cuda {

/// Returns a float as an unsigned number in the same order; -0 becomes +0. The only NaN is that of a masked
/// pair (mask.cu), which comes after +infinity, as no_value: the sum of a NaN and a number is 0x7FFFFFFF.
__device__ inline std::uint32_t ordered_bits(float value) {
  const std::uint32_t bits = __float_as_uint(value + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ inline Key key_of(float value, std::uint32_t row) {
  return static_cast<Key>(ordered_bits(value)) << 32 | row;
}

/// Turns a bound of keys into a bound of values: `value <= bound_value(bound)` keeps every value whose key is
/// below the bound. It is +infinity for no_key and masked pairs, and NaN, which refuses all values, for 0,
/// which no key is below.
__device__ inline float bound_value(Key bound) {
  const auto code = static_cast<std::uint32_t>(bound >> 32);
  const std::uint32_t bits = code >> 31 ? code & 0x7FFFFFFFu : ~code;
  return __uint_as_float(code == no_value ? 0x7F800000u : bits);
}

/// Returns the NaN of a masked pair, which is never at or below a bound.
__device__ inline float not_a_candidate() {
  return __uint_as_float(0x7FFFFFFFu);
}

template <class T>
__host__ __device__ constexpr T divide_up(T a, T b) {
  return a / b + (a % b != 0);
}

/// Columns begin .. end - 1 of a row.
struct Columns {
  std::uint32_t begin;
  std::uint32_t end;
};

/// Returns part g of `parts` contiguous parts of ceil(columns / parts) columns; it may be empty.
__host__ __device__ inline Columns columns_of(std::uint32_t g, std::uint32_t parts, std::uint32_t columns) {
  const std::uint64_t width = divide_up(columns, parts);
  const std::uint64_t begin = g * width, end = begin + width;
  return {static_cast<std::uint32_t>(begin < columns ? begin : columns),
          static_cast<std::uint32_t>(end < columns ? end : columns)};
}

/// Returns the smallest power of two that is not below x, for 1 <= x <= 2^31.
__host__ __device__ inline std::uint32_t power_of_two(std::uint32_t x) {
  std::uint32_t power = 1;
  while (power < x) power *= 2;
  return power;
}

/// Waits for earlier work of the queue. A kernel that launch_in_turn() launches calls this first.
__device__ __forceinline__ void take_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// How a kernel is launched, apart from its grid and block sizes.
struct LaunchWay {
  std::uint32_t cluster = 1;  // number of neighbouring blocks that may use each other's shared memory
  bool in_turn = false;       // the kernel begins with take_turn()
};

/// Allows a kernel all shared memory that it does not already use. The value is the same for all host threads
/// that launch the kernel at once, so that none lowers what another is about to use.
inline cudaError_t allow_shared_memory(const Queue& queue, const void* kernel) {
  cudaFuncAttributes known{};
  const cudaError_t error = cudaFuncGetAttributes(&known, kernel);
  if (error != cudaSuccess) return error;
  const int most = static_cast<int>(queue.shared_bytes) - static_cast<int>(known.sharedSizeBytes);
  if (known.maxDynamicSharedSizeBytes >= most) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

template <class... Parameters, class... Arguments>
cudaError_t launch_as(const LaunchWay& way, const Queue& queue, void (*kernel)(Parameters...),
                      std::uint64_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                      const Arguments&... arguments) {
  if (blocks == 0) return cudaSuccess;
  constexpr std::size_t without_asking = 32 * 1024;  // with static memory at most 48 KiB
  if (shared_bytes > without_asking) {
    const cudaError_t error =
        with_room(queue, [&] { return allow_shared_memory(queue, reinterpret_cast<const void*>(kernel)); });
    if (error != cudaSuccess) return error;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = queue.stream;
  cudaLaunchAttribute attributes[2] = {};
  config.attrs = attributes;
  if (way.cluster > 1) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {way.cluster, 1, 1};
  }
  if (way.in_turn && queue.overlaps) {
    cudaLaunchAttribute& overlap = attributes[config.numAttrs++];
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
  }
  // Memory may run out, because a kernel is loaded at its first launch and its stack may have to grow.
  return with_room(queue, [&] { return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...); });
}

template <class... Parameters, class... Arguments>
cudaError_t launch(const Queue& queue, void (*kernel)(Parameters...), std::uint64_t blocks,
                   std::uint32_t threads, std::size_t shared_bytes, const Arguments&... arguments) {
  return launch_as({}, queue, kernel, blocks, threads, shared_bytes, arguments...);
}

/// Launches a kernel that begins with take_turn(). If queues overlap, it starts when the blocks of the kernel
/// before it have ended, but before their writes are complete, which saves a microsecond (programmatic
/// dependent launch). No kernel lets the next one start earlier, because its blocks would occupy resources
/// that blocks it waits for still need.
template <class... Parameters, class... Arguments>
cudaError_t launch_in_turn(const Queue& queue, void (*kernel)(Parameters...), std::uint64_t blocks,
                           std::uint32_t threads, std::size_t shared_bytes, const Arguments&... arguments) {
  return launch_as({1, true}, queue, kernel, blocks, threads, shared_bytes, arguments...);
}

}  // namespace kith::cuda
