// Where two curves meet.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace kith::experiments {

/// The x at which `first`, at or below `second` before, rises above it: on a straight line between two
/// points where both axes are logarithmic. NaN: nowhere, or a point is missing there.
///   first, second  at the same x, ascending
double crossover(const Series& first, const Series& second);

}  // namespace kith::experiments
