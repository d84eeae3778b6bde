// Lets lists of neighbours on the host vote.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "host/parallel.hpp"
#include "kith/neighbors.hpp"
#include "vote/votes.hpp"

namespace kith {

/// Returns the list of all neighbours of all queries.
template <class Found>
NeighborList all_in(const Found& found) {
  return {found.row, found.distance, found.distance64};
}

/// Returns a function of q that gives the list of query q. Refers to `found`.
inline auto lists_in(const Neighbors& found) {
  return [&found](std::size_t q) {
    const auto k = static_cast<std::size_t>(found.k);
    return all_in(found).part(q * k, k);
  };
}

inline auto lists_in(const RadiusNeighbors& found) {
  return [&found](std::size_t q) {
    return all_in(found).part(static_cast<std::size_t>(found.first[q]),
                              static_cast<std::size_t>(found.count(static_cast<std::int64_t>(q))));
  };
}

/// Holds the result of votes: labels, and for each class votes and scores.
struct Counted {
  std::vector<std::int64_t> label;   ///< [m]
  std::vector<std::uint32_t> votes;  ///< [m, classes]
  std::vector<double> scores;        ///< [m, classes]; empty if every vote weighs 1
};

/// Gives scores to a result, in the arithmetic of its neighbours.
template <class Result>
void give_scores(std::vector<double> scores, Result& result) {
  const FloatGuard guard;
  if (result.neighbors.arithmetic == Arithmetic::f64)
    result.scores64 = std::move(scores);
  else
    result.scores.assign(scores.begin(), scores.end());
}

/// Lets the lists of m queries vote; `list_of(q)` is that of query q. The caller has checked the options.
///   classes         ascending
///   codes           [n]  indices into `classes`
///   sample_weights  [n], or empty
///   arithmetic      of the distances
///   cells           number of neighbours of all queries together
template <class ListOf>
Counted count_votes(const VotingOptions& voting, std::span<const std::int64_t> classes,
                    std::span<const std::uint32_t> codes, std::span<const float> sample_weights,
                    Arithmetic arithmetic, std::size_t m, std::size_t cells, std::uint32_t threads,
                    const ListOf& list_of) {
  Counted counted;
  counted.label.resize(m);
  counted.votes.resize(m * classes.size());
  std::vector<Scorer> scorers(team_size(threads),
                              Scorer(voting, classes.size(), codes, sample_weights, arithmetic));
  if (!scorers[0].all_one()) counted.scores.resize(m * classes.size());
  run_team(m, m * classes.size() + cells, team_size(threads), [&](std::size_t q, std::size_t thread) {
    Scorer& scorer = scorers[thread];
    const std::int64_t winner = scorer.winner_of(list_of(q));
    counted.label[q] =
        winner == Scorer::no_winner ? voting.no_label : classes[static_cast<std::size_t>(winner)];
    const auto to = static_cast<std::ptrdiff_t>(q * classes.size());
    std::copy(scorer.votes().begin(), scorer.votes().end(), counted.votes.begin() + to);
    if (!scorer.all_one())
      std::copy(scorer.scores().begin(), scorer.scores().end(), counted.scores.begin() + to);
  });
  return counted;
}

}  // namespace kith
