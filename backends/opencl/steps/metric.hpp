// What kernels are told of a metric.
#pragma once

#include <string>

#include "kith/metric.hpp"

namespace kith::opencl {

/// `-D METRIC=...` for metric.cl, with a name of `metric`'s chain: metrics with the same chain, which differ
/// in what happens on the host, share their compiled kernels.
std::string define_metric(Metric metric);

}  // namespace kith::opencl
