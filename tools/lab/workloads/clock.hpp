// Seconds of the host's clock.
#pragma once

#include <chrono>

namespace kith::workloads {

/// Runs from when it is made.
class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kith::workloads
