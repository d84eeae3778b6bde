// How far apart the distances of a row to others are, beside how far rows lie from their centre.
#pragma once

#include <span>

namespace kith {

/// The standard deviation of a row's squared distances to others, over the norm of a centred row: of the
/// first 16 rows, each around its own mean. 0 where rows do not differ, or there are fewer than two.
///   rows    [count, dims]
///   centre  [dims]
double spread_of_distances(std::span<const float> rows, std::span<const float> centre);

}  // namespace kith
