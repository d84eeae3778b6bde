// metrics.def as host code: the slow, obviously right chain, and what happens before and after it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kith/key.hpp"
#include "kith/metric.hpp"

namespace kith {

enum class Prepare { none, unit_rows };

/// What the host does to rows before any device sees them.
Prepare prepare_of(Metric metric);

/// The raw value of one pair: accumulate over dimensions 0, 1, ..., dims-1.
float chain(Metric metric, std::span<const float> query, std::span<const float> row);

/// The distance a user sees, from a raw value.
float finish(Metric metric, float value);

/// What a user sees of `keys`: distances, and rows, -1 where there is none; as many of each.
void finish(Metric metric, std::span<const Key> keys, float* distance, std::int64_t* index);

}  // namespace kith
