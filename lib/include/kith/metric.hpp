// What is measured between a query and a training row; never how.
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

/// Smaller is nearer, always: a similarity enters as its negative.
/// docs/contract.md, section 1, gives the formula of each.
enum class Metric {
#define KITH_METRIC(id, prepare, start, accumulate, finish) id,
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// Every metric, in the order of metrics.def.
inline constexpr std::array all_metrics = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) Metric::id,
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// Those of numbers: all but hamming.
inline constexpr std::array number_metrics = {Metric::squared_l2, Metric::l2,           Metric::l1,
                                              Metric::linf,       Metric::negative_dot, Metric::cosine};

/// The metric of whoever names none.
inline constexpr Metric default_metric = Metric::l2;

/// Whether the distance is a sum of squared differences, or follows from one, in the same order.
constexpr bool sums_squares(Metric metric) {
  return metric == Metric::squared_l2 || metric == Metric::l2 || metric == Metric::cosine;
}

/// Whether a distance by `metric` can be below 0. Then a radius may be, and a mean of distances says nothing.
constexpr bool may_be_negative(Metric metric) {
  return metric == Metric::negative_dot;
}

/// What metrics.def calls so, on the host: those of 32 bits that differ, as a whole float.
constexpr float bits_apart(float a, float b) {
  return static_cast<float>(std::popcount(std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)));
}

/// Whether rows are bits, as for no other metric: Element::bits.
constexpr bool compares_bits(Metric metric) {
  return metric == Metric::hamming;
}

/// `squared_l2`, `l2`, ...: the name as it is written in metrics.def.
KITH_API std::string_view name(Metric metric);

/// What other libraries call it: `euclidean` of l2, `dot`, `ip` and `inner_product` of negative_dot (whose
/// distance is the negated product); there may be none.
KITH_API std::vector<std::string_view> other_names(Metric metric);

/// The metric called `text`, in any case and with - or _: by its name, or by one of the other_names().
///
/// Throws invalid_argument: there is none; the message names the nearest, or lists those there are.
KITH_API Metric parse_metric(std::string_view text);

}  // namespace kith
