// The rules of make_plan(), which follow from measurements: they choose what is fast on each kind of device.
#pragma once

#include <cstdint>
#include <string>

#include "kith/unstable/plan.hpp"

namespace kith {

/// What the rules choose. make_plan() lets the caller's options override it, and fits it into memory.
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

/// Chooses a plan without a proposer, on any device.
Choice choose_chain(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);
/// Chooses it for threads of the host.
Choice choose_cpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);
/// Chooses it for a CPU behind a driver, such as PoCL.
Choice choose_opencl_cpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);
/// Chooses it for a GPU.
Choice choose_gpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);

/// Returns how many bytes an index may keep beside its rows.
std::size_t room_for_quantized_rows(const DeviceInfo& device, const SearchOptions& options);

/// A proposer, and whether it has to be paid for.
struct ProposerChoice {
  Proposer proposer = Proposer::none;
  bool paid = false;  ///< int8 gains because its rows are there, or earlier scans have paid for them
  /// Scans by the chain that are still to pay for the rows of int8; 0: there is nothing to pay for.
  std::int64_t scans_left = 0;
};

/// Returns the fastest proposer if the caller's options leave the choice; none if the chain alone is faster.
ProposerChoice choose_proposer(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                               const Feedback& feedback);
/// Returns how many scans a search by the chain counts for in Feedback::scans: 0 if int8 would gain nothing.
std::int64_t scans_to_count(const DeviceInfo& device, const Plan& plan, const SearchOptions& options);
/// Returns whether this choice depends on Feedback::byte_speed, which requires a measurement.
bool asks_for_byte_speed(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);

/// Returns whether int8, which Feedback::byte_blur has chosen, ranked so many candidates per query that fp16
/// is faster.
bool lists_too_many(const Problem& problem, double ranked, double byte_speed);

/// Chooses a plan with candidates from `proposer`, on any device.
Choice choose_proposed(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                       Proposer proposer);

/// Calls make_plan() from within the library. If host memory runs out it throws std::bad_alloc: Error
/// out_of_memory would look like a device too small for the plan, and lead to another plan.
Plan plan_problem(const DeviceInfo& device, const Problem& problem, const SearchOptions& options = {},
                  const Feedback& feedback = {});

}  // namespace kith
