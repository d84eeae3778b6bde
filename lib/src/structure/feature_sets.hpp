// Scores of sets of features, each computed once.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kith/feature_selection.hpp"

namespace kith {

using FeatureSet = std::vector<bool>;  ///< [dims], true: the feature counts

/// The features of a set, ascending.
std::vector<std::int64_t> features_of(const FeatureSet& set);

/// Whether a score is the better one: NaN is below all others, and as good as itself.
bool beats(double score, double other);

/// Asks the criterion about sets, and remembers what it said.
class SetScores {
 public:
  SetScores(const Device& device, MatrixView<const float> samples, std::span<const std::int64_t> labels,
            Metric metric, const FeatureSelectionOptions& options);

  /// The scores of `sets`, in their order; those not known yet are computed together.
  ///   later  sets that will follow, for options.progress
  /// Throws interrupted: options.plan.stop was asked to stop.
  std::vector<double> of(std::span<const FeatureSet> sets, std::int64_t later);

  std::int64_t evaluated() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  void by_informativeness(std::span<const FeatureSet> sets, std::int64_t expected);
  void by_leave_one_out(std::span<const FeatureSet> sets, std::int64_t expected);
  void check_stop() const;
  void report(std::int64_t expected) const;

  const Device& device_;
  MatrixView<const float> samples_;
  std::span<const std::int64_t> labels_;
  Metric metric_;
  const FeatureSelectionOptions& options_;
  PlanOptions plan_;  ///< of options_, without its progress
  std::unordered_map<FeatureSet, double> known_;
};

}  // namespace kith
