// Declares memory as back ends use it: blocks, and the layouts of their content.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/export.hpp"

namespace kith::spi {

/// Owns a block of device memory, aligned to 256 bytes. Its destructor frees it and never throws, on any
/// thread, even while another thread is in a call of the device.
class KITH_API Allocation {
 public:
  explicit Allocation(std::size_t size) : bytes(size) {}
  virtual ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  const std::size_t bytes;
};

/// Describes rows of floats in blocks. Each block holds `block` rows, transposed, so that neighbouring
/// elements belong to neighbouring rows. Element (r, d) is at
///   ((r / block) * dims + d) * block + r % block.
/// block = 1 is plain row-major. The last block is padded to `block` rows; the padding is arbitrary but
/// finite, and must not reach a result. `first` need not be a multiple of block; the rows are first, first +
/// 1, ..., first + rows - 1. Training rows in a periodic box, or with other terms in the
/// place of differences, have the parameters of their columns (metrics.def), [dims] floats, so that a step
/// that reads them heeds these, or is refused.
struct RowBlocks {
  const Allocation* memory = nullptr;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
  std::uint32_t dims = 0;
  std::uint32_t block = 1;
  const Allocation* terms = nullptr;  ///< null: chains take differences
  bool mixed = false;                 ///< terms may be others than periodic; boxes steps never get canberra's
  std::uint32_t bits = 0;  ///< of a training row of bits, as it is given: all of dims words, or fewer
};

/// Describes a matrix in device memory, row-major; `first` and `stride` count elements of T.
template <class T>
struct Grid {
  Allocation* memory = nullptr;
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
};

/// Owns locked memory of the host: copies from and to it need no staging. It is freed as an Allocation is.
class KITH_API HostMemory {
 public:
  HostMemory(void* made, std::size_t size) : data(made), bytes(size) {}
  virtual ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* const data;
  const std::size_t bytes;
};

/// Describes device memory that a step may use as it likes while it runs; it has at least the bytes that
/// check() asked for.
struct Scratch {
  Allocation* memory = nullptr;
  std::size_t bytes = 0;
};

}  // namespace kith::spi
