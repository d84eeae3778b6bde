// Lets lists of neighbours on the host vote.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/parallel.hpp"
#include "kith/neighbors.hpp"
#include "vote/votes.hpp"

namespace kith {

/// Holds the neighbours of one query, nearest first.
struct NeighborList {
  std::span<const std::int64_t> index;
  std::span<const float> distance;
};

/// Returns a function of q that gives the list of query q. Refers to `found`.
inline auto lists_in(const Neighbors& found) {
  return [&found](std::size_t q) {
    const auto k = static_cast<std::size_t>(found.k);
    return NeighborList{std::span(found.row).subspan(q * k, k), std::span(found.distance).subspan(q * k, k)};
  };
}

inline auto lists_in(const RadiusNeighbors& found) {
  return [&found](std::size_t q) {
    const auto first = static_cast<std::size_t>(found.first[q]),
               count = static_cast<std::size_t>(found.count(static_cast<std::int64_t>(q)));
    return NeighborList{std::span(found.row).subspan(first, count),
                        std::span(found.distance).subspan(first, count)};
  };
}

/// Holds the result of votes: labels, and for each class votes and scores.
struct Counted {
  std::vector<std::int64_t> label;   ///< [m]
  std::vector<std::uint32_t> votes;  ///< [m, classes]
  std::vector<float> scores;         ///< [m, classes]; empty if every vote weighs 1
};

/// Lets the lists of m queries vote; `list_of(q)` is that of query q. The caller has checked the options.
///   classes         ascending
///   codes           [n]  indices into `classes`
///   sample_weights  [n], or empty
///   cells           number of neighbours of all queries together
template <class ListOf>
Counted count_votes(const VotingOptions& voting, std::span<const std::int64_t> classes,
                    std::span<const std::uint32_t> codes, std::span<const float> sample_weights,
                    std::size_t m, std::size_t cells, std::uint32_t threads, const ListOf& list_of) {
  Counted counted;
  counted.label.resize(m);
  counted.votes.resize(m * classes.size());
  std::vector<Scorer> scorers(team_size(threads), Scorer(voting, classes.size(), codes, sample_weights));
  if (!scorers[0].all_one()) counted.scores.resize(m * classes.size());
  run_team(m, m * classes.size() + cells, team_size(threads), [&](std::size_t q, std::size_t thread) {
    Scorer& scorer = scorers[thread];
    const NeighborList list = list_of(q);
    const std::int64_t winner = scorer.winner_of(list.index, list.distance);
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
