// Device memory of the CPU: host memory.
#pragma once

#include <cstddef>
#include <memory>

#include "kith/spi.hpp"

namespace kith::cpu {

class Memory final : public spi::Allocation {
 public:
  /// Allocates uninitialised memory. Throws out_of_memory: more than `available`, or more than is free now.
  Memory(std::size_t size, std::size_t available);
  /// Refers to memory of a caller, who keeps it.
  explicit Memory(const spi::CallersMemory& of)
      : spi::Allocation(of.bytes), data(static_cast<std::byte*>(of.memory)) {}
  ~Memory() override;
  std::byte* const data;

 private:
  const bool owned_ = false;
};

inline std::byte* bytes_of(const spi::Allocation& memory) {
  return static_cast<const Memory&>(memory).data;
}

/// Returns the address of element 0 of a grid.
template <class T>
T* elements(const spi::Grid<T>& grid) {
  return reinterpret_cast<T*>(bytes_of(*grid.memory)) + grid.first;
}

/// Returns the address of row 0 of the memory that contains the rows.
inline const float* elements(const spi::RowBlocks& rows) {
  return reinterpret_cast<const float*>(bytes_of(*rows.memory));
}

/// Returns the parameters of terms; null if chains take differences.
inline const float* terms_of(const spi::RowBlocks& rows) {
  return rows.terms ? reinterpret_cast<const float*>(bytes_of(*rows.terms)) : nullptr;
}

}  // namespace kith::cpu
