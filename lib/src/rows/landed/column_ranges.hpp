// The ranges of the columns of training rows, by which gower divides differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rows/landed/rows_in_parts.hpp"

namespace kith {

/// Returns the largest value of each column less the smallest, in double precision: [columns], 0 in those
/// that do not count or have no value; at most the largest double. Throws invalid_argument: a value that is
/// neither finite nor missing.
///   metric     as the caller named it: by some, NaN are missing values
///   features   the columns that count, ascending
///   first_row  the number of row 0 in messages
std::vector<double> ranges_of_columns(const RowsInParts& rows, Metric metric,
                                      std::span<const std::int64_t> features, std::int64_t first_row);

}  // namespace kith
