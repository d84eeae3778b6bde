#include "vote/weights.hpp"

#include <cmath>
#include <string>

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

bool is_weight(float weight) {
  return std::isfinite(weight) && weight >= 0;
}

}  // namespace

void check_weights(std::string_view where, const VotingOptions& voting, Metric metric, std::int64_t longest) {
  const std::vector<float>& of_rank = voting.rank_weights;
  if (voting.weights == Weights::distance && metric == Metric::negative_dot)
    throw Error(Errc::unsupported, std::string(where) +
                                       ": a vote cannot weigh 1 / distance where the metric is negative_dot, "
                                       "whose distances may be negative; choose other weights or another "
                                       "metric");
  if (voting.weights != Weights::rank) {
    if (!of_rank.empty())
      refuse(where, "there are " + std::to_string(of_rank.size()) + " rank weights, but votes weigh by " +
                        std::string(name(voting.weights)) + "; choose weights by rank, or give none");
    return;
  }
  if (static_cast<std::int64_t>(of_rank.size()) < longest)
    refuse(where, std::to_string(of_rank.size()) + " rank weights for lists of " + std::to_string(longest) +
                      " neighbours; give one a rank");
  for (std::size_t j = 0; j < of_rank.size(); ++j)
    if (!is_weight(of_rank[j]))
      refuse(where, "the weight of rank " + std::to_string(j) + " is " + text_of(of_rank[j]) +
                        "; weights are finite, and 0 or more");
}

void check_sample_weights(std::string_view where, std::span<const float> weights, std::int64_t rows) {
  if (weights.empty()) return;
  if (static_cast<std::int64_t>(weights.size()) != rows)
    refuse(where, std::to_string(weights.size()) + " sample weights for " + std::to_string(rows) +
                      " training rows; give one a row");
  for (std::size_t t = 0; t < weights.size(); ++t)
    if (!is_weight(weights[t]))
      refuse(where, "the sample weight of training row " + std::to_string(t) + " is " + text_of(weights[t]) +
                        "; weights are finite, and 0 or more");
}

std::int64_t longest_list(const RadiusNeighbors& found) {
  std::int64_t longest = 0;
  for (std::int64_t q = 0; q < found.queries; ++q) longest = std::max(longest, found.count(q));
  return longest;
}

}  // namespace kith
