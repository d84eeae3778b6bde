// The chain of each metric, as metrics.def writes it.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "common/common.cuh"

namespace kith::cuda {

/// Bits that differ, as a whole float.
__device__ inline float bits_apart(float a, float b) {
  return static_cast<float>(__popc(__float_as_uint(a) ^ __float_as_uint(b)));
}

/// start() is the accumulator before the first dimension; next() the accumulator after one more, a
/// from the query and b from the training row.
template <Metric metric>
struct Chain;

#define KITH_METRIC(id, prepare, first, accumulate, finish)                          \
  template <>                                                                        \
  struct Chain<Metric::id> {                                                         \
    static __device__ float start() { return first; }                                \
    static __device__ float next(float acc, float a, float b) { return accumulate; } \
  };
#include "kith/metrics.def"
#undef KITH_METRIC

/// Metrics that differ in their finish only share a chain: the first of them stands for all, so
/// that each kernel is compiled once a chain.
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

/// Call body(std::integral_constant<Metric, M>) with the representative M of `metric`.
template <class Body>
cudaError_t with_chain(Metric metric, Body&& body) {
  switch (metric) {
#define KITH_METRIC(id, prepare, first, accumulate, finish) \
  case Metric::id:                                          \
    return body(std::integral_constant<Metric, representative(Metric::id)>());
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return cudaErrorInvalidValue;
}

}  // namespace kith::cuda
