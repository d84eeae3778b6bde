// Tells kernels their metric.
#pragma once

#include <string>

#include "kith/metric.hpp"

namespace kith::opencl {

/// Returns the compiler option `-D METRIC=...` for metric.cl. It names the first metric that accumulates by
/// the same operations as `metric`: metrics that differ only in what the host does share compiled kernels.
std::string define_metric(Metric metric);

}  // namespace kith::opencl
