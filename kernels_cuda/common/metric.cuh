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

__device__ inline float above_0(float x) {
  return x > 0 ? 1.0f : x;
}
__device__ inline float root(float x) {
  return __fsqrt_rn(x);
}
__device__ inline float quotient(float x, float y) {
  return y == 0 ? 0.0f : __fdiv_rn(x, y);
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
#define KITH_CATEGORY(term)                               \
  __device__ __forceinline__ float category(float near) { \
    return term;                                          \
  }
#define KITH_CANBERRA(code, term)                               \
  __device__ __forceinline__ float canberra(float a, float b) { \
    return term;                                                \
  }
#include "kith/metrics.def"
#undef KITH_CANBERRA
#undef KITH_CATEGORY
#undef KITH_PERIODIC
#undef KITH_METRIC

__device__ __forceinline__ float power(float near, int halves) {
  switch (halves) {
#include "kith/spi/power_cases.def"
  }
}

/// Returns the term of a column with the parameter p.
template <Terms kind>
__device__ __forceinline__ float term_of(float near, float far, float p) {
  if (kind == Terms::periodic || p > 0) return periodic(near, far, p);
  return p == 0 ? category(near) : power(near, static_cast<int>(-p));
}

/// Returns the term of a pair of values in a column with the parameter p.
template <Terms kind>
__device__ __forceinline__ float pair_term(float a, float b, float p) {
  if (kind == Terms::mixed && p == canberra_term) return canberra(a, b);
  const float difference = fabs(a - b);
  return term_of<kind>(difference, difference, p);
}

/// Returns the chain after a column with the parameter p.
template <Metric metric, Terms kind>
__device__ __forceinline__ float next_term(float acc, float a, float b, float p) {
  return Chain<metric>::next(acc, pair_term<kind>(a, b, p), 0.0f);
}

/// Returns the kernel for these terms: of<Terms>() for one kind. Metrics lack those that they do not take.
template <Metric metric, class Of>
auto kernel_of_terms(const spi::RowBlocks& rows, const Of& of) {
  auto* kernel = of(std::integral_constant<Terms, Terms::differences>());
  if constexpr (takes_box(metric))
    if (rows.terms) kernel = of(std::integral_constant<Terms, Terms::periodic>());
  if constexpr (takes_mixed_terms(metric))
    if (rows.mixed) kernel = of(std::integral_constant<Terms, Terms::mixed>());
  return kernel;
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
