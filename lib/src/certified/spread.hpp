// Measures on some rows how much the distances from a row to others differ, relative to the norms of rows,
// and how far rows are from half bytes.
#pragma once

#include <span>

#include "rows/resident_rows.hpp"

namespace kith {

/// Returns the standard deviation of the squared distances from a row to the others, divided by the root mean
/// square of the norms of centred rows. It averages the variances for the first 16 rows, each around its own
/// mean. Returns 0 if rows do not differ or are fewer than two.
///   rows    [count, dims]
///   centre  [dims]
double spread_of_distances(std::span<const float> rows, std::span<const float> centre);

/// Returns the half bytes that are nearest to the rows. Their largest number is a share of `clip_range`.
///   rows    [count, dims]
///   centre  [dims]
///   clip_range  the largest |element| of the rows, centred
HalfBytes half_bytes_of(std::span<const float> rows, std::span<const float> centre, double clip_range);

}  // namespace kith
