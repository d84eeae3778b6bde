// Checks what an Index is told besides its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/index.hpp"

namespace kith {

/// Checks the options of a shard: its row numbers, and the largest element of all shards.
///   largest  max |element| of the rows here
/// Throws invalid_argument.
void check_shard(const IndexOptions& options, Metric metric, std::int64_t rows, double largest);

/// Returns IndexOptions::features as ordered_features() does. Throws invalid_argument as that does, and for
/// features of rows of bits.
std::vector<std::int64_t> checked_features(const IndexOptions& options, Metric metric, std::int64_t columns);

}  // namespace kith
