#include "kith/device.hpp"

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "device/device_state.hpp"
#include "device/registry.hpp"
#include "device/tuning_file.hpp"

namespace kith {

std::vector<BackendInfo> backends() try {
  const FloatGuard guard;
  std::vector<BackendInfo> all = Registry::instance().backends();
  for (BackendInfo& backend : all)
    for (DeviceInfo& device : backend.devices) device.tuning = tuning_of(device);
  return all;
} catch (...) {
  rethrow_as_error();
}

std::vector<DeviceInfo> devices() try {
  std::vector<DeviceInfo> all;
  for (const BackendInfo& backend : backends())
    all.insert(all.end(), backend.devices.begin(), backend.devices.end());
  return all;
} catch (...) {
  rethrow_as_error();
}

std::vector<std::string> load_failures() try {
  const FloatGuard guard;
  return Registry::instance().failures();
} catch (...) {
  rethrow_as_error();
}

const DeviceInfo& Device::info() const {
  return state_->info;
}

}  // namespace kith
