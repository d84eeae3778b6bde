// Sorts many parts of many keys in device memory, for select_radix.cu, and pairs, for order.cu.
// No twin in kernels_cl: CUB is a library of CUDA. There select_radix.cl uses sort.cl, and order.cl
// uses sort_places.cl.
#pragma once

#include "common/common.cuh"

namespace kith::cuda {

/// Contiguous rows of `columns` keys. Each row is cut into `lists` parts of `width` keys (columns_of); there
/// are `parts` in total.
struct SortShape {
  std::uint32_t parts;
  std::uint32_t columns;
  std::uint32_t lists;
  std::uint32_t width;

  std::uint64_t keys() const { return std::uint64_t{parts / lists} * columns; }
};

/// The memory of a sort, laid out in scratch.
struct SortMemory {
  /// `memory` has `bytes` bytes, at least sort_bytes(shape).
  SortMemory(const SortShape& shape, void* memory, std::size_t bytes);
  SortMemory(const SortShape& shape, const spi::Scratch& scratch)
      : SortMemory(shape, address_of<void>(scratch), scratch.bytes) {}

  Key* keys;  ///< unsorted
  Key* sorted;
  std::int32_t* offsets;  ///< [parts + 1]: the beginning of each part
  void* rest;             ///< memory for the sorts of CUB
  std::size_t rest_bytes;
};

std::size_t sort_bytes(const SortShape& shape);

/// Sorts each part of memory.keys into memory.sorted by bits begin_bit .. 63. Keys with equal bits keep
/// their order.
cudaError_t sort_parts(const Queue& queue, const SortShape& shape, const SortMemory& memory, int begin_bit);

/// n keys of 64 bits, a value for each, and where both are written.
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

/// Returns how many bytes sort_pairs() needs beside the pairs.
std::size_t sort_pairs_bytes(std::uint32_t n);

/// Sorts pairs by these bits of their keys. Pairs with equal bits keep their order.
///   memory  has `bytes` bytes, at least sort_pairs_bytes(n)
cudaError_t sort_pairs(const Queue& queue, const Pairs& pairs, Bits by, void* memory, std::size_t bytes);

}  // namespace kith::cuda
