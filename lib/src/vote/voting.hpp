// Runs the vote step on device memory, with its labels and results.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Copies class numbers to the device.
///   classes  [n]
DeviceMemory upload_labels(const std::shared_ptr<Device::State>& state,
                           std::span<const std::uint32_t> classes);

/// Holds memory for the votes of up to `queries` queries, and runs the step that fills it.
class Voting {
 public:
  Voting(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::uint32_t classes);

  /// Counts votes of `nearest` [q, k] on the device.
  ///   labels  [1, n] on the device
  ///   winner  [q]
  ///   counts  [q, classes], or empty: not wanted
  /// Locks the device. Throws unsupported if the device refuses the step.
  void vote(const spi::Grid<Key>& nearest, const spi::Grid<std::uint32_t>& labels, std::uint32_t threads,
            std::span<std::uint32_t> winner, std::span<std::uint32_t> counts, double* seconds);

 private:
  std::shared_ptr<Device::State> state_;
  std::uint32_t classes_;
  DeviceMemory counts_, winner_;
};

}  // namespace kith
