// Operands of steps as the kernels take them, and what is refused of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "device.hpp"

namespace kith::cuda {

inline Rows rows_of(const spi::RowBlocks& rows) {
  const void* data = rows.memory ? static_cast<const Memory*>(rows.memory)->data : nullptr;
  return {static_cast<const float*>(data), rows.first, rows.rows, rows.dims};
}

template <class T>
Matrix<T> matrix_of(const spi::Grid<T>& grid) {
  void* data = grid.memory ? static_cast<const Memory*>(grid.memory)->data : nullptr;
  return {static_cast<T*>(data) + (data ? grid.first : 0), grid.stride};
}

template <class T>
Matrix<const T> input_of(const spi::Grid<T>& grid) {
  const Matrix<T> matrix = matrix_of(grid);
  return {matrix.data, matrix.stride};
}

/// Whether a proposer works on tensor cores, on shadows in an order of theirs.
inline bool on_tensor_cores(Proposer proposer) {
  return proposer == Proposer::fp16 || proposer == Proposer::int8;
}

/// Why a device's tensor cores are of no use to proposers; empty when they are.
inline std::string refusal_of_tensor_cores(std::uint32_t capability, std::size_t shared_bytes) {
  constexpr std::uint32_t least_capability = 80, least_shared_kib = 99;
  if (capability < least_capability)
    return "needs the tensor cores of compute capability 8.0 or newer, and this device has " +
           std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  if (shared_bytes < std::size_t{least_shared_kib} * 1024)
    return "needs " + std::to_string(least_shared_kib) + " KiB of shared memory a block, and " +
           std::to_string(shared_bytes / 1024) + " are allowed";
  return "";
}

/// Where the shadow of the first row of a grid begins, of a proposer on tensor cores.
inline void* shadow_of(Proposer proposer, const spi::Grid<float>& rows) {
  auto* data = static_cast<unsigned char*>(static_cast<const Memory*>(rows.memory)->data);
  const std::size_t element = proposer == Proposer::int8 ? sizeof(std::int8_t) : sizeof(std::uint16_t);
  return data + rows.first * spi::shadow_columns(proposer, rows.cols) * element;
}

inline Scratch scratch_of(const spi::Scratch& scratch) {
  return {scratch.memory ? static_cast<const Memory*>(scratch.memory)->data : nullptr, scratch.bytes};
}

/// Lists count in 32 bits, as rows do; of places beyond nobody can hear.
inline std::uint32_t capacity_of(std::size_t places) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(places, 0xFFFFFFFFu));
}

template <class T>
Lists<T> lists_of(const spi::CandidateLists& lists) {
  return {{matrix_of(lists.rows).data, lists.rows.stride},
          {matrix_of(lists.counts).data, lists.counts.stride},
          capacity_of(lists.rows.cols)};
}

inline BoundedLists bounded_lists_of(const spi::CandidateLists& lists, const spi::Bounds& bounds) {
  return {lists_of<std::uint32_t>(lists), matrix_of(bounds.low), matrix_of(bounds.high)};
}

/// Whether a metric is a squared distance, or a monotone function of one.
constexpr bool is_squared(Metric metric) {
  return metric == Metric::squared_l2 || metric == Metric::l2;
}

/// Why inner products say nothing about a metric, or about so many columns; empty when they do.
std::string refusal_of_products(Proposer proposer, Metric metric, std::size_t dims);

/// Why rows cannot be read, as a sentence; empty when they can.
std::string refusal_of_rows(const char* what, const spi::RowBlocks& rows);

/// Why so many lists cannot be made in one step; empty when they can.
std::string refusal_of_lists(std::uint64_t rows, std::uint64_t groups);

}  // namespace kith::cuda
