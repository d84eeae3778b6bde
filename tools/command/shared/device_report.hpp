// The functions by which `kith devices` and `kith doctor` describe devices.
#pragma once

#include <string>
#include <vector>

#include "kith/device.hpp"
#include "kith/spi.hpp"

namespace kith::command {

/// A device that was opened, and has run its self-test.
struct TestedDevice {
  DeviceInfo info;
  std::string refusal;          ///< the reason why it is refused; empty if it is exact
  double seconds = 0;           ///< seconds to open it, with the self-test
  spi::ProgramCounts programs;  ///< that this took
};
TestedDevice test_device(const DeviceInfo& info);

/// Returns `opencl: 2 devices`, or `cuda: no devices: CUDA driver missing`.
std::string backend_line(const BackendInfo& backend);

/// Returns the load failures that no back end gives as its reason.
std::vector<std::string> other_load_failures();

}  // namespace kith::command
