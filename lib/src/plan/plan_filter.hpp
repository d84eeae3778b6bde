// What a filter keeps, and how many neighbours are searched for so that enough of them pass it.
#pragma once

#include <cstdint>

#include "kith/matrix_view.hpp"
#include "kith/plan.hpp"

namespace kith {

/// Rows that count for one of the filters: of many, for the one of a sample that keeps the fewest.
///   filters  [any, ceil(n / 32)]
std::int64_t fewest_kept(MatrixView<const std::uint32_t> filters, std::int64_t n);

/// Whether so many of n rows are enough to search all of them.
bool keeps_most(std::int64_t kept, std::int64_t n);

/// Whether a proposer that looks at all of n rows to find the nearest of those that count is soon enough
/// done.
bool keeps_enough_to_mask(DeviceKind kind, std::int64_t kept, const Problem& problem);

/// Make first steps and samples of a plan that masks long enough to see as many rows that count as those of
/// a plan without a filter see rows.
void see_enough_that_count(std::int64_t kept, Plan& plan);

/// As many neighbours as have k among them that count, by three deviations where rows are kept by chance, and
/// always where few are struck out.
///   returns  k ... n
std::int64_t places_to_search(std::int64_t k, std::int64_t kept, std::int64_t n);

}  // namespace kith
