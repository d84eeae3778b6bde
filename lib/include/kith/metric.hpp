// Names the distances between a query and a training row; metrics.def defines them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/cxx20.hpp"
#include "kith/export.hpp"

namespace kith {

/// Names a distance. A smaller one is always nearer: a similarity is negated. docs/contract.md, section 1,
/// gives the formula of each.
enum class Metric {
#define KITH_METRIC(id, prepare, start, accumulate, finish) id,
#define KITH_PREPARED(id, of) id,
#define KITH_SUMS(id, ...) id,
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_PREPARED
#undef KITH_METRIC
};

/// Lists every metric that has a chain, in the order of metrics.def.
inline constexpr std::array all_metrics = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) Metric::id,
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// Lists the prepared metrics: the host changes rows and queries, and a metric with a chain compares them.
inline constexpr std::array prepared_metrics = {
#define KITH_METRIC(...)
#define KITH_PREPARED(id, of) Metric::id,
#include "kith/metrics.def"
#undef KITH_PREPARED
#undef KITH_METRIC
};

/// Lists the metrics of two sums, whose quotient is the distance.
inline constexpr std::array sum_metrics = {
#define KITH_METRIC(...)
#define KITH_SUMS(id, ...) Metric::id,
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
};

/// Returns the metric that compares rows once they are prepared: `metric` itself if it has a chain.
constexpr Metric chain_metric(Metric metric) {
  switch (metric) {
#define KITH_METRIC(...)
#define KITH_PREPARED(id, of) \
  case Metric::id:            \
    return Metric::of;
#include "kith/metrics.def"
#undef KITH_PREPARED
#undef KITH_METRIC
    default:
      return metric;
  }
}

/// Returns whether a distance is a quotient of two sums, which has no chain.
constexpr bool is_of_sums(Metric metric) {
  for (const Metric of_sums : sum_metrics)
    if (of_sums == chain_metric(metric)) return true;
  return false;
}

/// Returns whether the host prepares rows for this metric.
constexpr bool is_prepared(Metric metric) {
  return chain_metric(metric) != metric;
}

/// Returns whether the distance is an angle, in radians, that is computed from that of chain_metric().
constexpr bool shows_angles(Metric metric) {
  return metric == Metric::angular || metric == Metric::haversine;
}

/// Returns whether columns hold numbers or categories: IndexOptions::categorical and ranges.
constexpr bool takes_categories(Metric metric) {
  return metric == Metric::gower || metric == Metric::nan_gower;
}

/// Returns whether the distance is a root of the sum, or the sum divided by the number of columns: it does
/// not follow from the sum and the name of the metric alone.
constexpr bool shows_by_parameter(Metric metric) {
  return metric == Metric::minkowski || takes_categories(metric) || metric == Metric::matching;
}

/// How the distances that users see are made of raw values: by a metric, and a parameter where one is needed.
/// Index::shown() gives it.
struct ShownBy {
  ShownBy(Metric of, double by = 0) : metric(of), parameter(by) {}

  Metric metric;
  double parameter;  ///< of minkowski p, of gower, nan_gower and matching the number of columns that count,
                     ///< of rows of bits with codes (metrics.def) 1; else 0

  bool operator==(const ShownBy&) const = default;
};

/// Returns whether only the host computes the distance from the raw value.
inline bool shows_on_host(ShownBy shown) {
  return shows_angles(shown.metric) || shown.parameter != 0;
}

/// Returns whether columns may have weights: IndexOptions::column_weights.
constexpr bool takes_column_weights(Metric metric) {
  return metric == Metric::l1 || metric == Metric::l2 || metric == Metric::squared_l2 ||
         metric == Metric::minkowski;
}

/// Lists the metrics of numbers that have a chain: all but hamming.
inline constexpr std::array number_metrics = {Metric::squared_l2, Metric::l2,           Metric::l1,
                                              Metric::linf,       Metric::negative_dot, Metric::cosine};

/// The metric that is used if none is named.
inline constexpr Metric default_metric = Metric::l2;

/// Returns whether the distance is a sum of squared differences, or follows from one in the same order.
constexpr bool sums_squares(Metric metric) {
  return metric == Metric::squared_l2 || metric == Metric::l2 || metric == Metric::cosine;
}

/// Returns whether rows may be in a periodic box: distances are of differences of values.
constexpr bool takes_box(Metric metric) {
  return metric == Metric::l2 || metric == Metric::squared_l2 || metric == Metric::l1 ||
         metric == Metric::linf;
}

/// What a chain takes in each column: the difference; its term in a periodic box; the term that a parameter
/// of the column chooses; or one that is of the two values, and not of their difference (metrics.def).
enum class Terms { differences, periodic, mixed, pairs };

/// Returns whether columns may have mixed terms.
constexpr bool takes_mixed_terms(Metric metric) {
  return metric == Metric::l1 || metric == Metric::nan_manhattan;
}

/// The parameter of a column whose term is that of canberra.
#define KITH_METRIC(...)
#define KITH_CANBERRA(code, term) inline constexpr float canberra_term = code;
#include "kith/metrics.def"
#undef KITH_CANBERRA
#undef KITH_METRIC

/// Returns whether a distance by `metric` can be below 0. A radius may then be negative, and a mean of
/// distances has no meaning.
constexpr bool may_be_negative(Metric metric) {
  return metric == Metric::negative_dot;
}

/// Implements bits_apart() of metrics.def on the host: counts the bits, of 32, that differ, as a float.
constexpr float bits_apart(float a, float b) {
  return static_cast<float>(std::popcount(std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)));
}

/// What rows hold: bits, numbers, or numbers with gaps, which are NaN where a value is missing.
enum class RowsHold { bits, numbers, gaps };

/// Returns what the rows of a metric hold.
constexpr RowsHold rows_hold(Metric metric) {
  switch (chain_metric(metric)) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, ...) \
  case Metric::id:               \
    return RowsHold::rows;
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return metric == Metric::hamming ? RowsHold::bits : RowsHold::numbers;
  }
}

/// Returns whether rows are bits (Element::bits).
constexpr bool compares_bits(Metric metric) {
  return rows_hold(metric) == RowsHold::bits;
}

/// Returns whether a NaN in a row is a missing value.
constexpr bool takes_gaps(Metric metric) {
  return rows_hold(metric) == RowsHold::gaps;
}

/// Returns the bits of a row up to which raw values are quotients; those of wider rows are codes
/// (metrics.def). 0: all are quotients.
constexpr std::int64_t bits_without_codes(Metric metric) {
  switch (metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key, floats, shown) \
  case Metric::id:                                             \
    return floats;
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return 0;
  }
}

/// Returns whether raw values of rows of so many bits are codes.
constexpr bool has_codes(Metric metric, std::int64_t bits) {
  return bits_without_codes(metric) > 0 && bits > bits_without_codes(metric);
}

/// Returns a metric with a chain whose raw values become distances in the same way.
constexpr Metric finish_metric(Metric metric) {
  switch (metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key, floats, shown) \
  case Metric::id:                                             \
    return Metric::shown;
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return metric;
  }
}

/// Returns the name in metrics.def: `squared_l2`, `l2`, ...
KITH_API std::string_view name(Metric metric);

/// Returns names in other libraries: `euclidean` for l2; `dot`, `ip` and `inner_product` for negative_dot
/// (whose distance is the negated product). May be empty.
KITH_API std::vector<std::string_view> other_names(Metric metric);

}  // namespace kith
