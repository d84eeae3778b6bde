// Lets a device gather rows of an Index side by side: all of them in an order, or some of them alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device_state.hpp"
#include "kith/spi.hpp"
#include "rows/chunks.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// The rows of an Index as steps read them.
std::vector<spi::RowBlocks> parts_of(const ResidentRows& index);

/// Returns a grid [1, cols] over all of the memory.
template <class T>
spi::Grid<T> line_of(spi::Allocation* memory, std::size_t cols) {
  return {memory, 0, 1, cols, cols};
}

/// Makes the step that packs rows in an order, and also makes the boxes around them if `bounds` has memory.
spi::PackBoxesStep pack_step(std::vector<spi::RowBlocks> parts, spi::Allocation* numbers,
                             std::uint32_t places, spi::Allocation* packed, spi::Allocation* bounds);

/// Returns whether a device can make chunks of some of its rows by itself: what it packs is laid out as its
/// training rows are.
bool packs_rows(const Device::State& device, std::int64_t dims);

/// Copies these rows of an Index, whose device packs rows, into new chunks. Locks the device.
///   places  in any order
/// Throws out_of_memory.
std::vector<Chunk> packed_chunks(const ResidentRows& index, std::span<const std::int64_t> places,
                                 std::uint32_t threads);

}  // namespace kith
