// Counts which class was predicted for which true class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::report {

/// Counts of (true class, predicted class); classes are 0 .. classes-1.
class Confusion {
 public:
  Confusion() = default;
  ///   truth, predicted  [m]
  Confusion(std::size_t classes, std::span<const std::size_t> truth, std::span<const std::size_t> predicted);

  ///   counts  [classes, classes], rows are truth
  Confusion(std::size_t classes, std::vector<std::int64_t> counts);

  std::size_t classes() const { return classes_; }
  std::int64_t at(std::size_t truth, std::size_t predicted) const {
    return counts_[truth * classes_ + predicted];
  }
  std::int64_t total() const { return total_; }
  std::int64_t correct() const;
  double accuracy() const;                      ///< correct / total
  std::int64_t truth(std::size_t c) const;      ///< number of rows of class c
  std::int64_t predicted(std::size_t c) const;  ///< number of rows that were predicted as class c

  /// Returns the share of rows predicted as c that are of class c; NaN if none was predicted as c.
  double precision(std::size_t c) const;
  /// Returns the share of rows of class c that were predicted as c; NaN if there is no such row.
  double recall(std::size_t c) const;
  /// Returns the harmonic mean of the two: 2 correct / (truth + predicted). NaN if c occurs nowhere.
  double f1(std::size_t c) const;

  struct Pair {
    std::size_t truth, predicted;
    std::int64_t count;
  };
  /// Returns the pairs of different classes that occurred, the most frequent first.
  std::vector<Pair> mistakes() const;

 private:
  std::size_t classes_ = 0;
  std::int64_t total_ = 0;
  std::vector<std::int64_t> counts_;             ///< [classes, classes], rows are truth
  std::vector<std::int64_t> truth_, predicted_;  ///< [classes]
};

}  // namespace kith::report
