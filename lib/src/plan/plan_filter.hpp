// Estimates how many rows a filter keeps, and how many neighbours to search so that enough of them pass it.
#pragma once

#include <cstdint>

#include "kith/matrix_view.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns how many rows count for a filter; of several filters, for the one of a sample that keeps
/// the fewest.
///   filters  [any, ceil(n / 32)]
std::int64_t fewest_kept(MatrixView<const std::uint32_t> filters, std::int64_t n);

/// Returns whether so many of n rows are enough to search all rows and drop the others.
bool keeps_most(std::int64_t kept, std::int64_t n);

/// Returns whether a proposer that scans all n rows, and masks those that do not count, is fast enough.
bool keeps_enough_to_mask(DeviceKind kind, std::int64_t kept, const Problem& problem);

/// Lengthens the first steps and samples of a plan that masks, so that they see as many rows that count as
/// those of a plan without a filter see rows.
void see_enough_that_count(std::int64_t kept, Plan& plan);

/// Returns how many neighbours to search so that k of them count: with three standard deviations to spare if
/// the filter keeps rows at random, and always if it excludes few.
///   returns  k ... n
std::int64_t places_to_search(std::int64_t k, std::int64_t kept, std::int64_t n);

}  // namespace kith
