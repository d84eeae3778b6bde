// Computes the weight of a neighbour's vote: docs/contract.md, section 5.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/voting.hpp"

namespace kith {

/// Larger weights count as this one, so that no sum of weights overflows: there are fewer than 2^32 rows.
inline constexpr float largest_weight = 0x1p95f;

/// Priors are between these two, and costs at most the second, so that no product of them with a score leaves
/// the normal numbers of double precision.
inline constexpr double least_factor = 1e-100, largest_factor = 1e100;

/// Weighs neighbours, nearest first. Refers to its arguments. Needs a FloatGuard.
class Weigher {
 public:
  /// Requires arguments that are checked. `sample_weights`: [n], or empty.
  Weigher(const VotingOptions& voting, std::span<const float> sample_weights)
      : voting_(&voting), sample_weights_(sample_weights) {}

  /// Returns whether every vote weighs 1.
  bool all_one() const { return voting_->weights == Weights::uniform && sample_weights_.empty(); }

  /// Returns the weight of the neighbour of this rank (from 0), training row `row`.
  ///   nearest, distance  finished distances of the first neighbour and of this one
  float weight(std::size_t rank, float nearest, float distance, std::size_t row) const {
    const float own = by_rank_or_distance(rank, nearest, distance);
    return sample_weights_.empty() ? own : std::min(own * sample_weights_[row], largest_weight);
  }

 private:
  float by_rank_or_distance(std::size_t rank, float nearest, float distance) const {
    switch (voting_->weights) {
      case Weights::uniform:
        break;
      case Weights::distance:
        // Distances ascend: if any is 0, the first is.
        if (nearest == 0) return distance == 0 ? 1.0f : 0.0f;
        return std::min(1.0f / distance, largest_weight);
      case Weights::rank:
        return std::min(voting_->rank_weights[rank], largest_weight);
    }
    return 1.0f;
  }

  const VotingOptions* voting_;
  std::span<const float> sample_weights_;
};

/// Refuses weights that do not apply to lists of up to `longest` neighbours.
///   where  begins the message: "classify"
/// Throws invalid_argument: too few rank weights, one that is negative or not finite, or rank weights
///                          without Weights::rank.
///        unsupported:      Weights::distance with negative_dot.
void check_weights(std::string_view where, const VotingOptions& voting, Metric metric, std::int64_t longest);

/// Refuses sample weights unless there is one per row, finite and >= 0, or none at all.
void check_sample_weights(std::string_view where, std::span<const float> weights, std::int64_t rows);

/// Returns the number of neighbours of the query that has most.
std::int64_t longest_list(const RadiusNeighbors& found);

}  // namespace kith
