// An Index whose rows have labels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kith/index.hpp"

namespace kith {

/// What a classification returns.
struct Classification {
  std::vector<std::int64_t> label;   ///< [m], the caller's own labels
  std::vector<std::uint32_t> votes;  ///< [m, classes], one column a class, in the order of classes()
  Neighbors neighbors;               ///< [m, k], what the votes were counted from
};

/// What a sweep over several k returns, from one search for the largest.
struct Sweep {
  std::vector<std::vector<std::int64_t>> label;  ///< [ks.size()][m], one row for each k asked for
  Neighbors neighbors;                           ///< [m, largest k]
};

/// k-nearest-neighbour classification: each of the k neighbours has one vote, the class with the
/// most votes wins, and of several with as many the smallest label. docs/contract.md, section 5.
class KITH_API Classifier {
 public:
  /// Copy rows and labels to `device`.
  ///   train   [n, dims]  as for Index
  ///   labels  [n]        >= 0, any numbers, not necessarily dense
  /// Throws as Index does, and
  ///        invalid_argument: labels is not n long, or one is negative (names the first).
  Classifier(Device device, MatrixView<const float> train, std::span<const std::int64_t> labels,
             Metric metric = Metric::squared_l2);

  /// The label of each query.
  ///   queries  [m, dims]
  ///   returns  [m]
  /// Throws as Index::search() does.
  std::vector<std::int64_t> predict(MatrixView<const float> queries, std::int64_t k,
                                    const PlanOptions& options = {}) const;

  /// The same, with votes and neighbours.
  Classification classify(MatrixView<const float> queries, std::int64_t k, const PlanOptions& options = {},
                          Trace* trace = nullptr) const;

  /// The labels of each query for several k, by one search for the largest.
  ///   ks  at least one, any order, each in 1..n
  /// Throws as classify() does.
  Sweep sweep(MatrixView<const float> queries, std::span<const std::int64_t> ks,
              const PlanOptions& options = {}, Trace* trace = nullptr) const;

  const std::vector<std::int64_t>& classes() const;  ///< distinct labels, ascending
  const Index& index() const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace kith
