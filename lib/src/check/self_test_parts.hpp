// Runs a step on the tested device and on the plain one, for all tests of steps.
#pragma once

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kith/spi/step_runner.hpp"

namespace kith {

/// Holds the result of a device and the right one.
template <class T>
struct Both {
  std::vector<T> found, right;
  bool same() const {
    return found.size() == right.size() &&
           (found.empty() || std::memcmp(found.data(), right.data(), found.size() * sizeof(T)) == 0);
  }
};

/// Returns the results of `work(runner)` on the device and on the plain device.
template <class Work>
auto on_both(spi::Device& device, const Work& work) {
  const auto plain = spi::plain_device();
  spi::StepRunner there(device), here(*plain);
  using T = typename decltype(work(there))::value_type;
  return Both<T>{work(there), work(here)};
}

/// Runs one step and returns what it wrote. Throws if the device refuses it.
template <class Step, class T>
std::vector<T> result_of(spi::StepRunner& runner, const Step& step, const spi::Grid<T>& out) {
  runner.set(step);
  if (!runner.refusal().empty()) throw std::runtime_error(runner.refusal());
  runner.run();
  return runner.read(out);
}

}  // namespace kith
