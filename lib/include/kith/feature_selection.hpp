// Searches for the columns that tell classes apart.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "kith/choices.hpp"
#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "kith/rows_view.hpp"
#include "kith/voting.hpp"

namespace kith {

KITH_API std::string_view name(Criterion criterion);
KITH_API std::string_view name(SelectionMethod method);

struct FeatureSelectionOptions {
  Criterion criterion = Criterion::informativeness;
  SelectionMethod method = SelectionMethod::forward;
  std::int64_t most = 0;   ///< size of the largest set (forward, floating); 0: all
  std::int64_t least = 1;  ///< size of the smallest set (backward)
  std::int64_t k = 1;      ///< for leave_one_out
  VotingOptions voting;    ///< for leave_one_out
  SearchOptions plan;      ///< without filter and self; its progress is not called
  /// Is called as sets are done, with the number tried and the number expected (for floating a lower bound).
  /// It may throw to stop the search.
  std::function<void(std::int64_t done, std::int64_t expected)> progress = {};
  /// Precision of the distances, as IndexOptions::arithmetic: `automatic` is f64 for samples of f64.
  Arithmetic arithmetic = Arithmetic::automatic;
};

/// Holds one step of a selection.
struct FeatureStep {
  bool added = true;                   ///< false: dropped
  std::int64_t feature = 0;            ///< the feature added or dropped
  std::vector<std::int64_t> features;  ///< the set after it, ascending
  double score = 0;                    ///< score of that set
};

struct FeatureSelection {
  std::vector<FeatureStep> steps;  ///< in the order they were taken
  /// The set of the highest score among those of the steps (for backward also the set of all features),
  /// ascending. Among equally good sets it is the smallest, then the first.
  std::vector<std::int64_t> best;
  double best_score = 0;
  double all_score = 0;                     ///< score of the set of all features
  std::int64_t evaluated = 0;               ///< number of different sets tried
  Arithmetic arithmetic = Arithmetic::f32;  ///< of the distances: f32 or f64
};

/// Searches for features. Among equal scores it takes the feature of the lowest number, so that every device
/// chooses the same; a score that is NaN counts as the worst. docs/contract.md, section 12.
///   samples  [n, dims]
///   labels   [n]
/// Throws as class_matrices() or Classifier and leave_one_out() do, and invalid_argument if most, least or k
///        are out of range, or the plan has a filter, self or a radius.
KITH_API FeatureSelection select_features(const Device& device, const RowsView& samples,
                                          std::span<const std::int64_t> labels, Metric metric,
                                          const FeatureSelectionOptions& options);

}  // namespace kith
