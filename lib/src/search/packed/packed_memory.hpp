// Declares memory of a device for rows packed as the elements in which they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kith/matrix_view.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows_on_device.hpp"

namespace kith {

/// Holds rows and room for more, which several Index objects share: each uses a number of the first rows.
/// Rows that were written do not change.
class PackedMemory : public RowsOnDevice {
 public:
  ///   room     number of places
  ///   claimed  places that are taken, from the first on
  PackedMemory(std::int64_t room, std::int64_t claimed) : room_(room), claimed_(claimed) {}

  /// Claims places first ... first + count - 1, so that the caller may put rows there. Returns false if
  /// places from `first` on were claimed before, or there is no room.
  bool claim(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    if (first != claimed_ || count > room_ - first) return false;
    claimed_ += count;
    return true;
  }
  /// Gives back claimed places in which no rows were put.
  void give_back(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    if (claimed_ == first + count) claimed_ = first;
  }
  /// Returns whether claiming one place behind `rows` rows would succeed.
  bool has_room_behind(std::int64_t rows) const {
    const std::lock_guard lock(mutex_);
    return rows == claimed_ && rows < room_;
  }

  /// Returns whether put() takes rows of a caller as they are from such memory, of the host or of the device.
  virtual bool takes_from(Where where) const = 0;
  /// Returns whether the element can hold each value.
  virtual bool holds(MatrixView<const float> rows, std::uint32_t threads) const = 0;
  /// Puts rows of a caller, which have the element, to places from `first` on, which must be claimed. Locks
  /// the device.
  ///   returns  max |element|
  /// Throws as prepare_rows() does, and out_of_memory.
  virtual float put(std::int64_t first, const RowsView& rows, const Landing& how) = 0;
  /// Puts prepared rows, for which holds() must be true.
  virtual void put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) = 0;
  /// Returns new memory with the first `rows` rows, and claimed places for `more` behind them.
  /// Throws out_of_memory.
  virtual std::shared_ptr<PackedMemory> with_room(std::int64_t rows, std::int64_t more) const = 0;

  /// Returns the first `rows` rows in the form that a search by exact products takes; null if there is no
  /// such search.
  virtual std::shared_ptr<const ResidentRows> exact_rows(std::int64_t rows, float largest) const = 0;
  /// Returns the bytes of device memory, shared or not.
  virtual std::size_t bytes() const = 0;

 private:
  const std::int64_t room_;
  mutable std::mutex mutex_;  // guards all members below
  std::int64_t claimed_;
};

/// Returns whether the rows of an Index stay packed: the device supports it, and they would be large as
/// float32, or room for more rows is asked for. Each member of a set of devices decides for its part.
///   rows     number of rows
///   where    memory in which the caller has them
///   reserve  IndexOptions::reserve
bool stays_packed(const RowSchema& schema, std::int64_t rows, Where where, std::int64_t reserve);

/// Makes memory with `room` places, none of which is claimed. Locks the device. Throws out_of_memory.
std::shared_ptr<PackedMemory> packed_memory(const RowSchema& schema, std::int64_t room);

}  // namespace kith
