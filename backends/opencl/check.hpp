// What several steps check, and sizes that several steps share.
#pragma once

#include <cstdint>
#include <string>

#include "kith/spi.hpp"

namespace kith::opencl {

/// Why chains of rows in these blocks cannot be computed on this device; empty when they can.
std::string refuse_rows(const DeviceInfo& info, const spi::RowBlocks& queries, const spi::RowBlocks& train);

/// The blocks of `block` rows in which rows first ... first + rows - 1 lie, counted in `tile` blocks.
std::uint32_t tiles_of(const spi::RowBlocks& rows, std::uint32_t tile);

/// Sizes of a shortlist as an argument: Shortlist of shortlist.cl.
struct ShortlistSizes {
  std::uint32_t list_size, capacity, merge_at;
  std::uint32_t parts;  // of a first bound
};

/// Shape of a shortlist (shortlist.cl) for lists of k that `step` candidates join at a time, and are merged
/// when there are as many as the list is long, or `most`.
struct Shortlist {
  std::uint32_t list_size;  // a power of two >= k
  std::uint32_t merge_at;   // candidates that make a merge worth while
  std::uint32_t capacity;   // a power of two >= merge_at + step

  Shortlist(std::uint32_t k, std::uint32_t step, std::uint32_t most = 1024);
  ShortlistSizes sizes(std::uint32_t parts) const { return {list_size, capacity, merge_at, parts}; }
  std::size_t list_bytes() const { return list_size * sizeof(Key); }
  std::size_t buffer_bytes() const { return capacity * sizeof(Key); }
  /// Why its local memory is too much; empty when it fits. A few counters come on top.
  std::string refuse(std::uint32_t k, std::size_t local_memory_bytes) const;
};

/// Returns into how many parts the first candidates are divided to find a first bound (shortlist.cl): a power
/// of two, at least 32 and some 1.25 k, so that the bound refuses much, but never more than `most`.
std::uint32_t parts_for(std::uint32_t k, std::uint32_t most);

}  // namespace kith::opencl
