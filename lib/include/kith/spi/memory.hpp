// Memory as back ends see it: blocks, and what steps find in them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/export.hpp"

namespace kith::spi {

/// A block of device memory, aligned to 256 bytes. Freed by its destructor, which never throws, on any
/// thread, also while another thread is in a call of the device.
class KITH_API Allocation {
 public:
  explicit Allocation(std::size_t size) : bytes(size) {}
  virtual ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  const std::size_t bytes;
};

/// Rows of floats in blocks: each block holds `block` rows, transposed, so that neighbouring
/// elements belong to neighbouring rows. Element (r, d) of the memory lies at
///   ((r / block) * dims + d) * block + r % block.
/// block = 1 is plain row-major. The last block is padded to `block` rows; what stands in the
/// padding is arbitrary, finite, and must not reach a result. `first` need not be a multiple of
/// block; the rows meant are first, first + 1, ..., first + rows - 1.
struct RowBlocks {
  const Allocation* memory = nullptr;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
  std::uint32_t dims = 0;
  std::uint32_t block = 1;
};

/// A rectangle in device memory, row-major; `first` and `stride` in elements of T.
template <class T>
struct Grid {
  Allocation* memory = nullptr;
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
};

/// Memory of the host, locked in place, so that copies from and to it need no detour. Freed as an Allocation
/// is.
class KITH_API HostMemory {
 public:
  HostMemory(void* made, std::size_t size) : data(made), bytes(size) {}
  virtual ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* const data;
  const std::size_t bytes;
};

/// Device memory a step may use as it likes while it runs; at least what check() asked for.
struct Scratch {
  Allocation* memory = nullptr;
  std::size_t bytes = 0;
};

}  // namespace kith::spi
