// How well a classifier does, for every k at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// The confusion of an Evaluation takes no more.
inline constexpr std::size_t most_confusion_bytes = std::size_t{1} << 30;

/// Of one class, for one k. A quotient whose divisor is 0 is 0.
struct ClassScore {
  double precision = 0;      ///< right answers of this class / answers of this class
  double recall = 0;         ///< right answers of this class / rows of this class
  double f1 = 0;             ///< 2 precision recall / (precision + recall)
  std::int64_t support = 0;  ///< rows of this class
};

/// Answers compared with the truth, for each k in 1 ... k_max, from one search for k_max: the same that
/// Classifier::classify() gives for that k. A query without an answer is not right, whatever
/// VotingOptions::no_label is. docs/contract.md, section 12.
struct KITH_API Evaluation {
  std::int64_t rows = 0;  ///< that were asked
  std::int64_t k_max = 0;
  std::vector<std::int64_t> classes;  ///< of training rows and truth, ascending
  /// [k_max, classes, classes + 1]  rows whose truth is the class of the row, and whose answer the class of
  /// the column; the last column: without an answer
  std::vector<std::uint32_t> confusion;
  std::vector<std::int64_t> correct;  ///< [k_max]

  /// These throw invalid_argument: a k outside 1..k_max.
  double accuracy(std::int64_t k) const;                 ///< correct / rows
  std::int64_t best_k() const;                           ///< of the highest accuracy; of several the smallest
  std::vector<ClassScore> scores(std::int64_t k) const;  ///< [classes]
  std::span<const std::uint32_t> confusion_of(std::int64_t k) const;  ///< [classes, classes + 1]
  bool operator==(const Evaluation&) const = default;
};

/// Queries with known answers, by the first output.
///   queries  [m, dims], m >= 1    truth  [m]  any labels, also those no training row has
///   k_max    1..n
/// Throws as Classifier::classify() does, and
///        invalid_argument: truth is not m, there are no queries.
///        out_of_memory:    the confusion would take more than most_confusion_bytes (says how much).
KITH_API Evaluation evaluate(const Classifier& classifier, const RowsView& queries,
                             std::span<const std::int64_t> truth, std::int64_t k_max,
                             const VotingOptions& voting = {}, const PlanOptions& options = {},
                             Trace* trace = nullptr);

/// Every training row by all others: one search, each row excluded by its number.
///   train  [n, dims]  the rows the classifier was made of, where they have ids in the order of these
///   k_max  1..n-1
/// Throws as evaluate() does, and invalid_argument: rows of another shape, options.self is set.
KITH_API Evaluation leave_one_out(const Classifier& classifier, const RowsView& train, std::int64_t k_max,
                                  const VotingOptions& voting = {}, const PlanOptions& options = {},
                                  Trace* trace = nullptr);

/// The fold of each row. Rows of each class are shuffled by `seed`, in the same way on every machine, and
/// dealt out in turn, so that folds differ by at most one row, and by at most one row of each class.
///   folds    2..n
///   returns  [n]  0..folds-1
/// Throws invalid_argument: fewer than two rows, folds outside their range.
KITH_API std::vector<std::int64_t> stratified_folds(std::span<const std::int64_t> labels, std::int64_t folds,
                                                    std::uint64_t seed = 0);

/// Every training row by the rows of all other folds: one search a fold, on the rows the classifier has on
/// its device already.
///   train  [n, dims]  as for leave_one_out()
///   folds  [n]        numbers >= 0, at least two different
///   k_max  1..n - the largest fold
///   trace  the sums over all searches, and the plan of the first
/// Throws as leave_one_out() does, and invalid_argument: folds are not n, one is negative, all are the same,
///                                                       or options.filter is set.
KITH_API Evaluation cross_validate(const Classifier& classifier, const RowsView& train,
                                   std::span<const std::int64_t> folds, std::int64_t k_max,
                                   const VotingOptions& voting = {}, const PlanOptions& options = {},
                                   Trace* trace = nullptr);

}  // namespace kith
