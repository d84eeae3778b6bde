// Computes scores of sets of features, each once.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kith/feature_selection.hpp"

namespace kith {

using FeatureSet = std::vector<bool>;  ///< [dims], true: the feature counts

/// Returns the features of a set, ascending.
std::vector<std::int64_t> features_of(const FeatureSet& set);

/// Returns whether a score is better than another: NaN is worse than all others, and equal to itself.
bool beats(double score, double other);

/// Asks the criterion for scores of sets, and remembers them.
class SetScores {
 public:
  SetScores(const Device& device, const RowsView& samples, std::span<const std::int64_t> labels,
            Metric metric, const FeatureSelectionOptions& options);

  /// Returns the scores of `sets`, in their order; computes unknown ones together.
  ///   later  number of sets that will follow, for options.progress
  /// Throws interrupted if options.plan.stop was asked to stop.
  std::vector<double> of(std::span<const FeatureSet> sets, std::int64_t later);

  std::int64_t evaluated() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  void by_informativeness(std::span<const FeatureSet> sets, std::int64_t expected);
  void by_leave_one_out(std::span<const FeatureSet> sets, std::int64_t expected);
  void check_stop() const;
  void report(std::int64_t expected) const;

  const Device& device_;
  RowsView samples_;
  std::span<const std::int64_t> labels_;
  Metric metric_;
  const FeatureSelectionOptions& options_;
  SearchOptions plan_;  ///< the plan of options_, without its progress
  std::unordered_map<FeatureSet, double> known_;
};

}  // namespace kith
