// Reads the distances of a list by steps: each thread of a block reads four runs of four columns.
// No twin in kernels_cl: there a step reads one column at a time for each value.
#pragma once

#include "common/part.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t runs = 4;  // of four columns per thread and step

/// Returns the column of value v of a thread, in the step that begins at column c0.
template <std::uint32_t threads>
__device__ __forceinline__ std::int64_t column_of(std::int64_t c0, std::uint32_t v) {
  return c0 + (v / 4 * threads + threadIdx.x) * 4 + v % 4;
}

/// Reads the values of a step; columns outside begin .. end - 1 get values that are no candidates.
template <std::uint32_t threads>
__device__ __forceinline__ void read_step(float (&value)[runs * 4], const float* row, std::int64_t c0,
                                          const Columns& columns) {
  if (c0 >= columns.begin && c0 + threads * runs * 4 <= columns.end) {
#pragma unroll
    for (std::uint32_t run = 0; run < runs; ++run) {
      const float4 four = __ldcs(reinterpret_cast<const float4*>(row + column_of<threads>(c0, run * 4)));
      value[run * 4] = four.x;
      value[run * 4 + 1] = four.y;
      value[run * 4 + 2] = four.z;
      value[run * 4 + 3] = four.w;
    }
    return;
  }
#pragma unroll
  for (std::uint32_t v = 0; v < runs * 4; ++v) {
    const std::int64_t c = column_of<threads>(c0, v);
    value[v] = c >= columns.begin && c < columns.end ? row[c] : not_a_candidate();
  }
}

/// Returns where the first step begins. Steps are aligned to 16 bytes, so that it may begin up to 3 columns
/// early; these are not read.
__device__ __forceinline__ std::int64_t first_step(const float* row, const Columns& columns) {
  return columns.begin -
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row + columns.begin) % 16 / 4);
}

/// Returns a mask whose bit v is set if value[v] is at most `limit`. A NaN is not.
template <std::uint32_t count>
__device__ __forceinline__ std::uint32_t passing(const float (&value)[count], float least, float limit) {
  std::uint32_t pending = 0;
  if (least <= limit) {
#pragma unroll
    for (std::uint32_t v = 0; v < count; ++v)
      if (value[v] <= limit) pending |= 1u << v;
  }
  return pending;
}

/// Returns the least value; NaN only if all are.
template <std::uint32_t count>
__device__ __forceinline__ float least_of(const float (&value)[count]) {
  float least = value[0];
#pragma unroll
  for (std::uint32_t v = 1; v < count; ++v) least = fminf(least, value[v]);
  return least;
}

}  // namespace kith::cuda
