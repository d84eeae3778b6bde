#include "metric/chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kith/spi.hpp"
#include "metric/angles.hpp"
#include "metric/roots.hpp"
#include "metric/share_code.hpp"

namespace kith {
namespace {

// metrics.def calls plain fma, fabs, fmax and sqrt; these select the overloads for floats.
using std::fabs;
using std::fma;
using std::fmax;
using std::fmin;
using std::sqrt;

/// Completes the table for doubles, which hold no bits: hamming has no chain in double precision.
double bits_apart(double, double) {
  return 0;
}
float bits_apart(float a, float b) {
  return kith::bits_apart(a, b);
}

template <class Real>
Real above_0(Real x) {
  return x > 0 ? Real{1} : x;
}
template <class Real>
Real root(Real x) {
  return sqrt(x);
}
template <class Real>
Real quotient(Real x, Real y) {
  return y == 0 ? Real{0} : x / y;
}

/// Returns the term of a pair of values in a column with the parameter p.
template <class Real>
Real term_of(Real a, Real b, Real p) {
  const Real near = fabs(a - b), far = near, length = p;
#include "kith/spi/term_cases.def"
  return near;
}

/// Accumulates pairs of values: query(d) and row(d).
template <class Real, class Query, class Row>
Real chain_of(Metric metric, std::size_t dims, const Query& query, const Row& row) {
  switch (chain_metric(metric)) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id: {                                        \
    Real acc = start;                                       \
    for (std::size_t d = 0; d < dims; ++d) {                \
      const Real a = query(d), b = row(d);                  \
      acc = accumulate;                                     \
    }                                                       \
    return acc;                                             \
  }
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      return Real{0};
  }
}

template <class Real>
Real chain_of(Metric metric, std::span<const Real> query, std::span<const Real> row,
              std::span<const Real> terms) {
  if (terms.empty())
    return chain_of<Real>(
        metric, query.size(), [&](std::size_t d) { return query[d]; }, [&](std::size_t d) { return row[d]; });
  return chain_of<Real>(
      metric, query.size(), [&](std::size_t d) { return term_of(query[d], row[d], terms[d]); },
      [](std::size_t) { return Real{0}; });
}

/// Complete the table for metrics of two sums.
float share(float p, float q) {
  if (p == 0) return 0;
  return q == 0 || std::isinf(p) ? std::numeric_limits<float>::infinity() : p / q;
}
std::uint32_t ones_both(float a, float b) {
  return static_cast<std::uint32_t>(
      std::popcount(std::bit_cast<std::uint32_t>(a) & std::bit_cast<std::uint32_t>(b)));
}
std::uint32_t ones_apart(float a, float b) {
  return static_cast<std::uint32_t>(
      std::popcount(std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)));
}
float known(float x) {
  return std::isnan(x) ? 0 : x;
}
float is_known(float x) {
  return std::isnan(x) ? 0.0f : 1.0f;
}
/// The product is exact, and the quotient of doubles is so near that rounding it again rounds once
/// (docs/contract.md, section 1).
float rescaled(float x, float n, float y) {
  if (y == 0) return std::bit_cast<float>(spi::masked_bits);
  return static_cast<float>(static_cast<double>(x) * static_cast<double>(n) / static_cast<double>(y));
}
using bits_sum = std::uint32_t;
using numbers_sum = float;
using gaps_sum = float;

/// The values of a pair, and the parameters of its columns; empty: sums are of the values.
struct PairOfRows {
  std::span<const float> query, row, terms;
};

/// Sums over the columns of a pair.
template <class Sum, class Next>
float sum_of(const PairOfRows& of, const Next& next) {
  Sum acc = 0;
  for (std::size_t d = 0; d < of.query.size(); ++d)
    acc = of.terms.empty() ? next(acc, of.query[d], of.row[d])
                           : next(acc, term_of(of.query[d], of.row[d], of.terms[d]), 0.0f);
  return static_cast<float>(acc);
}

/// Returns the quotient of two sums.
float share_of_sums(Metric metric, [[maybe_unused]] float x, [[maybe_unused]] float y,
                    [[maybe_unused]] float n) {
  switch (metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key, floats, shown) \
  case Metric::id:                                             \
    if (floats > 0 && n > floats) return share_code(y, x + y); \
    return key;
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return 0;
  }
}

/// Returns the quotient of the two sums of a pair.
float share_of_pair(Metric metric, const PairOfRows& pair, float n) {
  switch (metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, ...)                                                      \
  case Metric::id: {                                                                                 \
    using Sum = rows##_sum;                                                                          \
    return share_of_sums(metric, sum_of<Sum>(pair, [](Sum acc, float a, float b) { return first; }), \
                         sum_of<Sum>(pair, [](Sum acc, float a, float b) { return second; }), n);    \
  }
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return 0;
  }
}

/// Returns the angle of rows whose distance by chain_metric() this is: twice the arc of the sine of half the
/// chord.
template <class Real>
Real angle_of(Metric metric, Real distance) {
  const auto wide = static_cast<double>(distance);
  if (!(wide >= 0) || std::isinf(wide)) return distance;
  const double half = metric == Metric::angular ? std::sqrt(wide / 2) : wide / 2;
  return static_cast<Real>(2 * rounded_asin(std::min(half, 1.0)));
}

template <class Real>
Real finish_of(ShownBy shown, Real acc) {
  const Metric metric = shown.metric;
  if (metric == Metric::minkowski) return rounded_root(acc, static_cast<int>(2 * shown.parameter));
  if (shows_by_parameter(metric)) return acc / static_cast<Real>(shown.parameter);
  if (bits_without_codes(metric) > 0 && std::signbit(acc))  // a code, perhaps a subnormal one
    return static_cast<Real>(share_of_code(metric, static_cast<float>(acc)));
  if (shows_angles(metric)) return angle_of(metric, finish_of(ShownBy(chain_metric(metric)), acc));
  switch (finish_metric(chain_metric(metric))) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return finish;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      return acc;
  }
}

}  // namespace

Prepare prepare_of(Metric metric) {
  switch (chain_metric(metric)) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return Prepare::prepare;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      return Prepare::none;
  }
}

float chain(Metric metric, std::span<const float> query, std::span<const float> row,
            std::span<const float> terms, std::int64_t bits) {
  if (is_of_sums(metric)) {
    const std::int64_t n = compares_bits(metric) ? bits : static_cast<std::int64_t>(query.size());
    return share_of_pair(chain_metric(metric), {query, row, terms}, static_cast<float>(n));
  }
  return chain_of(metric, query, row, terms);
}

float value_of_counts(Metric metric, std::int64_t both, std::int64_t apart, std::int64_t bits) {
  return share_of_sums(metric, static_cast<float>(both), static_cast<float>(apart), static_cast<float>(bits));
}

double chain(Metric metric, std::span<const double> query, std::span<const double> row,
             std::span<const double> terms) {
  return chain_of(metric, query, row, terms);
}

float finish(ShownBy shown, float acc) {
  return finish_of(shown, acc);
}

double finish(ShownBy shown, double acc) {
  return finish_of(shown, acc);
}

void finish(ShownBy shown, std::span<const Key> keys, float* distance, std::int64_t* index) {
  if (shows_on_host(shown)) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      distance[i] = finish_of(shown, value_of(keys[i]));
      index[i] = keys[i] == no_key ? -1 : static_cast<std::int64_t>(row_of(keys[i]));
    }
    return;
  }
  switch (finish_metric(chain_metric(shown.metric))) {
#define KITH_METRIC(id, prepare, start, accumulate, finish)                           \
  case Metric::id:                                                                    \
    for (std::size_t i = 0; i < keys.size(); ++i) {                                   \
      const float acc = value_of(keys[i]);                                            \
      distance[i] = finish;                                                           \
      index[i] = keys[i] == no_key ? -1 : static_cast<std::int64_t>(row_of(keys[i])); \
    }                                                                                 \
    return;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      return;
  }
}

}  // namespace kith
