#include "structure/feature_sets.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/float_guard.hpp"
#include "kith/classifier.hpp"
#include "kith/error.hpp"
#include "kith/evaluation.hpp"
#include "kith/structure.hpp"

namespace kith {
namespace {

constexpr std::size_t sets_a_pass = 64;  // so that many features neither fill the memory nor delay a stop

}  // namespace

std::vector<std::int64_t> features_of(const FeatureSet& set) {
  std::vector<std::int64_t> features;
  for (std::size_t d = 0; d < set.size(); ++d)
    if (set[d]) features.push_back(static_cast<std::int64_t>(d));
  return features;
}

bool beats(double score, double other) {
  return std::isnan(other) ? !std::isnan(score) : score > other;
}

SetScores::SetScores(const Device& device, const RowsView& samples, std::span<const std::int64_t> labels,
                     Metric metric, const FeatureSelectionOptions& options)
    : device_(device),
      samples_(samples),
      labels_(labels),
      metric_(metric),
      options_(options),
      plan_(options.plan) {
  plan_.progress = nullptr;
}

std::vector<double> SetScores::of(std::span<const FeatureSet> sets, std::int64_t later) {
  std::vector<FeatureSet> unknown;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(unknown),
               [&](const FeatureSet& set) { return !known_.contains(set); });
  const std::int64_t expected = evaluated() + static_cast<std::int64_t>(unknown.size()) + later;
  if (options_.criterion == Criterion::informativeness)
    by_informativeness(unknown, expected);
  else
    by_leave_one_out(unknown, expected);
  std::vector<double> scores;
  for (const FeatureSet& set : sets) scores.push_back(known_.at(set));
  return scores;
}

void SetScores::by_informativeness(std::span<const FeatureSet> sets, std::int64_t expected) {
  for (std::size_t first = 0; first < sets.size(); first += sets_a_pass) {
    check_stop();
    const auto pass = sets.subspan(first, std::min(sets_a_pass, sets.size() - first));
    std::vector<std::vector<std::int64_t>> features;
    for (const FeatureSet& set : pass) features.push_back(features_of(set));
    const std::vector<ClassMatrix> matrices =
        class_matrices(device_, samples_, labels_, metric_, features, plan_);
    for (std::size_t i = 0; i < pass.size(); ++i) known_[pass[i]] = matrices[i].informativeness;
    report(expected);
  }
}

void SetScores::by_leave_one_out(std::span<const FeatureSet> sets, std::int64_t expected) {
  for (const FeatureSet& set : sets) {
    check_stop();
    const Classifier classifier(device_, samples_, labels_, metric_, {.features = features_of(set)});
    known_[set] =
        leave_one_out(classifier, samples_, options_.k, options_.voting, plan_).accuracy(options_.k);
    report(expected);
  }
}

void SetScores::check_stop() const {
  if (plan_.stop.stop_requested())
    throw Error(Errc::interrupted, "select_features: stopped after " + std::to_string(evaluated()) +
                                       " sets, as was asked; nothing is returned");
}

void SetScores::report(std::int64_t expected) const {
  if (options_.progress) call_back(options_.progress, evaluated(), expected);
}

}  // namespace kith
