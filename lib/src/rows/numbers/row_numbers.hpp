// The numbers of training rows, which never change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kith {

/// A row has a place on the device, which compact() changes. It has a position: how many rows were ever given
/// that have smaller numbers, including removed ones. And it has a number: its id if rows have ids, else its
/// position. All three have the same order. Copies share memory.
class RowNumbers {
 public:
  /// Makes rows whose places are their numbers.
  explicit RowNumbers(std::int64_t rows = 0) : positions_(rows), next_(rows) {}
  ///   ids  ascending, checked by order_of_ids()
  explicit RowNumbers(std::vector<std::int64_t> ids);

  /// Makes the numbers that a file contains.
  ///   positions, next  as below
  ///   position, ids    [places] ascending; empty: places are positions, numbers are positions
  RowNumbers(std::int64_t positions, std::int64_t next, std::vector<std::int64_t> position,
             std::vector<std::int64_t> ids);

  /// Returns these rows with `count` more behind them.
  ///   rows  number of places so far
  ///   ids   empty: numbers continue; else ascending, checked by order_of_ids()
  RowNumbers with(std::int64_t rows, std::int64_t count, std::span<const std::int64_t> ids) const;
  /// Returns only the rows at these places.
  RowNumbers of(std::span<const std::int64_t> places) const;

  std::int64_t positions() const { return positions_; }  ///< how many rows were ever given
  std::int64_t next() const { return next_; }            ///< the number of the next row
  bool has_ids() const { return ids_ != nullptr; }
  /// Returns whether places are positions.
  bool in_place() const { return !position_; }

  std::int64_t number(std::int64_t place) const { return ids_ ? (*ids_)[at(place)] : position(place); }
  std::int64_t position(std::int64_t place) const { return position_ ? (*position_)[at(place)] : place; }
  /// Returns nothing if no row has the number. Removed rows still have places.
  ///   rows  number of places
  std::optional<std::int64_t> place_of_number(std::int64_t number, std::int64_t rows) const;
  std::optional<std::int64_t> place_of_position(std::int64_t position, std::int64_t rows) const;

  /// Replaces places by numbers; values below 0 do not change.
  void to_numbers(std::span<std::int64_t> rows) const;
  /// Returns [places] numbers by place; null: they equal the places.
  std::shared_ptr<const std::vector<std::int64_t>> by_place() const { return ids_ ? ids_ : position_; }

 private:
  using Numbers = std::shared_ptr<const std::vector<std::int64_t>>;
  static std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

  std::int64_t positions_, next_;
  Numbers position_;  ///< null: places are positions
  Numbers ids_;       ///< null: numbers are positions
};

/// Returns the order that makes ids ascend.
///   ids      [rows], or empty: there are none
///   least    the smallest allowed id
///   returns  [rows] places in `ids`; empty if they ascend, or there are none
/// Throws invalid_argument: another number of ids than rows, an id below `least`, the largest 64-bit number,
/// or an id that occurs twice.
std::vector<std::int64_t> order_of_ids(std::string_view where, std::span<const std::int64_t> ids,
                                       std::int64_t rows, std::int64_t least);

}  // namespace kith
