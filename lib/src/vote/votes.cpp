#include "vote/votes.hpp"

#include <algorithm>
#include <string>

#include "base/border.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

constexpr std::size_t no_rank = std::numeric_limits<std::size_t>::max();

bool is_factor(double value) {
  return value >= least_factor && value <= largest_factor;
}

}  // namespace

void check_voting(std::string_view where, const VotingOptions& voting, Metric metric, std::size_t classes,
                  std::int64_t longest) {
  check_weights(where, voting, metric, longest);
  const std::vector<double>&priors = voting.priors, &costs = voting.costs;
  if (!priors.empty() && priors.size() != classes)
    refuse(where, std::to_string(priors.size()) + " priors for " + std::to_string(classes) +
                      " classes; give one a class, in the order of classes()");
  for (std::size_t c = 0; c < priors.size(); ++c)
    if (!is_factor(priors[c]))
      refuse(where, "the prior of class " + std::to_string(c) + " is " + text_of(priors[c]) +
                        "; priors lie between 1e-100 and 1e+100");
  if (!costs.empty() && costs.size() != classes * classes)
    refuse(where, std::to_string(costs.size()) + " costs for " + std::to_string(classes) +
                      " classes; give one a pair, [" + std::to_string(classes) + ", " +
                      std::to_string(classes) + "]");
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (costs[i] != 0 && !is_factor(costs[i]))
      refuse(where, "the cost of answering class " + std::to_string(i % classes) + " where class " +
                        std::to_string(i / classes) + " is right is " + text_of(costs[i]) +
                        "; costs are 0, or lie between 1e-100 and 1e+100");
}

std::vector<double> shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                           std::span<const double> scores, std::size_t classes, std::uint32_t threads) {
  std::vector<double> share(votes.size());
  const auto cells = static_cast<std::int64_t>(votes.size());
  parallel_for(cells / static_cast<std::int64_t>(classes), cells, threads, [&](std::int64_t q) {
    const std::size_t first = static_cast<std::size_t>(q) * classes;
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const std::size_t i = first + c;
      share[i] = value_of_score(voting, scores.empty() ? votes[i] : scores[i], c);
      sum += share[i];
    }
    if (sum == 0) return;
    for (std::size_t c = 0; c < classes; ++c) share[first + c] /= sum;
  });
  return share;
}

std::vector<double> checked_shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                                   std::span<const double> scores, std::size_t classes) {
  if (classes == 0) return {};
  if (votes.size() % classes != 0 || (!scores.empty() && scores.size() != votes.size()) ||
      (!voting.priors.empty() && voting.priors.size() != classes))
    refuse("class_shares", std::to_string(votes.size()) + " votes, " + std::to_string(scores.size()) +
                               " scores and " + std::to_string(voting.priors.size()) + " priors for " +
                               std::to_string(classes) +
                               " classes; give votes of whole queries, as many "
                               "scores or none, and a prior a class or none");
  return shares(voting, votes, scores, classes, 0);
}

std::vector<double> class_shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                                 std::span<const float> scores, std::size_t classes) try {
  return checked_shares(voting, votes, std::vector<double>(scores.begin(), scores.end()), classes);
} catch (...) {
  rethrow_as_error();
}

Scorer::Scorer(const VotingOptions& voting, std::size_t classes, std::span<const std::uint32_t> codes,
               std::span<const float> sample_weights, Arithmetic arithmetic)
    : voting_(&voting),
      codes_(codes),
      weigher_(voting, sample_weights, arithmetic),
      votes_(classes),
      scores_(classes),
      values_(classes),
      first_(classes, no_rank),
      distances_(classes),
      expected_(voting.costs.empty() ? 0 : classes),
      touched_(classes),
      leaders_(classes) {}

void Scorer::begin() {
  for (const std::uint32_t c : touched_) {
    votes_[c] = 0;
    scores_[c] = 0;
    values_[c] = 0;
    first_[c] = no_rank;
    distances_[c] = 0;
  }
  touched_.clear();
  leaders_.clear();
  rank_ = 0;
  best_ = 0;
  last_alone_ = no_winner;
}

void Scorer::add(std::int64_t row, double distance) {
  if (row < 0) return;
  const auto t = static_cast<std::size_t>(row);
  const std::uint32_t c = codes_[t];
  if (rank_ == 0) nearest_ = distance;
  const double weight = weigher_.weight(rank_, nearest_, distance, t);
  const std::size_t rank = rank_++;
  if (votes_[c]++ == 0) touched_.push(c);
  if (weight == 0) return;  // a neighbour with weight 0 decides nothing, not even ties
  if (first_[c] == no_rank) first_[c] = rank;
  distances_[c] += distance;
  if (all_one()) {
    raise(c, value_of_score(*voting_, votes_[c], c));
  } else {
    scores_[c] = weigher_.rounded(scores_[c] + weight);
    raise(c, value_of_score(*voting_, scores_[c], c));
  }
  if (voting_->tie != TieRule::fewer_neighbors) return;
  find_leaders();
  if (leaders_.size() == 1) last_alone_ = *leaders_.begin();
}

/// Raises the value of a class, or keeps it.
void Scorer::raise(std::uint32_t c, double value) {
  const double before = values_[c];
  values_[c] = value;
  if (!voting_->costs.empty()) return;  // find_cheapest() then finds who leads
  if (value > best_) {
    leaders_.clear();
    best_ = value;
    lead(c);
  } else if (value == best_ && before < value) {
    lead(c);
  }
}

void Scorer::lead(std::uint32_t c) {
  smallest_ = leaders_.size() == 0 ? c : std::min(smallest_, c);
  leaders_.push(c);
}

void Scorer::find_leaders() {
  if (!voting_->costs.empty()) find_cheapest();
}

/// Finds the cheapest answers. The expected cost of each is multiplied by the sum of all values, which is the
/// same for all.
void Scorer::find_cheapest() {
  const std::size_t classes = values_.size();
  leaders_.clear();
  std::fill(expected_.begin(), expected_.end(), 0.0);
  bool voted = false;
  for (std::size_t right = 0; right < classes; ++right) {
    if (values_[right] == 0) continue;
    voted = true;
    const double* const cost = voting_->costs.data() + right * classes;
    for (std::size_t answer = 0; answer < classes; ++answer)
      expected_[answer] += values_[right] * cost[answer];
  }
  if (!voted) return;
  const double least = *std::min_element(expected_.begin(), expected_.end());
  for (std::size_t answer = 0; answer < classes; ++answer)
    if (expected_[answer] == least) lead(static_cast<std::uint32_t>(answer));
}

std::int64_t Scorer::winner() {
  find_leaders();
  return winner_of_leaders();
}

std::int64_t Scorer::winner_of_leaders() const {
  if (leaders_.size() == 0) return no_winner;
  if (leaders_.size() == 1) return *leaders_.begin();
  std::uint32_t best = smallest_;
  switch (voting_->tie) {
    case TieRule::smallest_label:
      return smallest_;
    case TieRule::abstain:
      return no_winner;
    case TieRule::fewer_neighbors:
      return last_alone_ == no_winner ? smallest_ : last_alone_;
    case TieRule::nearest:
      for (const std::uint32_t c : leaders_)
        if (first_[c] < first_[best]) best = c;
      return best;
    case TieRule::smallest_distance: {
      // With costs a class may lead without a neighbour: it comes after those that have one.
      const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const bool a_none = first_[a] == no_rank, b_none = first_[b] == no_rank;
        if (a_none != b_none) return b_none;
        return distances_[a] != distances_[b] ? distances_[a] < distances_[b] : a < b;
      };
      return *std::min_element(leaders_.begin(), leaders_.end(), before);
    }
  }
  return smallest_;
}

std::int64_t Scorer::winner_of(const NeighborList& list) {
  begin();
  count(list);
  for (const std::uint32_t c : touched_)
    raise(c, value_of_score(*voting_, all_one() ? votes_[c] : scores_[c], c));
  find_leaders();
  const bool needs_list = voting_->tie != TieRule::smallest_label && voting_->tie != TieRule::abstain;
  if (leaders_.size() < 2 || !needs_list) return winner_of_leaders();
  begin();
  for (std::size_t j = 0; j < list.index.size(); ++j) add(list.index[j], list.distance(j));
  return winner();
}

/// Counts only the votes and scores of a list.
void Scorer::count(const NeighborList& list) {
  const bool all_one = this->all_one();
  std::size_t rank = 0;
  for (std::size_t j = 0; j < list.index.size(); ++j) {
    if (list.index[j] < 0) continue;
    const auto t = static_cast<std::size_t>(list.index[j]);
    const std::uint32_t c = codes_[t];
    if (votes_[c]++ == 0) touched_.push(c);
    if (all_one) continue;
    if (rank == 0) nearest_ = list.distance(j);
    scores_[c] = weigher_.rounded(scores_[c] + weigher_.weight(rank++, nearest_, list.distance(j), t));
  }
}

}  // namespace kith
