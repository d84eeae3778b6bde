// Estimates how many rows a filter keeps, and for how many neighbours to search so that enough of them
// pass it.
#pragma once

#include <cstdint>

#include "kith/matrix_view.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns how many rows a filter keeps. If there are several filters, returns the least number for a sample
/// of them.
///   filters  [any, ceil(n / 32)]
std::int64_t fewest_kept(MatrixView<const std::uint32_t> filters, std::int64_t n);

/// Returns whether a filter keeps so many of n rows that a search of all rows may drop the others afterwards.
bool keeps_most(std::int64_t kept, std::int64_t n);

/// Returns whether a proposer that scans all n rows, and masks those that the filter excludes, is
/// fast enough.
bool keeps_enough_to_mask(DeviceKind kind, std::int64_t kept, const Problem& problem);

/// Lengthens the first steps and samples of a plan that masks, so that they see as many rows that count as a
/// plan without a filter sees rows.
void see_enough_that_count(std::int64_t kept, Plan& plan);

/// Returns for how many neighbours to search so that k of them count. The number has a margin of three
/// standard deviations if the filter keeps rows at random, and always suffices if it excludes few rows.
///   returns  k ... n
std::int64_t places_to_search(std::int64_t k, std::int64_t kept, std::int64_t n);

}  // namespace kith
