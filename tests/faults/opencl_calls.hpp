// OpenCL as kith calls it, with calls that fail.
#pragma once

#include <string>

namespace kith::tests::faults {

/// Put a hook before each function of the driver of this platform. False: that cannot be done.
bool hook_opencl(const std::string& platform);

}  // namespace kith::tests::faults
