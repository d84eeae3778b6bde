#include "search/lists/whole_search.hpp"

#include "device/device_set.hpp"
#include "device/device_state.hpp"

namespace kith {
namespace {

/// Returns the bytes copied so far by the device, or by all members of a set.
CopiedBytes copied_by(const Device& device) {
  if (!is_set(device)) return copied_bytes(*device.state()->device);
  CopiedBytes all;
  for (const Device& member : device.state()->members) {
    const CopiedBytes some = copied_by(member);
    all.to_device += some.to_device;
    all.from_device += some.from_device;
  }
  return all;
}

}  // namespace

WholeSearch::WholeSearch(const Device& device) : device_(device), before_(copied_by(device)) {}

void WholeSearch::tell(Trace* trace) const {
  if (!trace) return;
  const CopiedBytes now = copied_by(device_);
  trace->bytes_to_device = now.to_device - before_.to_device;
  trace->bytes_from_device = now.from_device - before_.from_device;
  trace->total_seconds = total_.seconds();
}

}  // namespace kith
