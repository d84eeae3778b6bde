// Sorting many parts of many keys in device memory, for select_radix.cu; and pairs, for order.cu.
// No twin in kernels_cl: CUB is a library of CUDA; there select_radix.cl sorts what it keeps by sort.cl, and
// order.cl what it makes by sort_places.cl.
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

/// n numbers of 64 bits, what goes with each, and where both go.
struct Pairs {
  const std::uint64_t* keys;
  std::uint64_t* sorted_keys;
  const std::uint32_t* values;
  std::uint32_t* sorted_values;
  std::uint32_t n;
};
struct Bits {
  int begin, end;
};

/// Memory that sort_pairs() takes beside the pairs.
std::size_t sort_pairs_bytes(std::uint32_t n);

/// Sort pairs by these bits of their keys, keeping the order of those that are equal there.
///   memory  `bytes` of it, at least sort_pairs_bytes(n)
cudaError_t sort_pairs(const Queue& queue, const Pairs& pairs, Bits by, void* memory, std::size_t bytes);

}  // namespace kith::cuda
