// Measures how much the distances from a row to others differ, relative to the norms of rows.
#pragma once

#include <span>

namespace kith {

/// Returns the standard deviation of the squared distances from a row to the others, divided by the root mean
/// square of the norms of centred rows. It averages the variances for the first 16 rows, each around its own
/// mean. Returns 0 if rows do not differ or are fewer than two.
///   rows    [count, dims]
///   centre  [dims]
double spread_of_distances(std::span<const float> rows, std::span<const float> centre);

}  // namespace kith
