// Holds options for writing a file, which may take long.
#pragma once

#include <functional>
#include <stop_token>

#include "kith/cxx20.hpp"

namespace kith {

struct SaveOptions {
  std::stop_token stop = {};                  ///< asked to stop: Error interrupted, and no file is written
  std::function<void(double)> progress = {};  ///< called now and then with the part written, 0 ... 1
};

}  // namespace kith
