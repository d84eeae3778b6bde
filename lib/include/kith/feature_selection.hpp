// Which columns tell classes apart: a search over sets of features.
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
#include "kith/plan.hpp"
#include "kith/rows_view.hpp"
#include "kith/voting.hpp"

namespace kith {

KITH_API std::string_view name(Criterion criterion);
KITH_API std::string_view name(SelectionMethod method);
KITH_API Criterion criterion_named(std::string_view text);
KITH_API SelectionMethod selection_method_named(std::string_view text);

struct FeatureSelectionOptions {
  Criterion criterion = Criterion::informativeness;
  SelectionMethod method = SelectionMethod::forward;
  std::int64_t most = 0;   ///< features of the largest set asked for (forward, floating); 0: all
  std::int64_t least = 1;  ///< features of the smallest (backward)
  std::int64_t k = 1;      ///< for leave_one_out
  VotingOptions voting;    ///< for leave_one_out
  PlanOptions plan;        ///< without filter and self; its progress is not called
  /// Called as sets are done, with how many were tried and how many it will be: for floating at least. May
  /// throw to stop.
  std::function<void(std::int64_t done, std::int64_t expected)> progress = {};
};

/// One step of a selection.
struct FeatureStep {
  bool added = true;                   ///< or dropped
  std::int64_t feature = 0;            ///< which
  std::vector<std::int64_t> features;  ///< the set after it, ascending
  double score = 0;                    ///< of that set
};

struct FeatureSelection {
  std::vector<FeatureStep> steps;  ///< in the order they were taken
  /// Of the sets of the steps (backward: and that of all features) the one of the highest score; of several
  /// the smallest, then the first. Ascending.
  std::vector<std::int64_t> best;
  double best_score = 0;
  double all_score = 0;        ///< of all features
  std::int64_t evaluated = 0;  ///< different sets that were tried
};

/// Search for features. Of candidates with equal scores the one of the smallest number is taken, so that
/// every device chooses the same; a score that is NaN is below all others. docs/contract.md, section 12.
///   samples  [n, dims]    labels  [n]
/// Throws as class_matrices() or Classifier and leave_one_out() do, and
///        invalid_argument: most, least or k outside their range, a plan with a filter or self.
KITH_API FeatureSelection select_features(const Device& device, const RowsView& samples,
                                          std::span<const std::int64_t> labels, Metric metric,
                                          const FeatureSelectionOptions& options);

}  // namespace kith
