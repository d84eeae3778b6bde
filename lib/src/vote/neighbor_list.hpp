// The neighbours of one query, with distances of either width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith {

/// Holds the neighbours of one query, nearest first. One of the two spans of distances is empty.
struct NeighborList {
  std::span<const std::int64_t> index;
  std::span<const float> single;
  std::span<const double> wide;

  /// Returns the distance of neighbour j, which a double represents exactly.
  double distance(std::size_t j) const { return wide.empty() ? static_cast<double>(single[j]) : wide[j]; }
  /// Returns neighbours first ... first + count - 1.
  NeighborList part(std::size_t first, std::size_t count) const {
    return {index.subspan(first, count), wide.empty() ? single.subspan(first, count) : single,
            wide.empty() ? wide : wide.subspan(first, count)};
  }
};

}  // namespace kith
