// How much of a call each member of a set of devices gets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/device.hpp"
#include "kith/metric.hpp"
#include "kith/placement.hpp"

namespace kith {

/// IndexOptions::placement, shares and reserve.
struct Placing {
  Placement placement = Placement::automatic;
  std::vector<double> shares = {};
  std::int64_t reserve = 0;
};

/// split or replicate, for an Index of so many rows on `members` devices.
Placement chosen_placement(Placement asked, std::int64_t rows, std::int64_t members);

/// The parts of the members of a set, which sum to 1: as they are given, or by their speeds.
///   dims  of the rows
/// Throws invalid_argument: `given` are not as many as members, one is below 0 or not finite, or all are 0.
std::vector<double> shares_of(const Device& set, std::span<const double> given, Metric metric,
                              std::int64_t dims);

/// Where the parts of `count` things begin and end: [shares + 1], ascending from 0 to `count`. All but the
/// last end are multiples of `unit`.
std::vector<std::int64_t> cut_by_shares(std::int64_t count, std::span<const double> shares,
                                        std::int64_t unit);

/// Searches a second of each member of a set, as good as one knows; only their proportions mean something.
/// What `kith tune` measured, where it measured one problem on all; 1 each where all are of one kind; else a
/// small search on each, the first time it is asked.
std::vector<double> member_speeds(const Device& set, Metric metric, std::int64_t dims);

}  // namespace kith
