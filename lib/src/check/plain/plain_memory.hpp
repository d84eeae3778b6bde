// Reads what steps of the plain device refer to.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kith/spi.hpp"

namespace kith::spi {

struct PlainMemory : Allocation {
  explicit PlainMemory(std::size_t size) : Allocation(size), data(size / sizeof(Key) + 1) {}
  std::vector<Key> data;  ///< memory of the largest element type, so that all types are aligned
};

template <class T>
T* row_of_grid(const Grid<T>& grid, std::size_t row) {
  auto* const data = reinterpret_cast<T*>(static_cast<PlainMemory*>(grid.memory)->data.data());
  return data + grid.first + row * grid.stride;
}

/// Returns row r of blocks of one row.
inline std::span<const float> row_at(const RowBlocks& rows, std::size_t r) {
  const auto& data = static_cast<const PlainMemory*>(rows.memory)->data;
  return {reinterpret_cast<const float*>(data.data()) + (rows.first + r) * rows.dims, rows.dims};
}

/// Returns the parameters of terms; nothing if chains take differences.
inline std::span<const float> terms_of(const RowBlocks& rows) {
  if (!rows.terms) return {};
  const auto& data = static_cast<const PlainMemory*>(rows.terms)->data;
  return {reinterpret_cast<const float*>(data.data()), rows.dims};
}

/// Writes the k smallest of `keys`, padded with no_key.
inline void put_smallest(std::vector<Key> keys, std::size_t k, Key* to) {
  std::sort(keys.begin(), keys.end());
  keys.resize(k, no_key);
  std::copy(keys.begin(), keys.end(), to);
}

}  // namespace kith::spi
