// Measures what a search took as a whole.
#pragma once

#include "device/plugin_device.hpp"
#include "device/timing.hpp"
#include "kith/device.hpp"
#include "kith/trace.hpp"

namespace kith {

/// Measures from its construction on.
class WholeSearch {
 public:
  ///   device  must outlive this
  explicit WholeSearch(const Device& device);
  double seconds() const { return total_.seconds(); }
  /// Writes the time, and the bytes that all calls have copied to and from the device since.
  void tell(Trace* trace) const;

 private:
  const Device& device_;
  const CopiedBytes before_;
  const Stopwatch total_;
};

}  // namespace kith
