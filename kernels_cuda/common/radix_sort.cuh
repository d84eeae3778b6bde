// Sorting many parts of many keys in device memory, for select_radix.cu.
// No twin in kernels_cl: CUB is a library of CUDA; there select_radix.cl sorts what it keeps by sort.cl.
#pragma once

#include "common/common.cuh"

namespace kith::cuda {

/// Rows of `columns` keys, one behind the other, each cut into `groups` parts of `width` (columns_of);
/// `parts` in all.
struct SortShape {
  std::uint32_t parts;
  std::uint32_t columns;
  std::uint32_t groups;
  std::uint32_t width;

  std::uint64_t keys() const { return std::uint64_t{parts / groups} * columns; }
};

/// What a sort needs, laid out in scratch.
struct SortMemory {
  /// `bytes`, from `memory` on, are at least sort_bytes(shape).
  SortMemory(const SortShape& shape, void* memory, std::size_t bytes);
  SortMemory(const SortShape& shape, const spi::Scratch& scratch)
      : SortMemory(shape, address_of<void>(scratch), scratch.bytes) {}

  Key* keys;  ///< unsorted
  Key* sorted;
  std::int32_t* offsets;  ///< [parts + 1], where each part begins
  void* rest;             ///< what the sorts of CUB need
  std::size_t rest_bytes;
};

std::size_t sort_bytes(const SortShape& shape);

/// Sort each part of memory.keys into memory.sorted by bits begin_bit .. 63, keeping the order of keys
/// that are equal there.
cudaError_t sort_parts(const Queue& queue, const SortShape& shape, const SortMemory& memory, int begin_bit);

}  // namespace kith::cuda
