// Reads lists of candidates from a device, so that the host can rank them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/host_buffer.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Candidates in device memory.
struct CandidatesThere {
  spi::CandidateLists lists;
  spi::Grid<float> low;  ///< Bounds::low
};

/// Candidates in host memory: list q has min(lengths[q], capacity) places.
struct ListedPlaces {
  std::size_t capacity = 0;
  std::span<const std::uint32_t> lengths;  ///< [m]
  std::span<const std::uint32_t> places;   ///< [m, capacity]

  std::size_t length(std::size_t q) const { return std::min<std::size_t>(lengths[q], capacity); }
};

/// Reads several lists at a time, because reading one takes about as long as reading many. It drops their
/// unused ends, because lists are long and mostly empty. Results are valid until the next read.
class ListReader {
 public:
  ListReader(Device::State& state, const Plan& plan);

  /// Returns the lists; their capacity is the length of the longest. If a length is above the capacity, the
  /// list overflowed.
  ListedPlaces places(spi::Device& device, const CandidatesThere& there);
  /// Returns Bounds::low of the candidates that places() read, [m, capacity].
  std::span<const float> lows(spi::Device& device);
  /// Returns the number of bytes that lows() would read.
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
