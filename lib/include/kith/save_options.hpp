// How a file is written that may take long.
#pragma once

#include <functional>
#include <stop_token>

#include "kith/cxx20.hpp"

namespace kith {

struct SaveOptions {
  std::stop_token stop = {};                  ///< asked to stop: Error interrupted, and no file is written
  std::function<void(double)> progress = {};  ///< told, now and then, which part is written, 0 ... 1
};

}  // namespace kith
