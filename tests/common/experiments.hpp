// What the tests of experiments share.
#pragma once

#include <string>

#include "common/device.hpp"
#include "lab/experiments/experiment.hpp"

namespace kith::tests {

/// The device under test, in sizes for a small machine, as few samples as there can be.
inline experiments::Settings quick_settings() {
  experiments::Settings settings{{device()}, open_device("cpu")};
  settings.quick = true;
  settings.seconds = 0.001;
  settings.energy_note = "no joules: a test";
  return settings;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace kith::tests
