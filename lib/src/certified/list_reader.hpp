// Lists of candidates, on their way from a device to the host that ranks them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/host_buffer.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Candidates in memory of a device.
struct CandidatesThere {
  spi::CandidateLists lists;
  spi::Grid<float> low;  ///< Bounds::low
};

/// Candidates on the host: list q has min(lengths[q], capacity) places.
struct ListedPlaces {
  std::size_t capacity = 0;
  std::span<const std::uint32_t> lengths;  ///< [m]
  std::span<const std::uint32_t> places;   ///< [m, capacity]

  std::size_t length(std::size_t q) const { return std::min<std::size_t>(lengths[q], capacity); }
};

/// Reads lists some at a time, since a device is asked for one list about as soon as for many, and keeps what
/// is in them: they are long, and mostly empty. What it returns is true until it reads again.
class ListReader {
 public:
  ListReader(Device::State& state, const Plan& plan);

  /// Their capacity is that of the longest of them, so that it was too short where its length says so.
  ListedPlaces places(spi::Device& device, const CandidatesThere& there);
  /// Bounds::low of what places() read, likewise [m, capacity].
  std::span<const float> lows(spi::Device& device);
  /// That lows() would read.
  std::size_t bytes() const;

 private:
  template <class T>
  void read(spi::Device& device, const spi::Grid<T>& from, std::vector<T>& to);

  const HostBuffer buffer_;
  const std::size_t buffer_bytes_;
  CandidatesThere there_;
  ListedPlaces listed_;
  std::vector<std::uint32_t> lengths_, places_;
  std::vector<float> low_;
};

}  // namespace kith
