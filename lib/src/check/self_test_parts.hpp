// What tests of a device's steps share: a step run on the device and as the contract has it.
#pragma once

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kith/spi/step_runner.hpp"

namespace kith {

/// What a device gave, and what is right.
template <class T>
struct Both {
  std::vector<T> found, right;
  bool same() const {
    return found.size() == right.size() &&
           (found.empty() || std::memcmp(found.data(), right.data(), found.size() * sizeof(T)) == 0);
  }
};

/// What `work(runner)` returns on the device, and on the plain one.
template <class Work>
auto on_both(spi::Device& device, const Work& work) {
  const auto plain = spi::plain_device();
  spi::StepRunner there(device), here(*plain);
  using T = typename decltype(work(there))::value_type;
  return Both<T>{work(there), work(here)};
}

/// Run one step, and read what it wrote. Throws what it is refused for.
template <class Step, class T>
std::vector<T> result_of(spi::StepRunner& runner, const Step& step, const spi::Grid<T>& out) {
  runner.set(step);
  if (!runner.refusal().empty()) throw std::runtime_error(runner.refusal());
  runner.run();
  return runner.read(out);
}

}  // namespace kith
