// Says how neighbours choose a class: the weight of each vote, and how ties are broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/options.hpp"

namespace kith {

KITH_API std::string_view name(Weights weights);
KITH_API std::string_view name(TieRule rule);

/// Returns the share of each class: its score divided by the sum of the scores of all classes, in double
/// precision, with priors but not costs. A query without a vote has a row of zeros.
///   votes    [m, classes], as a classification returns them
///   scores   [m, classes], or empty: the votes are the scores
///   returns  [m, classes]
KITH_API std::vector<double> class_shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                                          std::span<const float> scores, std::size_t classes);

}  // namespace kith
