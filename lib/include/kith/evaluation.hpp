// Evaluates a classifier, for all k at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// The most bytes that the confusion of an Evaluation may take.
inline constexpr std::size_t most_confusion_bytes = std::size_t{1} << 30;

/// Holds the scores of one class, for one k. A quotient whose divisor is 0 is 0.
struct ClassScore {
  double precision = 0;      ///< right answers of this class / answers of this class
  double recall = 0;         ///< right answers of this class / rows of this class
  double f1 = 0;             ///< 2 precision recall / (precision + recall)
  std::int64_t support = 0;  ///< rows of this class
};

/// Compares answers with the truth for each k in 1 ... k_max, by one search for k_max. The answers are those
/// of Classifier::classify() for that k. A query without an answer counts as wrong, whatever
/// VotingOptions::no_label is. docs/contract.md, section 12.
struct KITH_API Evaluation {
  std::int64_t rows = 0;  ///< queries evaluated
  std::int64_t k_max = 0;
  std::vector<std::int64_t> classes;  ///< labels of training rows and truth, ascending
  /// [k_max, classes, classes + 1]  number of queries by true class (row) and answered class (column); the
  /// last column counts queries without an answer
  std::vector<std::uint32_t> confusion;
  std::vector<std::int64_t> correct;  ///< [k_max]  number of right answers

  /// These throw invalid_argument if k is outside 1..k_max.
  double accuracy(std::int64_t k) const;  ///< correct / rows
  std::int64_t best_k() const;            ///< the k of the highest accuracy, the smallest if several
  std::vector<ClassScore> scores(std::int64_t k) const;               ///< [classes]
  std::span<const std::uint32_t> confusion_of(std::int64_t k) const;  ///< [classes, classes + 1]
  bool operator==(const Evaluation&) const = default;
};

/// Evaluates queries with known answers, by the first output.
///   queries  [m, dims], m >= 1
///   truth    [m]  any labels, also those that no training row has
///   k_max    1..n
/// Throws as Classifier::classify() does, and invalid_argument if truth is not m or there are no queries;
///        out_of_memory if the confusion would take more than most_confusion_bytes (says how much).
KITH_API Evaluation evaluate(const Classifier& classifier, const RowsView& queries,
                             std::span<const std::int64_t> truth, std::int64_t k_max,
                             const VotingOptions& voting = {}, const SearchOptions& options = {},
                             Trace* trace = nullptr);

/// Evaluates every training row by all others, in one search that excludes each row by its number.
///   train  [n, dims]  the rows that the classifier was made of; if they have ids, in the order of these
///   k_max  1..n-1
/// Throws as evaluate() does, and invalid_argument if the rows have another shape or options.self is set.
KITH_API Evaluation leave_one_out(const Classifier& classifier, const RowsView& train, std::int64_t k_max,
                                  const VotingOptions& voting = {}, const SearchOptions& options = {},
                                  Trace* trace = nullptr);

/// Returns the fold of each row. Rows of each class are shuffled by `seed`, in the same way on every machine,
/// and dealt out in turn, so that folds differ by at most one row, and by at most one row of each class.
///   folds    2..n
///   returns  [n]  0..folds-1
/// Throws invalid_argument if there are fewer than two rows, or folds are out of range.
KITH_API std::vector<std::int64_t> stratified_folds(std::span<const std::int64_t> labels, std::int64_t folds,
                                                    std::uint64_t seed = 0);

/// Evaluates every training row by the rows of all other folds, with one search per fold, on the rows that
/// the classifier has on its device.
///   train  [n, dims]  as for leave_one_out()
///   folds  [n]        numbers >= 0, at least two different
///   k_max  1..n - the largest fold
///   trace  gets the sums over all searches, and the plan of the first
/// Throws as leave_one_out() does, and invalid_argument if folds are not n, if one is negative, if all are
///        the same, or if options.filter is set.
KITH_API Evaluation cross_validate(const Classifier& classifier, const RowsView& train,
                                   std::span<const std::int64_t> folds, std::int64_t k_max,
                                   const VotingOptions& voting = {}, const SearchOptions& options = {},
                                   Trace* trace = nullptr);

}  // namespace kith
