// What is measured between a query and a training row; never how.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "kith/export.hpp"

namespace kith {

/// Smaller is nearer, always: a similarity enters as its negative.
/// docs/contract.md, section 1, gives the formula of each.
enum class Metric {
#define KITH_METRIC(id, prepare, start, fold, finish) id,
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// Every metric, in the order of metrics.def.
inline constexpr std::array all_metrics = {
#define KITH_METRIC(id, prepare, start, fold, finish) Metric::id,
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// `squared_l2`, `l2`, ...: the name as it is written in metrics.def.
KITH_API std::string_view name(Metric metric);

/// The metric called `text`.
/// Throws invalid_argument: there is none; the message lists those there are.
KITH_API Metric parse_metric(std::string_view text);

}  // namespace kith
