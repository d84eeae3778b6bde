// Sorts rows into k-d order: neighbours stand together, 32 of them in a leaf. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// A k-d order of rows, and the order of queries that follows from it.
class BoxOrder {
 public:
  /// Splits the rows again and again, at whole leaves, at the middle of the column in which they
  /// reach furthest.
  ///   rows   [n, dims]  finite
  ///   check  called now and then by the calling thread; may throw to stop
  BoxOrder(MatrixView<const float> rows, std::uint32_t threads, const std::function<void()>& check);

  /// The row at each position, [n].
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }

  /// Returns the numbers of the queries, sorted by the leaf that each falls into.
  ///   queries  [m, dims]
  std::vector<std::uint32_t> order_of(MatrixView<const float> queries, std::uint32_t threads) const;
  /// Returns the bytes of host memory that it takes.
  std::size_t bytes() const;

 private:
  /// Separates the leaves before it from those from it on.
  struct Split {
    std::uint32_t column = 0;
    float value = 0;  ///< rows after the split are not less than it
  };
  /// A range of leaves.
  struct Part {
    std::size_t first_leaf, leaves;
  };
  struct Item {
    float value;
    std::uint32_t row;
  };

  std::size_t split(const MatrixView<const float>& rows, std::vector<Item>& items, Part part);
  void split_all(const MatrixView<const float>& rows, std::vector<Item>& items, Part part);
  std::size_t leaf_of(const float* query) const;

  std::size_t leaves_;
  std::vector<Split> splits_;  ///< [leaves] the split at which a part begins with this leaf
  std::vector<std::uint32_t> numbers_;
};

}  // namespace kith
