// The variance of each column of rows, which seuclidean takes where none are given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rows/landed/rows_in_parts.hpp"

namespace kith {

/// Returns the variances, in the order of docs/contract.md, section 1.
///   features  the columns that count, ascending
/// Throws invalid_argument: there is one row, which has none; a value that is not finite (names its place).
std::vector<double> variances_of(const RowsInParts& rows, std::span<const std::int64_t> features,
                                 std::int64_t first_row);

}  // namespace kith
