// What `kith devices` and `kith doctor` both say of devices.
#pragma once

#include <string>
#include <vector>

#include "kith/device.hpp"
#include "kith/spi.hpp"

namespace kith::command {

/// A device that was opened, and so tested itself.
struct TestedDevice {
  DeviceInfo info;
  std::string refusal;          ///< why it is refused; empty when it is exact
  double seconds = 0;           ///< to open it, the self-test included
  spi::ProgramCounts programs;  ///< that this took
};
TestedDevice test_device(const DeviceInfo& info);

/// `opencl: 2 devices`, or `cuda: no devices: CUDA driver missing`.
std::string backend_line(const BackendInfo& backend);

/// The load failures that are not already the reason of a back end.
std::vector<std::string> other_load_failures();

}  // namespace kith::command
