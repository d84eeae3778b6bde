// Counts votes as docs/contract.md, section 5, defines them: slowly, and with no code of the library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/data.hpp"
#include "kith/neighbors.hpp"
#include "kith/unstable/stages.hpp"
#include "kith/voting.hpp"
#include "workloads/random.hpp"

namespace kith::tests {

/// Holds what a vote needs to know of a neighbour.
struct Neighbour {
  std::int64_t label = 0;
  float distance = 0;
  float sample_weight = 1;
};

/// Returns the first k neighbours of query q. `sample_weights` [n] may be empty.
inline std::vector<Neighbour> list_of(const Neighbors& found, std::size_t q, std::int64_t k,
                                      const std::vector<std::int64_t>& labels,
                                      const std::vector<float>& sample_weights = {}) {
  std::vector<Neighbour> list;
  for (std::size_t i = q * size(found.k); i < q * size(found.k) + size(k) && found.row[i] >= 0; ++i) {
    const std::size_t t = size(found.row[i]);
    list.push_back({labels[t], found.distance[i], sample_weights.empty() ? 1.0f : sample_weights[t]});
  }
  return list;
}

/// Counts the votes of one list of neighbours.
class VoteOracle {
 public:
  VoteOracle(const VotingOptions& voting, const std::vector<std::int64_t>& labels)
      : voting_(voting), classes_(std::set(labels.begin(), labels.end())) {}

  /// Computes the weight of each neighbour: [neighbours].
  std::vector<float> weights(const std::vector<Neighbour>& list) const {
    const float most = 0x1p95f;
    bool zero = false;
    for (const Neighbour& n : list) zero = zero || n.distance <= 0;
    std::vector<float> all;
    for (std::size_t j = 0; j < list.size(); ++j) {
      float weight = 1;
      if (voting_.weights == Weights::rank) weight = voting_.rank_weights[j];
      if (voting_.weights == Weights::distance && zero) weight = list[j].distance <= 0 ? 1.0f : 0.0f;
      if (voting_.weights == Weights::distance && !zero) weight = 1.0f / list[j].distance;
      if (weight > most) weight = most;
      weight = weight * list[j].sample_weight;
      all.push_back(weight > most ? most : weight);
    }
    return all;
  }

  std::vector<std::uint32_t> votes(const std::vector<Neighbour>& list) const {
    std::map<std::int64_t, std::uint32_t> counted;
    for (const Neighbour& n : list) ++counted[n.label];
    std::vector<std::uint32_t> all;
    for (const std::int64_t label : classes_) all.push_back(counted[label]);
    return all;
  }

  /// Computes the score of each class: [classes], in ascending order of labels.
  std::vector<float> scores(const std::vector<Neighbour>& list) const {
    const std::vector<float> weight = weights(list);
    std::vector<float> all;
    for (const std::int64_t label : classes_) {
      float sum = 0;
      for (std::size_t j = 0; j < list.size(); ++j)
        if (list[j].label == label) sum = sum + weight[j];
      all.push_back(sum);
    }
    return all;
  }

  std::vector<double> shares(const std::vector<Neighbour>& list) const {
    std::vector<double> all = values(list);
    double sum = 0;
    for (const double value : all) sum += value;
    for (double& value : all) value = sum > 0 ? value / sum : 0;
    return all;
  }

  std::int64_t label(const std::vector<Neighbour>& list) const {
    const std::vector<std::int64_t> tied = leaders(list);
    if (tied.empty()) return voting_.no_label;
    if (tied.size() == 1) return tied[0];
    const std::vector<float> weight = weights(list);
    const auto is_tied = [&](std::int64_t label) {
      return std::find(tied.begin(), tied.end(), label) != tied.end();
    };
    if (voting_.tie == TieRule::abstain) return voting_.no_label;
    if (voting_.tie == TieRule::nearest)
      for (std::size_t j = 0; j < list.size(); ++j)
        if (weight[j] > 0 && is_tied(list[j].label)) return list[j].label;
    if (voting_.tie == TieRule::smallest_distance) {
      std::map<std::int64_t, double> sums;
      for (std::size_t j = 0; j < list.size(); ++j)
        if (weight[j] > 0 && is_tied(list[j].label)) sums[list[j].label] += double{list[j].distance};
      if (!sums.empty())
        return std::min_element(sums.begin(), sums.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }
    if (voting_.tie == TieRule::fewer_neighbors)
      for (std::size_t k = list.size(); k-- > 0;) {
        const auto fewer = leaders({list.begin(), list.begin() + static_cast<std::ptrdiff_t>(k)});
        if (fewer.size() == 1) return fewer[0];
      }
    return tied[0];
  }

 private:
  std::vector<double> values(const std::vector<Neighbour>& list) const {
    std::vector<double> all;
    for (const float score : scores(list)) all.push_back(double{score});
    for (std::size_t c = 0; c < voting_.priors.size(); ++c) all[c] *= voting_.priors[c];
    return all;
  }

  /// Returns the labels that share the best value, ascending.
  std::vector<std::int64_t> leaders(const std::vector<Neighbour>& list) const {
    std::vector<double> merit = values(list);
    if (*std::max_element(merit.begin(), merit.end()) == 0) return {};
    if (!voting_.costs.empty()) {
      const std::vector<double> value = merit;
      for (std::size_t answer = 0; answer < value.size(); ++answer) {
        merit[answer] = 0;
        for (std::size_t right = 0; right < value.size(); ++right)
          merit[answer] -= value[right] * voting_.costs[right * value.size() + answer];
      }
    }
    std::vector<std::int64_t> best;
    std::size_t c = 0;
    for (const std::int64_t label : classes_)
      if (merit[c++] == *std::max_element(merit.begin(), merit.end())) best.push_back(label);
    return best;
  }

  VotingOptions voting_;
  std::set<std::int64_t> classes_;
};

/// Returns voting options for up to `longest` neighbours and `classes` classes: all weights and tie rules,
/// with priors and costs that produce ties.
inline std::vector<VotingOptions> ways_to_vote(std::size_t longest, std::size_t classes) {
  std::vector<VotingOptions> ways;
  for (const Weights weights : {Weights::uniform, Weights::distance, Weights::rank})
    for (const TieRule tie : {TieRule::smallest_label, TieRule::nearest, TieRule::smallest_distance,
                              TieRule::fewer_neighbors, TieRule::abstain})
      for (const int extra : {0, 1, 2, 3}) {
        VotingOptions way{.weights = weights, .tie = tie, .no_label = -77};
        workloads::Random random(classes + static_cast<std::size_t>(extra));
        if (weights == Weights::rank)  // weights of 0 to 3, so that sums tie
          for (std::size_t j = 0; j < longest; ++j)
            way.rank_weights.push_back(static_cast<float>(random.below(4)));
        if (extra & 1)
          for (std::size_t c = 0; c < classes; ++c)
            way.priors.push_back(0.5 * static_cast<double>(1 + random.below(3)));
        if (extra & 2)
          for (std::size_t i = 0; i < classes * classes; ++i)
            way.costs.push_back(i % (classes + 1) == 0 ? 0 : static_cast<double>(1 + random.below(2)));
        ways.push_back(way);
      }
  return ways;
}

inline std::string text_of(const VotingOptions& voting) {
  return "weights " + std::string(name(voting.weights)) + ", tie " + std::string(name(voting.tie)) + ", " +
         std::to_string(voting.priors.size()) + " priors, " + std::to_string(voting.costs.size()) + " costs";
}

/// Returns lists of k rows at growing distances, as stages::KeyLists.
inline stages::KeyLists lists_of_rows(std::int64_t k, const std::vector<std::uint32_t>& rows) {
  stages::KeyLists lists{static_cast<std::int64_t>(rows.size()) / k, 1, k, {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    lists.keys.push_back(rows[i] == no_row ? no_key : make_key(static_cast<float>(i), rows[i]));
  return lists;
}

}  // namespace kith::tests
