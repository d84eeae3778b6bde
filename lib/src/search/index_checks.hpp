// What an Index is told beside its rows, checked.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/index.hpp"

namespace kith {

/// Of a shard: its numbers, and what it is told of the others' elements.
///   largest  max |element| of the rows here
/// Throws invalid_argument.
void check_shard(const IndexOptions& options, Metric metric, std::int64_t rows, float largest);

/// IndexOptions::features as ordered_features() has them.
/// Throws invalid_argument: as that does, and features of rows of bits.
std::vector<std::int64_t> checked_features(const IndexOptions& options, Metric metric, std::int64_t columns);

}  // namespace kith
