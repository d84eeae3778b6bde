#include "metric/chain.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "metric/angles.hpp"

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

/// Returns the difference in a column of a periodic box.
template <class Real>
Real periodic(Real difference, Real length) {
  const Real near = difference, far = difference;
#define KITH_PERIODIC(term) return term;
#define KITH_METRIC(...)
#include "kith/metrics.def"
#undef KITH_METRIC
#undef KITH_PERIODIC
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
              std::span<const Real> lengths) {
  if (lengths.empty())
    return chain_of<Real>(
        metric, query.size(), [&](std::size_t d) { return query[d]; }, [&](std::size_t d) { return row[d]; });
  return chain_of<Real>(
      metric, query.size(), [&](std::size_t d) { return periodic(fabs(query[d] - row[d]), lengths[d]); },
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
using bits_sum = std::uint32_t;
using numbers_sum = float;

/// Sums over the columns of a pair.
template <class Sum, class Next>
float sum_of(std::span<const float> query, std::span<const float> row, const Next& next) {
  Sum acc = 0;
  for (std::size_t d = 0; d < query.size(); ++d) acc = next(acc, query[d], row[d]);
  return static_cast<float>(acc);
}

/// Returns the quotient of the two sums of a pair.
float share_of_sums(Metric metric, std::span<const float> query, std::span<const float> row,
                    [[maybe_unused]] float n) {
  switch (metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key)                                                     \
  case Metric::id: {                                                                                \
    using Sum = rows##_sum;                                                                         \
    [[maybe_unused]] const float x = sum_of<Sum>(query, row,                                        \
                                                 [](Sum acc, float a, float b) { return first; }),  \
                                 y = sum_of<Sum>(query, row,                                        \
                                                 [](Sum acc, float a, float b) { return second; }); \
    return key;                                                                                     \
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
Real finish_of(Metric metric, Real acc) {
  if (shows_angles(metric)) return angle_of(metric, finish_of(chain_metric(metric), acc));
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
            std::span<const float> lengths, std::int64_t bits) {
  if (is_of_sums(metric)) return share_of_sums(metric, query, row, static_cast<float>(bits));
  return chain_of(metric, query, row, lengths);
}

double chain(Metric metric, std::span<const double> query, std::span<const double> row,
             std::span<const double> lengths) {
  return chain_of(metric, query, row, lengths);
}

float finish(Metric metric, float acc) {
  return finish_of(metric, acc);
}

double finish(Metric metric, double acc) {
  return finish_of(metric, acc);
}

void finish(Metric metric, std::span<const Key> keys, float* distance, std::int64_t* index) {
  if (shows_angles(metric)) {
    finish(chain_metric(metric), keys, distance, index);
    std::transform(distance, distance + keys.size(), distance,
                   [&](float of_chain) { return angle_of(metric, of_chain); });
    return;
  }
  switch (finish_metric(chain_metric(metric))) {
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
