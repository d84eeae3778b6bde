// OpenCL calls of kith that can fail.
#pragma once

#include <string>

namespace kith::tests::faults {

/// Puts a hook before each function of this platform's driver. Returns false if that is impossible.
bool hook_opencl(const std::string& platform);

}  // namespace kith::tests::faults
