// Computes raw distances of pairs in plain loops, as metrics.def says, and with the defects that concern
// them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kith/metric.hpp"
#include "kith/spi.hpp"
#include "planted_defects.hpp"
#include "planted_memory.hpp"

namespace kith::planted {

/// These complete the table: its other functions are the overloads of the standard library.
template <class Real>
Real above_0(Real x) {
  return x > 0 ? Real{1} : x;
}
template <class Real>
Real root(Real x) {
  return std::sqrt(x);
}
template <class Real>
Real quotient(Real x, Real y) {
  return y == 0 ? Real{0} : x / y;
}
inline float share(float p, float q) {
  return p == 0 ? 0 : q == 0 || std::isinf(p) ? INFINITY : p / q;
}
inline float share_code(float p, float q) {
  const double code = p == 0 ? 0 : std::floor(static_cast<double>(p) * 0x7F7FFFFE / static_cast<double>(q));
  return std::bit_cast<float>(0xFF7FFFFFu - static_cast<std::uint32_t>(code));
}
inline float known(float x) {
  return std::isnan(x) ? 0 : x;
}
inline float is_known(float x) {
  return std::isnan(x) ? 0.0f : 1.0f;
}
inline float rescaled(float x, float n, float y) {
  const double exact = static_cast<double>(x) * static_cast<double>(n);
  return y == 0 ? std::bit_cast<float>(spi::masked_bits) : static_cast<float>(exact / static_cast<double>(y));
}
inline float ones(std::uint32_t word) {
  return static_cast<float>(std::popcount(word));
}
inline float ones_both(float a, float b) {
  return ones(std::bit_cast<std::uint32_t>(a) & std::bit_cast<std::uint32_t>(b));
}
inline float ones_apart(float a, float b) {
  return ones(std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b));
}

/// Returns the term of a column whose parameter is p.
inline float term_of(float a, float b, float p) {
  using std::fabs, std::fmin;
  const float near = fabs(a - b), far = near, length = p;
#include "kith/spi/term_cases.def"
  return near;
}

/// Returns the chain of a metric: query(d) and row(d) are the values of column d.
template <class Real, class Query, class Row>
Real chain(Metric metric, std::uint32_t dims, const Query& query, const Row& row, Defect defect) {
  using std::fabs, std::fmax;
  const bool separate = defect == (sizeof(Real) == sizeof(float) ? separate_multiply : separate_doubles);
  const auto fma = [separate](Real a, Real b, Real c) {
    const Real product = a * b;  // -ffp-contract=off keeps this rounding
    return separate ? product + c : std::fma(a, b, c);
  };
  const auto bits_apart = [](Real a, Real b) -> Real {
    return kith::bits_apart(static_cast<float>(a), static_cast<float>(b));
  };
  Real acc = 0;
  for (std::uint32_t i = 0; i < dims; ++i) {
    const std::uint32_t d = defect == reversed ? dims - 1 - i : i;
    const Real a = query(d), b = row(d);
    switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    acc = accumulate;                                       \
    break;
#include "kith/metrics.def"
#undef KITH_METRIC
      default:
        break;  // the others have no chain
    }
    if (defect == flushed && std::fpclassify(acc) == FP_SUBNORMAL) acc = 0;
  }
  return acc;
}

/// Returns the quotient of two sums; n is the number of bits of a row, or of its columns.
template <class Query, class Row>
float share_of_sums(Metric metric, std::uint32_t dims, const Query& query, const Row& row,
                    [[maybe_unused]] float n) {
  using std::fabs, std::fma;
  [[maybe_unused]] float x = 0, y = 0;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float a = query(d), b = row(d);
    const auto sums = [&](const auto& first, const auto& second) { x = first(x), y = second(y); };
    switch (metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, ...)                                \
  case Metric::id:                                                             \
    sums([&](float acc) { return first; }, [&](float acc) { return second; }); \
    break;
#include "kith/metrics.def"
#undef KITH_SUMS
      default:
        break;
    }
  }
  switch (metric) {
#define KITH_SUMS(id, rows, first, second, key, floats, shown) \
  case Metric::id:                                             \
    return floats > 0 && n > floats ? share_code(y, x + y) : key;
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return 0;
  }
}

/// Returns the raw distance of query q and training row t.
inline float raw_distance(Metric metric, const spi::RowBlocks& queries, std::uint32_t q,
                          const spi::RowBlocks& train, std::uint32_t t, Defect defect) {
  const auto query = [&](std::uint32_t d) { return element(queries, q, d); };
  const auto row = [&](std::uint32_t d) { return element(train, t, d); };
  const auto raw = [&](const auto& a, const auto& b) {
    const auto n = static_cast<float>(compares_bits(metric) ? train.bits : train.dims);
    return is_of_sums(metric) ? share_of_sums(metric, train.dims, a, b, n)
                              : chain<float>(metric, train.dims, a, b, defect);
  };
  if (!train.terms || defect == ignores_box) return raw(query, row);
  const spi::RowBlocks parameters{train.terms, 0, 1, train.dims, 1};
  return raw([&](std::uint32_t d) { return term_of(query(d), row(d), element(parameters, 0, d)); },
             [](std::uint32_t) { return 0.0f; });
}

}  // namespace kith::planted
