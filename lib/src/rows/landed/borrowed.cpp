#include "rows/landed/borrowed.hpp"

#include <cstring>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/landing.hpp"

namespace kith {
namespace {

/// Returns the number of bytes from the beginning of the memory to the end of the last row.
std::size_t bytes_to_end(const RowsView& rows) {
  if (rows.rows == 0 || rows.cols == 0) return 0;
  return size(rows.offset_bytes) + size(rows.rows - 1) * size(rows.stride_bytes) +
         size(row_bytes(rows.element, rows.cols));
}

}  // namespace

std::unique_ptr<spi::Allocation> borrowed(Device::State& state, const std::string& what,
                                          const spi::CallersMemory& of) {
  const DeviceSession session(state);
  try {
    return session->borrow(of);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported && error.code() != Errc::invalid_argument) throw;
    throw Error(error.code(),
                what + " lie on " + std::string(place_name(of.where)) + ", and " + error.what());
  }
}

void give_memory_back(Device::State& state) noexcept {
  try {
    const DeviceSession session(state);
    session->finish();
  } catch (...) {  // the device is lost, and no longer works
  }
}

ReachedMemory::~ReachedMemory() {
  if (state_->mutex.is_lost()) {  // the driver is not called in a forked child
    static_cast<void>(memory_.release());
    return;
  }
  try {
    const DeviceSession session(*state_);
    session->finish();
    memory_.reset();
  } catch (...) {  // the device is lost, and no longer works
  }
}

std::unique_ptr<const ReachedMemory> held_in_place(const std::shared_ptr<Device::State>& state,
                                                   const void* begin, std::size_t bytes) {
  const DeviceSession session(*state);
  if (!session->is_locked(begin, bytes)) return nullptr;
  try {
    return std::make_unique<const ReachedMemory>(
        state, session->borrow({Where::host, const_cast<void*>(begin), bytes, false, nullptr}));
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    return nullptr;  // the system has unlocked it since
  }
}

BorrowedRows::~BorrowedRows() {
  give_memory_back(*state_);
}

BorrowedRows::BorrowedRows(std::string_view where, std::string_view what,
                           std::shared_ptr<Device::State> state, const RowsView& rows)
    : state_(std::move(state)), rows_(rows) {
  check_layout(where, what, rows);
  if (bytes_to_end(rows) == 0) return;  // there may be no memory
  // A view promises only to read; handles of the C interface do not promise this.
  memory_ =
      borrowed(*state_, std::string(where) + ": the " + std::string(what) + " rows",
               {rows.where, const_cast<void*>(rows.data), bytes_to_end(rows), false, rows.stream_or_queue});
}

spi::RawRows BorrowedRows::raw(std::int64_t first, std::int64_t count, std::int64_t step) const {
  return {memory_.get(),
          rows_.element,
          size(rows_.offset_bytes) + size(first) * size(rows_.stride_bytes),
          size(step) * size(rows_.stride_bytes),
          static_cast<std::uint32_t>(count),
          static_cast<std::uint32_t>(rows_.cols)};
}

RowsView BorrowedRows::read(std::int64_t first, std::int64_t count, std::vector<unsigned char>& to) const {
  RowsView part = rows_.slice(first, count);
  const std::size_t begin = size(part.offset_bytes);
  part.offset_bytes = 0;
  to.resize(bytes_to_end(part));
  if (!to.empty()) {
    const DeviceSession session(*state_);
    session->read(*memory_, begin, to.data(), to.size());
  }
  part.data = to.data();
  part.where = Where::host;
  part.stream_or_queue = nullptr;
  return part;
}

RowsView rows_on_host(std::string_view where, std::string_view what,
                      const std::shared_ptr<Device::State>& state, const RowsView& rows,
                      std::vector<unsigned char>& to) {
  if (rows.where == Where::host) return rows;
  return BorrowedRows(where, what, state, rows).read(0, rows.rows, to);
}

}  // namespace kith
