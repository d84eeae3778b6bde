// Runs the members of a set of devices at the same time: each has a thread, and they share progress
// and stops.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kith/unstable/plan.hpp"

namespace kith {

/// Describes what one member does in a call.
struct MemberWork {
  std::string device;  ///< DeviceInfo::spec, for messages
  double share = 1;    ///< share of all work, for progress
  /// Gets the caller's options with its own `stop` and `progress`.
  std::function<void(const SearchOptions& options)> run;
};

/// Runs all at the same time, each on its own thread, the first on the caller's; one after another if there
/// are too few threads. If one fails, the others are asked to stop. All have ended when this returns.
///   options  `stop` stops all; `progress` is told what all have done together, on the caller's thread
/// Throws the error of the first failed member in the order of `work`; if the device is to blame, the message
/// names it: "cuda:1: ...".
void run_members(std::vector<MemberWork> work, const SearchOptions& options);

}  // namespace kith
