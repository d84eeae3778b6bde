// Checks and sizes that several steps share.
#pragma once

#include <cstdint>
#include <string>

#include "kith/spi.hpp"

namespace kith::opencl {

/// Returns why the chains of rows in these blocks cannot be computed on this device; empty if they can.
std::string refuse_rows(const DeviceInfo& info, const spi::RowBlocks& queries, const spi::RowBlocks& train);

/// Returns how many tiles of `tile` blocks contain rows first ... first + rows - 1.
std::uint32_t tiles_of(const spi::RowBlocks& rows, std::uint32_t tile);

/// The sizes of a shortlist as an argument: Shortlist of shortlist.cl.
struct ShortlistSizes {
  std::uint32_t list_size, capacity, merge_at;
  std::uint32_t parts;  // number of parts for the first bound
};

/// The sizes of a shortlist (shortlist.cl) for lists of k. Up to `step` candidates join at a time; they are
/// merged when they are as many as the list has places, or `most`.
struct Shortlist {
  std::uint32_t list_size;  // a power of two >= k
  std::uint32_t merge_at;   // number of candidates that makes a merge worthwhile
  std::uint32_t capacity;   // a power of two >= merge_at + step

  Shortlist(std::uint32_t k, std::uint32_t step, std::uint32_t most = 1024);
  ShortlistSizes sizes(std::uint32_t parts) const { return {list_size, capacity, merge_at, parts}; }
  std::size_t list_bytes() const { return list_size * sizeof(Key); }
  std::size_t buffer_bytes() const { return capacity * sizeof(Key); }
  /// Returns why it needs too much local memory; empty if it fits. A few counters are needed as well.
  std::string refuse(std::uint32_t k, std::size_t local_memory_bytes) const;
};

/// Returns into how many parts the first candidates are divided for the first bound (shortlist.cl): a power
/// of two, at least 32 and about 1.25 k, so that the bound refuses much, but at most `most`.
std::uint32_t parts_for(std::uint32_t k, std::uint32_t most);

}  // namespace kith::opencl
