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
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// Lists every metric, in the order of metrics.def.
inline constexpr std::array all_metrics = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) Metric::id,
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// Lists the metrics of numbers: all but hamming.
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

/// Returns whether a distance by `metric` can be below 0. A radius may then be negative, and a mean of
/// distances has no meaning.
constexpr bool may_be_negative(Metric metric) {
  return metric == Metric::negative_dot;
}

/// Implements bits_apart() of metrics.def on the host: counts the bits, of 32, that differ, as a float.
constexpr float bits_apart(float a, float b) {
  return static_cast<float>(std::popcount(std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)));
}

/// Returns whether rows are bits (Element::bits), as they are for hamming alone.
constexpr bool compares_bits(Metric metric) {
  return metric == Metric::hamming;
}

/// Returns the name in metrics.def: `squared_l2`, `l2`, ...
KITH_API std::string_view name(Metric metric);

/// Returns names in other libraries: `euclidean` for l2; `dot`, `ip` and `inner_product` for negative_dot
/// (whose distance is the negated product). May be empty.
KITH_API std::vector<std::string_view> other_names(Metric metric);

}  // namespace kith
