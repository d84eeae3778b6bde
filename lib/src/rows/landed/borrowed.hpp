// Memory of a caller, of a device or of the host, while a device uses it.
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

/// spi::Device::borrow(), with the caller's words where it refuses. Locks the device.
///   what  where and what: "index: the training rows"
std::unique_ptr<spi::Allocation> borrowed(Device::State& state, const std::string& what,
                                          const spi::CallersMemory& of);

/// Do what is enqueued, so that the caller has the memory back. Locks the device; throws nothing.
void give_memory_back(Device::State& state) noexcept;

/// Memory of the host that a device reads where it lies, for many searches. At its end no step uses it.
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

/// Memory of the host from which copies need no detour, since the system holds it in place; that lasts as
/// long as what this returns. Null: the system does not. Locks the device.
std::unique_ptr<const ReachedMemory> held_in_place(const std::shared_ptr<Device::State>& state,
                                                   const void* begin, std::size_t bytes);

/// Rows in memory of a device.
class BorrowedRows {
 public:
  ///   what  names the rows in messages: "training" or "query"
  /// Throws as check_layout() and spi::Device::borrow() do. Locks the device.
  BorrowedRows(std::string_view where, std::string_view what, std::shared_ptr<Device::State> state,
               const RowsView& rows);
  ~BorrowedRows();
  BorrowedRows(const BorrowedRows&) = delete;
  BorrowedRows& operator=(const BorrowedRows&) = delete;

  /// Every `step`-th row from `first` on, `count` of them.
  spi::RawRows raw(std::int64_t first, std::int64_t count, std::int64_t step = 1) const;
  /// `count` rows from `first` on, as they are, copied to the host. Locks the device.
  ///   to  is what the view refers to
  RowsView read(std::int64_t first, std::int64_t count, std::vector<unsigned char>& to) const;

 private:
  const std::shared_ptr<Device::State> state_;
  const RowsView rows_;
  std::unique_ptr<spi::Allocation> memory_;
};

/// The rows, where they are on the host; else a copy of them there, as they are.
///   to  is what the view of a copy refers to
/// Throws as BorrowedRows() does.
RowsView rows_on_host(std::string_view where, std::string_view what,
                      const std::shared_ptr<Device::State>& state, const RowsView& rows,
                      std::vector<unsigned char>& to);

}  // namespace kith
