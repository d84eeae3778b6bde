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

/// Returns whether a device may land rows as they are: they need no preparation, and the step that lands
/// them, which cannot tell a gap from an infinity, may refuse what is not finite.
inline bool lands_as_given(Metric metric) {
  return prepare_of(metric) == Prepare::none && !takes_gaps(metric);
}

/// Returns the raw value of one pair: accumulates over dimensions 0, 1, ..., dims - 1 in this order.
///   terms  [dims], parameters of columns (metrics.def); empty: the chain or the sums take values
///   bits   of a row as it is given, for metrics of two sums of bits
float chain(Metric metric, std::span<const float> query, std::span<const float> row,
            std::span<const float> terms = {}, std::int64_t bits = 0);
double chain(Metric metric, std::span<const double> query, std::span<const double> row,
             std::span<const double> terms = {});

/// Returns the raw value of rows of bits, by a metric of two sums.
///   both, apart  bits that are 1 in both rows, and those that differ
///   bits         of a row
float value_of_counts(Metric metric, std::int64_t both, std::int64_t apart, std::int64_t bits);

/// Turns a raw value into the distance that a user sees.
float finish(ShownBy shown, float value);
double finish(ShownBy shown, double value);

/// Turns `keys` into equally many distances and rows; row -1 if there is no key.
void finish(ShownBy shown, std::span<const Key> keys, float* distance, std::int64_t* index);

}  // namespace kith
