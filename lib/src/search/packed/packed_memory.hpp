// Rows in memory of a device, packed as the elements that they were given in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kith/matrix_view.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows_on_device.hpp"
#include "search/packed/row_room.hpp"

namespace kith {

/// Rows and room for more of them, which Index objects share: each has the first so many. What is written
/// does not change.
class PackedMemory : public RowsOnDevice {
 public:
  PackedMemory(std::int64_t room, std::int64_t claimed) : room_(room, claimed) {}

  /// As those of RowRoom.
  bool claim(std::int64_t first, std::int64_t count) { return room_.claim(first, count); }
  void give_back(std::int64_t first, std::int64_t count) { room_.give_back(first, count); }
  bool has_room_behind(std::int64_t rows) const { return room_.has_room_behind(rows); }

  /// Whether rows of a caller can be put as they are, in memory of the host or of the device.
  virtual bool takes_from(Where where) const = 0;
  /// Whether each value is one of the element.
  virtual bool holds(MatrixView<const float> rows, std::uint32_t threads) const = 0;
  /// Put rows of a caller, which have the element, to places from `first` on, which are claimed. Locks
  /// the device.
  ///   returns  max |element|
  /// Throws as prepare_rows() does, and out_of_memory.
  virtual float put(std::int64_t first, const RowsView& rows, const Landing& how) = 0;
  /// The same of prepared rows, which holds() says can be put.
  virtual void put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) = 0;
  /// Other memory with the first `rows` rows and claimed places for `more` behind them.
  /// Throws out_of_memory.
  virtual std::shared_ptr<PackedMemory> with_room(std::int64_t rows, std::int64_t more) const = 0;

  /// The first `rows` rows as a search by exact products takes them; null: it takes floats.
  virtual std::shared_ptr<const ResidentRows> exact_rows(std::int64_t rows, float largest) const = 0;
  /// Of device memory, shared or not.
  virtual std::size_t bytes() const = 0;

 private:
  RowRoom room_;
};

/// Whether the rows of an Index are to stay packed: the device has what that takes, and as float32 they are
/// large, or a room for more of them is asked for. Of a set of devices each member decides for its part.
///   rows     how many
///   where    where their caller has them
///   reserve  IndexOptions::reserve
bool stays_packed(const RowSchema& schema, std::int64_t rows, Where where, std::int64_t reserve);

/// Memory with `room` places, none of which is claimed. Locks the device. Throws out_of_memory.
std::shared_ptr<PackedMemory> packed_memory(const RowSchema& schema, std::int64_t room);

}  // namespace kith
