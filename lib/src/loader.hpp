// Plug-ins: libkith_NAME.so files, each with one back end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kith/spi.hpp"

namespace kith {

struct LoadedBackend {
  std::string name;
  std::unique_ptr<spi::Backend> backend;
};

struct LoadResult {
  std::vector<std::string> folders;  ///< where was looked
  std::vector<LoadedBackend> backends;
  std::vector<std::string> failures;  ///< one sentence each: which file, and why not
};

/// Load every libkith_*.so in the folders of KITH_BACKEND_PATH (separated by ':'), or else in
/// `kith/` beside libkith.so. Never looks in the current directory; never unloads, because drivers
/// leave threads and exit handlers behind. Throws nothing: trouble is a failure in the list.
LoadResult load_backends();

}  // namespace kith
