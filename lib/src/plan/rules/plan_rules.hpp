// What suits which kind of device: the decisions of make_plan() that come from measurements.
#pragma once

#include <cstdint>
#include <string>

#include "kith/plan.hpp"

namespace kith {

/// A proposal; make_plan() lets the caller's options win and fits it into memory.
struct Choice {
  Selector selector = Selector::threshold;
  Proposer proposer = Proposer::none;
  std::int64_t seed_rows = 0;    ///< with a proposer
  std::int64_t sample_rows = 0;  ///< with a proposer
  std::int64_t visit_rows = 0;   ///< with a proposer
  std::int64_t growth = 2;       ///< with a proposer
  std::int64_t candidates = 0;   ///< with a proposer
  bool fused = false;
  std::int64_t lists = 1;
  std::int64_t query_tile = 0;
  std::int64_t train_tile = 0;
  std::string reason;
};

/// By the chain, on any device.
Choice choose_chain(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);
/// Threads of the host.
Choice choose_cpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);
/// A CPU behind a driver, such as PoCL.
Choice choose_opencl_cpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);
/// A GPU.
Choice choose_gpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);

/// Bytes that an index may keep beside its rows.
std::size_t room_for_quantized_rows(const DeviceInfo& device, const PlanOptions& options);

/// The proposer that pays for a problem about whose path the caller has said nothing; none otherwise.
Proposer choose_proposer(const DeviceInfo& device, const Problem& problem, const PlanOptions& options,
                         const Feedback& feedback);
/// Whether that goes by Feedback::byte_speed, which takes a measurement.
bool asks_for_byte_speed(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);

/// Whether int8, which was chosen by Feedback::byte_blur, ranked so many candidates a query that fp16 is
/// faster.
bool lists_too_many(const Problem& problem, double ranked);

/// Any device, with candidates from `proposer`.
Choice choose_proposed(const DeviceInfo& device, const Problem& problem, const PlanOptions& options,
                       Proposer proposer);

/// make_plan() for calls within the library. Host memory that runs out leaves it as std::bad_alloc: as Error
/// out_of_memory it would look like a device that is too small for a plan, and lead to another plan.
Plan plan_problem(const DeviceInfo& device, const Problem& problem, const PlanOptions& options = {},
                  const Feedback& feedback = {});

}  // namespace kith
