// A device whose N-th call fails: plugin.cpp wraps the device that is asked for.
#include "faults.hpp"
#include "plugin.hpp"

namespace kith::tests::faults {

void fail_device_calls(const Asked& asked) {
  const auto kind = [](FaultyDevice how, const char* name, bool all_after, std::vector<Errc> expected) {
    return Kind{static_cast<int>(how), all_after, name, std::move(expected)};
  };
  const std::vector<Errc> failure = {Errc::device_failure, Errc::unavailable}, full = {Errc::out_of_memory};
  const std::vector<Kind> kinds = {
      kind(FaultyDevice::fails, "device_failure", false, failure),
      kind(FaultyDevice::fails, "device_failure", true, failure),
      kind(FaultyDevice::is_full, "out_of_memory", false, full),
      kind(FaultyDevice::is_full, "out_of_memory", true, full),
      kind(FaultyDevice::throws_runtime_error, "std::runtime_error", false, failure),
      kind(FaultyDevice::throws_bad_alloc, "std::bad_alloc", false, full),
      kind(FaultyDevice::throws_int, "an int", false, failure),
  };
  Scene scene("faulty:0");
  fail_each(asked, Site::device_call, scene.operations(false), kinds, [] {});
}

}  // namespace kith::tests::faults
