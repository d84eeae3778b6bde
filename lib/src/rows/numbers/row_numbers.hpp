// The numbers of training rows: given once, kept for ever.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kith {

/// A row has a place on the device, which compact() changes; a position, which is how many rows were given
/// before it in the order of numbers, those that are removed by now included; and a number, which is its id
/// where rows have ids of their own, else its position. All three ascend together. Copies share memory.
class RowNumbers {
 public:
  /// Of rows whose places are their numbers.
  explicit RowNumbers(std::int64_t rows = 0) : positions_(rows), next_(rows) {}
  ///   ids  ascending, as checked_ids() leaves them
  explicit RowNumbers(std::vector<std::int64_t> ids);

  /// As a file has them.
  ///   positions, next  as below
  ///   position, ids    [places] ascending; empty: places are positions, numbers are positions
  RowNumbers(std::int64_t positions, std::int64_t next, std::vector<std::int64_t> position,
             std::vector<std::int64_t> ids);

  /// And `count` rows behind these.
  ///   rows  places so far
  ///   ids   empty: numbered on; else as checked_ids() leaves them
  RowNumbers with(std::int64_t rows, std::int64_t count, std::span<const std::int64_t> ids) const;
  /// Those of the rows at these places alone.
  RowNumbers of(std::span<const std::int64_t> places) const;

  std::int64_t positions() const { return positions_; }  ///< that were given
  std::int64_t next() const { return next_; }            ///< the number of the next row
  bool has_ids() const { return ids_ != nullptr; }
  /// Whether places are positions.
  bool in_place() const { return !position_; }

  std::int64_t number(std::int64_t place) const { return ids_ ? (*ids_)[at(place)] : position(place); }
  std::int64_t position(std::int64_t place) const { return position_ ? (*position_)[at(place)] : place; }
  /// Nothing where no row has the number. Of places that are not removed and of those that are.
  ///   rows  places
  std::optional<std::int64_t> place_of_number(std::int64_t number, std::int64_t rows) const;
  std::optional<std::int64_t> place_of_position(std::int64_t position, std::int64_t rows) const;

  /// Places as numbers. What is below 0 stays.
  void to_numbers(std::span<std::int64_t> rows) const;
  /// [places]  numbers by place; null: they are the places.
  std::shared_ptr<const std::vector<std::int64_t>> by_place() const { return ids_ ? ids_ : position_; }

 private:
  using Numbers = std::shared_ptr<const std::vector<std::int64_t>>;
  static std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

  std::int64_t positions_, next_;
  Numbers position_;  ///< null: places are positions
  Numbers ids_;       ///< null: numbers are positions
};

/// The order that makes ids ascend.
///   ids      [rows], or empty: there are none
///   least    the smallest that may be given
///   returns  [rows] places in `ids`; empty where they ascend, or there are none
/// Throws invalid_argument: another count than rows, an id below `least`, the largest of 64 bits, or one that
/// is there twice.
std::vector<std::int64_t> order_of_ids(std::string_view where, std::span<const std::int64_t> ids,
                                       std::int64_t rows, std::int64_t least);

}  // namespace kith
