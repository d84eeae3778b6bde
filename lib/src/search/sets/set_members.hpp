// The members of a set of devices at work: a thread each, one progress, one way to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kith/unstable/plan.hpp"

namespace kith {

/// What one member does in a call.
struct MemberWork {
  std::string device;  ///< DeviceInfo::spec, for messages
  double share = 1;    ///< of the work of all, for progress
  /// With the caller's options, but its own `stop` and `progress`.
  std::function<void(const SearchOptions& options)> run;
};

/// Run all at the same time, each on a thread of its own, the first on the caller's. Where one fails the
/// others are asked to stop, and all have ended when this returns.
///   options  `stop` stops all; `progress` is told what all have done together, on the caller's thread
/// Throws what the first of them threw, in the order of `work`; what the device is to blame for names the
/// member: "cuda:1: ...".
void run_members(std::vector<MemberWork> work, const SearchOptions& options);

}  // namespace kith
