// Compiles metrics.def for the host: the plain chain of one pair, the preparation before it and the finish
// after it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kith/key.hpp"
#include "kith/metric.hpp"

namespace kith {

enum class Prepare { none, unit_rows };

/// Returns how rows are prepared before they are compared, by the host or by spi::UnitStep.
Prepare prepare_of(Metric metric);

/// Returns the raw value of one pair: accumulates over dimensions 0, 1, ..., dims - 1 in this order.
///   lengths  [dims] of a periodic box, +infinity for open columns; empty: there is no box
///   bits     of a row as it is given, for metrics of two sums of bits
float chain(Metric metric, std::span<const float> query, std::span<const float> row,
            std::span<const float> lengths = {}, std::int64_t bits = 0);
double chain(Metric metric, std::span<const double> query, std::span<const double> row,
             std::span<const double> lengths = {});

/// Turns a raw value into the distance that a user sees.
float finish(Metric metric, float value);
double finish(Metric metric, double value);

/// Turns `keys` into equally many distances and rows; row -1 if there is no key.
void finish(Metric metric, std::span<const Key> keys, float* distance, std::int64_t* index);

}  // namespace kith
