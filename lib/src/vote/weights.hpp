// Computes the weight of a neighbour's vote: docs/contract.md, section 5.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kith/choices.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/voting.hpp"

namespace kith {

/// Larger weights count as this one, so that no sum of weights overflows: there are fewer than 2^32 rows.
constexpr double largest_weight(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::f64 ? 0x1p256 : 0x1p95;
}

/// Rounds a sum, product or quotient of two numbers of this arithmetic, which was computed in double
/// precision: the result is what one operation in that arithmetic gives. Of two floats the exact result is
/// never so near the middle between two floats, without being the middle, that a double rounds it there.
inline double rounded(Arithmetic arithmetic, double value) {
  return arithmetic == Arithmetic::f64 ? value : static_cast<double>(static_cast<float>(value));
}

/// Priors are between these two, and costs at most the second, so that no product of them with a score leaves
/// the normal numbers of double precision.
inline constexpr double least_factor = 1e-100, largest_factor = 1e100;

/// Weighs neighbours, nearest first. Refers to its arguments. Needs a FloatGuard.
class Weigher {
 public:
  /// Requires arguments that are checked. `sample_weights`: [n], or empty.
  ///   arithmetic  of the distances, and so of the weights
  Weigher(const VotingOptions& voting, std::span<const float> sample_weights, Arithmetic arithmetic)
      : voting_(&voting),
        sample_weights_(sample_weights),
        arithmetic_(arithmetic),
        largest_(largest_weight(arithmetic)) {}

  /// Returns whether every vote weighs 1.
  bool all_one() const { return voting_->weights == Weights::uniform && sample_weights_.empty(); }

  /// Returns the weight of the neighbour of this rank (from 0), training row `row`.
  ///   nearest, distance  finished distances of the first neighbour and of this one
  double weight(std::size_t rank, double nearest, double distance, std::size_t row) const {
    const double own = by_rank_or_distance(rank, nearest, distance);
    if (sample_weights_.empty()) return own;
    return std::min(rounded(own * static_cast<double>(sample_weights_[row])), largest_);
  }

  Arithmetic arithmetic() const { return arithmetic_; }
  double rounded(double value) const { return kith::rounded(arithmetic_, value); }

 private:
  double by_rank_or_distance(std::size_t rank, double nearest, double distance) const {
    switch (voting_->weights) {
      case Weights::uniform:
        break;
      case Weights::distance:
        // Distances ascend: if any is 0, the first is.
        if (nearest == 0) return distance == 0 ? 1 : 0;
        return std::min(rounded(1 / distance), largest_);
      case Weights::rank:
        return std::min(static_cast<double>(voting_->rank_weights[rank]), largest_);
    }
    return 1;
  }

  const VotingOptions* voting_;
  std::span<const float> sample_weights_;
  Arithmetic arithmetic_;
  double largest_;
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
