// Declares what the two halves of the experiment `structure` share.
#pragma once

#include "lab/experiments/measure.hpp"

namespace kith::experiments {

/// Returns the CPU, then the other devices of settings.devices.
std::vector<Device> cpu_and_others(const Settings& settings);

/// Adds chart, checks and claims on whether it pays to compute one triangle of a symmetric matrix
/// of distances.
void add_triangle(const Settings& settings, const std::vector<Device>& on, Result& result);

}  // namespace kith::experiments
