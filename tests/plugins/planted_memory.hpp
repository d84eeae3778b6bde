// Device memory of the back end `planted` is host memory with typed access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "kith/spi.hpp"
#include "planted_card.hpp"

namespace {

struct HostMemory : kith::spi::Allocation {
  HostMemory(std::size_t size, std::shared_ptr<Card> of)
      : Allocation(size), share(std::move(of), size), cells(size / sizeof(kith::Key) + 1) {}
  /// With KITH_PLANTED_COMPUTES it computes when it frees, as drivers may. If the host program traps inexact
  /// results and kith did not restore the environment, this ends the process.
  ~HostMemory() override {
    volatile float third = 3;
    if (std::getenv("KITH_PLANTED_COMPUTES")) third = 1 / third;
  }
  const CardShare share;
  std::vector<kith::Key> cells;
};

template <class T>
T* row_of_grid(const kith::spi::Grid<T>& grid, std::size_t r) {
  return reinterpret_cast<T*>(static_cast<HostMemory*>(grid.memory)->cells.data()) + grid.first +
         r * grid.stride;
}

inline float element(const kith::spi::RowBlocks& rows, std::uint32_t r, std::uint32_t d) {
  const std::size_t at = rows.first + r;
  const auto& cells = static_cast<const HostMemory*>(rows.memory)->cells;
  const auto* floats = reinterpret_cast<const float*>(cells.data());
  return floats[(at / rows.block * rows.dims + d) * rows.block + at % rows.block];
}

}  // namespace
