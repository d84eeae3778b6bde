// Implements the sequential programs of KNN in CUDA (Batlle, Ballber 2020) in plain C++: one thread, one
// query, every distance, a sort of (distance, class) pairs, a vote. They use double as up to knn01, or float
// as from knn02 on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith::experiments {

enum class SequentialSort {
  std_sort,        ///< std::sort of all pairs
  selection_sort,  ///< takes the smallest of the rest k times, which is all that a vote needs
  quick_sort,      ///< Hoare's partition around the median of three, short parts by insertion
};

std::string_view name(SequentialSort sort);

template <class Real>
struct SequentialAnswer {
  std::vector<Real> distance;        ///< [k], squared, ascending
  std::vector<std::uint32_t> votes;  ///< [classes]
  std::uint32_t winner = 0;          ///< the smallest of equally strong classes
};

/// Real is float or double.
template <class Real>
class SequentialProgram {
 public:
  /// Copies rows and labels.
  ///   train   [n, dims]
  ///   labels  [n], each < classes
  SequentialProgram(MatrixView<const float> train, std::span<const std::uint32_t> labels,
                    std::uint32_t classes);

  /// Compares pairs by their distances alone: as published, the sort decides which of several equally far
  /// rows has a vote.
  ///   query  [dims]
  ///   k      1 ... n
  SequentialAnswer<Real> classify(const float* query, std::int64_t k, SequentialSort sort);

 private:
  struct Pair {
    Real distance;
    std::uint32_t label;
  };
  static void selection_sort(std::span<Pair> pairs, std::size_t k);
  static void quick_sort(std::span<Pair> pairs);

  std::vector<Real> rows_;  ///< [n, dims]
  std::vector<std::uint32_t> labels_;
  std::vector<Pair> pairs_;
  std::size_t dims_;
  std::uint32_t classes_;
};

extern template class SequentialProgram<float>;
extern template class SequentialProgram<double>;

}  // namespace kith::experiments
