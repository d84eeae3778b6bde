// Decides how much of a call each member of a set of devices gets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/device.hpp"
#include "kith/metric.hpp"
#include "kith/placement.hpp"

namespace kith {

/// Returns split or replicate, for an Index of `rows` rows on `members` devices.
Placement chosen_placement(Placement asked, std::int64_t rows, std::int64_t members);

/// Returns the shares of the members of a set, which sum to 1: as given, or by their speeds.
///   dims  columns of the rows
/// Throws invalid_argument: the number of shares differs from that of members, one is below 0 or not finite,
/// or all are 0.
std::vector<double> shares_of(const Device& set, std::span<const double> given, Metric metric,
                              std::int64_t dims);

/// Cuts 0 .. count - 1 into parts by shares. Returns where parts begin and end, [shares + 1], ascending from
/// 0 to `count`. All but the last end are multiples of `unit`.
std::vector<std::int64_t> cut_by_shares(std::int64_t count, std::span<const double> shares,
                                        std::int64_t unit);

/// Returns the estimated speed of each member of a set; only the proportions matter. They come from `kith
/// tune` if it measured one problem on all; they are 1 if all members are equal; else a small search is timed
/// on each, at the first call.
std::vector<double> member_speeds(const Device& set, Metric metric, std::int64_t dims);

}  // namespace kith
