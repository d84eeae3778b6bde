// How neighbours become a class: the weight of each vote, and how ties are broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

/// What the vote of a neighbour weighs.
enum class Weights {
  uniform,   ///< 1
  distance,  ///< 1 / distance; where distances are 0, those neighbours weigh 1 and all others 0
  rank,      ///< what VotingOptions::rank_weights has for its rank
};

/// Who wins of several classes that lead with the same score. What a rule leaves undecided goes to the
/// smallest label. A neighbour whose vote weighs 0 breaks no tie.
enum class TieRule {
  smallest_label,     ///< the smallest label
  nearest,            ///< the class of the nearest neighbour among them
  smallest_distance,  ///< the class whose neighbours have the smallest sum of distances
  fewer_neighbors,    ///< ask one neighbour fewer, until one class leads
  abstain,            ///< no class: VotingOptions::no_label
};

KITH_API std::string_view name(Weights weights);
KITH_API std::string_view name(TieRule rule);
/// Throws invalid_argument: there is none of that name; lists those there are.
KITH_API Weights weights_named(std::string_view text);
KITH_API TieRule tie_rule_named(std::string_view text);

/// The answer of a query for which no class wins, unless the caller has another.
inline constexpr std::int64_t default_no_label = std::numeric_limits<std::int64_t>::min();

/// Of a vote. The score of a class is the sum of the weights of its neighbours, in order of rank, in single
/// precision; times its prior, in double precision. With costs the class of the smallest expected cost wins
/// instead of that of the highest score. A weight above 2^95 counts as 2^95. docs/contract.md, section 5.
struct VotingOptions {
  Weights weights = Weights::uniform;
  TieRule tie = TieRule::smallest_label;
  std::vector<float> rank_weights = {};  ///< [at least k], finite, >= 0, for Weights::rank; else empty
  std::vector<double> priors = {};  ///< [classes], 1e-100 ... 1e100, in the order of classes(); empty: all 1
  /// [classes, classes], each 0 or 1e-100 ... 1e100: what it costs to answer the class of the column where
  /// that of the row is right. Empty: 0 on the diagonal, else 1.
  std::vector<double> costs = {};
  /// For queries whose neighbours have no vote, all of weight 0 or none there, and for TieRule::abstain.
  std::int64_t no_label = default_no_label;
};

/// The share of each class in the score of its query: score of the class / sum of the scores of all, in
/// double precision, priors included, costs not. A row of zeros for a query without a vote.
///   votes    [m, classes], as a classification returns them
///   scores   [m, classes], or empty: the votes are the scores
///   returns  [m, classes]
KITH_API std::vector<double> class_shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                                          std::span<const float> scores, std::size_t classes);

}  // namespace kith
