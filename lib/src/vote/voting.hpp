// The vote and tally steps on device memory, with their labels, weights and results.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Copy class numbers to the device.
///   classes  [n]
DeviceMemory upload_labels(const std::shared_ptr<Device::State>& state,
                           std::span<const std::uint32_t> classes);

/// Room for the votes of up to `queries` queries, and the step that fills it.
class Voting {
 public:
  Voting(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::uint32_t classes);

  /// Vote over `nearest` [q, k] on the device.
  ///   labels  [1, n] on the device
  ///   winner  [q]    counts  [q, classes]
  /// Locks the device. Throws unsupported when it refuses.
  void vote(const spi::Grid<Key>& nearest, const spi::Grid<std::uint32_t>& labels, std::uint32_t threads,
            std::span<std::uint32_t> winner, std::span<std::uint32_t> counts, double* seconds);

 private:
  std::shared_ptr<Device::State> state_;
  std::uint32_t classes_;
  DeviceMemory counts_, winner_;
};

/// Room for the weights of up to `queries` lists of k neighbours and for their sums by up to `classes`
/// classes, and the step that adds them.
class Tallying {
 public:
  Tallying(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::int64_t k,
           std::uint32_t classes);

  /// Copy weights to the device, for every tally until the next.
  ///   weights  [q, k]
  void weigh(std::span<const float> weights);

  /// Add the weights of the neighbours of each class.
  ///   nearest  [q, at most k] on the device    labels  [1, n] on the device    sums  [q, classes]
  /// Locks the device. Throws unsupported when it refuses.
  void tally(const spi::Grid<Key>& nearest, const spi::Grid<std::uint32_t>& labels, std::uint32_t classes,
             std::uint32_t threads, std::span<float> sums, double* seconds);

 private:
  std::shared_ptr<Device::State> state_;
  std::size_t k_;
  DeviceMemory weights_, sums_;
};

}  // namespace kith
