// Memory of a caller, on a device or on the host, while a device uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_state.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Calls spi::Device::borrow(); if it refuses, the message names what is borrowed. Locks the device.
///   what  place and name in messages: "index: the training rows"
std::unique_ptr<spi::Allocation> borrowed(Device::State& state, const std::string& what,
                                          const spi::CallersMemory& of);

/// Completes all enqueued work, so that the caller may use the memory again. Locks the device; does
/// not throw.
void give_memory_back(Device::State& state) noexcept;

/// Host memory that a device reads in place, for many searches. At its end no step uses it any more.
class ReachedMemory {
 public:
  ReachedMemory(std::shared_ptr<Device::State> state, std::unique_ptr<spi::Allocation> memory)
      : state_(std::move(state)), memory_(std::move(memory)) {}
  ~ReachedMemory();
  ReachedMemory(const ReachedMemory&) = delete;
  ReachedMemory& operator=(const ReachedMemory&) = delete;

  const spi::Allocation& get() const { return *memory_; }

 private:
  const std::shared_ptr<Device::State> state_;
  std::unique_ptr<spi::Allocation> memory_;
};

/// Returns a handle of host memory that the system keeps in place, so that copies need no staging; it does so
/// during the lifetime of the handle. Returns null if the system does not keep it in place. Locks the device.
std::unique_ptr<const ReachedMemory> held_in_place(const std::shared_ptr<Device::State>& state,
                                                   const void* begin, std::size_t bytes);

/// Rows in device memory.
class BorrowedRows {
 public:
  ///   what  names the rows in messages: "training" or "query"
  /// Throws as check_layout() and spi::Device::borrow() do. Locks the device.
  BorrowedRows(std::string_view where, std::string_view what, std::shared_ptr<Device::State> state,
               const RowsView& rows);
  ~BorrowedRows();
  BorrowedRows(const BorrowedRows&) = delete;
  BorrowedRows& operator=(const BorrowedRows&) = delete;

  /// Returns `count` rows: every `step`-th from `first` on.
  spi::RawRows raw(std::int64_t first, std::int64_t count, std::int64_t step = 1) const;
  /// Copies `count` rows from `first` on, unchanged, to the host. Locks the device.
  ///   to  memory of the returned view
  RowsView read(std::int64_t first, std::int64_t count, std::vector<unsigned char>& to) const;

 private:
  const std::shared_ptr<Device::State> state_;
  const RowsView rows_;
  std::unique_ptr<spi::Allocation> memory_;
};

/// Returns the rows if they are on the host; else copies them there, unchanged.
///   to  memory of the view of a copy
/// Throws as BorrowedRows() does.
RowsView rows_on_host(std::string_view where, std::string_view what,
                      const std::shared_ptr<Device::State>& state, const RowsView& rows,
                      std::vector<unsigned char>& to);

}  // namespace kith
