// The devices of all platforms, and what keeps a driver from having any.
#pragma once

#include <string>
#include <vector>

#include "guard.hpp"

namespace kith::opencl {

struct Platforms {
  std::vector<cl::Device> devices;    ///< in the order of the loader
  std::size_t count = 0;              ///< platforms
  std::vector<std::string> failures;  ///< a sentence for each platform that cannot list its devices
};

/// Throws cl::Error where the loader fails. A platform that fails leaves the others alone.
Platforms all_platforms();

/// A sentence for each .icd file that names a library which is not on this machine, or, where there is no
/// platform at all, one that has none.
std::vector<std::string> useless_drivers(bool any_platform);

}  // namespace kith::opencl
