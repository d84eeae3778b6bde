// Lists the devices of all platforms, and the reasons why a driver has none.
#pragma once

#include <string>
#include <vector>

#include "guard.hpp"

namespace kith::opencl {

struct Platforms {
  std::vector<cl::Device> devices;    ///< in the order of the loader
  std::size_t count = 0;              ///< number of platforms
  std::vector<std::string> failures;  ///< a sentence for each platform that cannot list its devices
};

/// Throws cl::Error if the loader fails. A platform that fails does not affect the others.
Platforms all_platforms();

/// Returns a sentence for each .icd file that names a library which is not on this machine, or, if there is
/// no platform at all, whose library has none.
std::vector<std::string> useless_drivers(bool any_platform);

}  // namespace kith::opencl
