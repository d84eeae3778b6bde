// The expected steps of each method of feature selection, from the scores of all sets of features.
#pragma once

#include "kith/feature_selection.hpp"
#include "structure/structure_cases.hpp"

namespace kith::tests {

using Features = std::vector<std::int64_t>;
using Set32 = unsigned;  ///< bit d: feature d counts

inline Features listed(Set32 set) {
  Features features;
  for (int d = 0; d < 32; ++d)
    if (set >> d & 1) features.push_back(d);
  return features;
}

/// Returns the rows with only the columns of a set.
inline Matrix columns(const Matrix& samples, Set32 set) {
  return columns_of(samples, listed(set));
}

/// Returns the share of rows whose nearest other row (the first of several) has the same label.
inline double nearest_right(const Matrix& samples, const Labels& labels) {
  const std::size_t n = labels.size();
  const std::vector<float> values = chains(Metric::squared_l2, samples, samples);
  std::size_t right = 0;
  for (std::size_t q = 0; q < n; ++q) {
    std::size_t best = n;
    for (std::size_t t = 0; t < n; ++t)
      if (t != q && (best == n || values[q * n + t] < values[q * n + best])) best = t;
    right += labels[best] == labels[q];
  }
  return static_cast<double>(right) / static_cast<double>(n);
}

/// Returns the score of every set of features, by a criterion.
inline std::map<Set32, double> all_scores(const Matrix& samples, const Labels& labels, Criterion criterion) {
  std::map<Set32, double> scores;
  const Set32 all = (1u << samples.cols) - 1;
  std::vector<Features> sets;
  for (Set32 set = 1; set <= all; ++set) sets.push_back(listed(set));
  if (criterion == Criterion::informativeness) {
    const auto matrices = class_matrices(device(), samples, labels, Metric::squared_l2, sets);
    for (Set32 set = 1; set <= all; ++set) scores[set] = matrices[set - 1].informativeness;
  } else {
    for (Set32 set = 1; set <= all; ++set) scores[set] = nearest_right(columns(samples, set), labels);
  }
  return scores;
}

/// Returns the best set of `wanted` features that contains `inside` and lies within `outside`. Among equal
/// sets, the first feature that differs from `from` decides.
inline Set32 best_between(const std::map<Set32, double>& scores, int wanted, Set32 inside, Set32 outside,
                          Set32 from) {
  Set32 best = 0;
  for (const auto& [set, score] : scores) {
    if (std::popcount(set) != wanted || (set & inside) != inside || (set | outside) != outside) continue;
    if (best == 0 || score > scores.at(best) ||
        (score == scores.at(best) && std::countr_zero(set ^ from) < std::countr_zero(best ^ from)))
      best = set;
  }
  return best;
}

/// Returns the sets that a method chooses one after another, from the scores of all sets.
inline std::vector<Set32> path(const std::map<Set32, double>& scores, SelectionMethod method, int dims) {
  const Set32 all = (1u << dims) - 1;
  std::vector<Set32> sets;
  Set32 now = method == SelectionMethod::backward ? all : 0;
  if (method == SelectionMethod::backward)
    for (int wanted = dims - 1; wanted >= 1; --wanted)
      sets.push_back(now = best_between(scores, wanted, 0, now, now));
  if (method == SelectionMethod::forward)
    for (int wanted = 1; wanted <= dims; ++wanted)
      sets.push_back(now = best_between(scores, wanted, now, all, now));
  std::map<int, double> best_of;
  while (method == SelectionMethod::floating && now != all) {
    sets.push_back(now = best_between(scores, std::popcount(now) + 1, now, all, now));
    const auto known = best_of.try_emplace(std::popcount(now), scores.at(now)).first;
    known->second = std::max(known->second, scores.at(now));
    while (std::popcount(now) > 1) {
      const Set32 less = best_between(scores, std::popcount(now) - 1, 0, now, now);
      if (scores.at(less) <= best_of.at(std::popcount(less))) break;
      sets.push_back(now = less);
      best_of[std::popcount(now)] = scores.at(now);
    }
  }
  return sets;
}

}  // namespace kith::tests
