// The chain of each metric, as metrics.def writes it.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "common/common.cuh"

namespace kith::cuda {

/// Returns the number of bits that differ, as a float.
__device__ inline float bits_apart(float a, float b) {
  return static_cast<float>(__popc(__float_as_uint(a) ^ __float_as_uint(b)));
}

/// start() returns the accumulator before the first dimension. next() returns it after one more, with value a
/// of the query and b of the training row.
template <Metric metric>
struct Chain;

#define KITH_METRIC(id, prepare, first, accumulate, finish)                          \
  template <>                                                                        \
  struct Chain<Metric::id> {                                                         \
    static __device__ float start() { return first; }                                \
    static __device__ float next(float acc, float a, float b) { return accumulate; } \
  };
#define KITH_PERIODIC(term)                                                        \
  __device__ __forceinline__ float periodic(float near, float far, float length) { \
    return term;                                                                   \
  }
#include "kith/metrics.def"
#undef KITH_PERIODIC
#undef KITH_METRIC

/// Returns the chain after a column of length `length` of a periodic box.
template <Metric metric>
__device__ __forceinline__ float next_periodic(float acc, float a, float b, float length) {
  const float difference = fabs(a - b);
  return Chain<metric>::next(acc, periodic(difference, difference, length), 0.0f);
}

/// The chains of all metrics, as text. Metrics with equal chains differ only in their finish; the first of
/// them represents all, so that each kernel is compiled once per chain.
inline constexpr std::string_view chains[] = {
#define KITH_METRIC(id, prepare, first, accumulate, finish) #first " " #accumulate,
#include "kith/metrics.def"
#undef KITH_METRIC
};

constexpr Metric representative(Metric metric) {
  const auto m = static_cast<std::size_t>(metric);
  for (std::size_t i = 0; i < m; ++i)
    if (chains[i] == chains[m]) return static_cast<Metric>(i);
  return metric;
}

/// Calls body(std::integral_constant<Metric, M>) with the representative M of `metric`.
template <class Body>
cudaError_t with_chain(Metric metric, Body&& body) {
  switch (metric) {
#define KITH_METRIC(id, prepare, first, accumulate, finish) \
  case Metric::id:                                          \
    return body(std::integral_constant<Metric, representative(Metric::id)>());
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return cudaErrorInvalidValue;
}

}  // namespace kith::cuda
