// Sorts rows into k-d order, in which rows of a leaf, 32 each, lie close together. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// A k-d order of rows, and the order of queries that follows from it.
class BoxOrder {
 public:
  /// Splits the rows recursively, between whole leaves, at the median of the column with the largest extent.
  ///   rows   [n, dims]  finite
  ///   check  the calling thread calls it now and then; it may throw to stop
  BoxOrder(MatrixView<const float> rows, std::uint32_t threads, const std::function<void()>& check);

  /// Returns the row at each position, [n].
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }

  /// Returns the numbers of the queries, sorted by the leaf that each falls into. Fewer queries than leaves
  /// are sorted by blocks of leaves alone.
  ///   queries  [m, dims]
  std::vector<std::uint32_t> order_of(MatrixView<const float> queries, std::uint32_t threads) const;
  /// Returns how many bytes of host memory the order takes.
  std::size_t bytes() const;

 private:
  /// A split between the leaves before it and those from it on.
  struct Split {
    std::uint32_t column = 0;
    float value = 0;  ///< no row after the split has a smaller value
  };
  /// A range of leaves.
  struct Part {
    std::size_t first_leaf, leaves;
  };
  struct Item {
    float value;
    std::uint32_t row;
  };

  static void select(Item* begin, Item* middle, Item* end);
  std::size_t split(const MatrixView<const float>& rows, std::vector<Item>& items, Part part);
  void split_all(const MatrixView<const float>& rows, std::vector<Item>& items, Part part);
  /// Returns the first leaf of the part that a query falls into, of at most `grain` leaves.
  std::size_t leaf_of(const float* query, std::size_t grain) const;

  std::size_t leaves_;
  std::vector<Split> splits_;  ///< [leaves] the split at the leaf with which a part begins
  std::vector<std::uint32_t> numbers_;
};

}  // namespace kith
