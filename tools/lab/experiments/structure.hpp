// What the two halves of the experiment `structure` share.
#pragma once

#include "lab/experiments/measure.hpp"

namespace kith::experiments {

/// Returns the CPU, then those of settings.devices that are no CPU.
std::vector<Device> cpu_and_others(const Settings& settings);

/// Chart, checks and claims on whether one triangle of a symmetric matrix of distances pays.
void add_triangle(const Settings& settings, const std::vector<Device>& on, Result& result);

}  // namespace kith::experiments
