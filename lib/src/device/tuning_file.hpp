// Reads the measurements of the devices of this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/fork_gate.hpp"
#include "kith/unstable/tuning.hpp"

namespace kith {

/// Reads the tuning file of `device`; null if there is none. If the file is ignored, TuningWarnings gets
/// the reason.
std::shared_ptr<const Tuning> tuning_of(const DeviceInfo& device);

/// The sentences of tuning_warnings().
class TuningWarnings {
 public:
  static TuningWarnings& instance();
  void add(const std::string& warning);
  std::vector<std::string> all() const;

 private:
  mutable HostMutex mutex_;
  std::vector<std::string> all_;
};

}  // namespace kith
