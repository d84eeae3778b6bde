// Lets a device gather rows of an Index contiguously: all of them in an order, or a selection.
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

/// Returns the rows of an Index as steps read them.
std::vector<spi::RowBlocks> parts_of(const ResidentRows& index);

/// Returns a grid [1, cols] over all of the memory.
template <class T>
spi::Grid<T> line_of(spi::Allocation* memory, std::size_t cols) {
  return {memory, 0, 1, cols, cols};
}

/// Makes the step that packs rows in an order, and also makes the boxes around them if `bounds` has memory.
spi::PackBoxesStep pack_step(std::vector<spi::RowBlocks> parts, spi::Allocation* numbers,
                             std::uint32_t places, spi::Allocation* packed, spi::Allocation* bounds);

/// Returns whether a device can make chunks from some of its rows by itself: it can if packed rows have the
/// layout of its training rows.
bool packs_rows(const Device::State& device, std::int64_t dims);

/// Copies these rows of an Index, whose device packs rows, into new chunks. Locks the device.
///   places  in any order
/// Throws out_of_memory.
std::vector<Chunk> packed_chunks(const ResidentRows& index, std::span<const std::int64_t> places,
                                 std::uint32_t threads);

}  // namespace kith
