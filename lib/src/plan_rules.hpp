// What suits which kind of device: the decisions of make_plan() that come from measurements.
#pragma once

#include <cstdint>
#include <string>

#include "kith/plan.hpp"

namespace kith {

/// A proposal; make_plan() lets the caller's options win and fits it into memory.
struct Choice {
  Selector selector = Selector::threshold;
  bool fused = false;
  std::int64_t groups = 1;
  std::int64_t query_tile = 0;
  std::int64_t train_tile = 0;
  std::string reason;
};

/// The CPU back end.
Choice choose_cpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);
/// A CPU behind OpenCL, such as PoCL.
Choice choose_opencl_cpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);
/// A GPU, by CUDA or OpenCL.
Choice choose_gpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);

}  // namespace kith
