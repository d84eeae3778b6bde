// Computes scores from the neighbours of a query, and a winner from scores, on the host: docs/contract.md,
// section 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"
#include "kith/voting.hpp"
#include "vote/neighbor_list.hpp"
#include "vote/weights.hpp"

namespace kith {

/// Refuses options of a vote that do not fit.
///   where    begins the message: "classify"
///   longest  neighbours in the longest list
/// Throws what check_weights() throws, and invalid_argument if priors or costs have a wrong length or are out
/// of range.
void check_voting(std::string_view where, const VotingOptions& voting, Metric metric, std::size_t classes,
                  std::int64_t longest);

/// Multiplies a score by the prior of its class.
inline double value_of_score(const VotingOptions& voting, double score, std::size_t c) {
  return voting.priors.empty() ? score : score * voting.priors[c];
}

/// Divides the value of each class by the sum over the classes of its query; zeros if that is 0.
///   votes    [m, classes]
///   scores   [m, classes], or empty: the votes are the scores
///   returns  [m, classes]
std::vector<double> shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                           std::span<const double> scores, std::size_t classes, std::uint32_t threads);
/// Does the same for a caller's arrays, and no classes. Throws invalid_argument: their lengths do not fit.
std::vector<double> checked_shares(const VotingOptions& voting, std::span<const std::uint32_t> votes,
                                   std::span<const double> scores, std::size_t classes);

/// Lists some classes. Only its constructors allocate memory.
class ClassList {
 public:
  explicit ClassList(std::size_t classes) : classes_(classes) {}
  void push(std::uint32_t c) { classes_[size_++] = c; }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  const std::uint32_t* begin() const { return classes_.data(); }
  const std::uint32_t* end() const { return classes_.data() + size_; }

 private:
  std::vector<std::uint32_t> classes_;
  std::size_t size_ = 0;
};

/// Counts the votes of one query after another, neighbour by neighbour, nearest first. After each neighbour
/// winner() returns who would win if the list ended there, so that one pass over a list answers every k: in
/// constant time without costs, except to break ties otherwise than by the smallest label.
/// Refers to its arguments. Each thread needs its own, under a FloatGuard; only its constructor allocates.
class Scorer {
 public:
  static constexpr std::int64_t no_winner = -1;

  /// Requires arguments that check_voting() and check_sample_weights() accept.
  ///   codes           [n]  the class of each training row, < classes
  ///   sample_weights  [n], or empty
  ///   arithmetic      of the distances, in which scores are added
  Scorer(const VotingOptions& voting, std::size_t classes, std::span<const std::uint32_t> codes,
         std::span<const float> sample_weights, Arithmetic arithmetic);

  /// Begins the next query.
  void begin();

  /// Adds its next neighbour.
  ///   row       training row; -1, which pads a short list, has no vote
  ///   distance  finished
  void add(std::int64_t row, double distance);

  /// Returns the class that wins so far, or no_winner.
  std::int64_t winner();

  std::span<const std::uint32_t> votes() const { return votes_; }  ///< [classes], neighbours of each class
  /// [classes], sums of weights; zeros if every vote weighs 1: then votes() are the scores.
  std::span<const double> scores() const { return scores_; }
  bool all_one() const { return weigher_.all_one(); }

  /// Returns the winner of a whole list: the same as begin() and add() of each neighbour, but faster, since
  /// it looks for the leaders on the way only if a tie needs them.
  std::int64_t winner_of(const NeighborList& list);

 private:
  void count(const NeighborList& list);
  void raise(std::uint32_t c, double value);
  void lead(std::uint32_t c);
  void find_leaders();
  void find_cheapest();
  std::int64_t winner_of_leaders() const;

  const VotingOptions* voting_;
  std::span<const std::uint32_t> codes_;
  Weigher weigher_;

  std::size_t rank_ = 0;              ///< rank of the next neighbour
  double nearest_ = 0;                ///< distance of the first neighbour
  std::vector<std::uint32_t> votes_;  ///< [classes]
  std::vector<double> scores_;        ///< [classes]
  std::vector<double> values_;        ///< [classes]  scores times priors
  std::vector<std::size_t> first_;    ///< [classes]  rank of the first neighbour with a vote
  std::vector<double> distances_;     ///< [classes]  sum over neighbours with a vote
  std::vector<double> expected_;      ///< [classes]  with costs: expected cost of each answer
  ClassList touched_;                 ///< classes with a neighbour

  double best_ = 0;                      ///< value of the leaders, without costs
  ClassList leaders_;                    ///< classes with the best value, in any order
  std::uint32_t smallest_ = 0;           ///< smallest of the leaders
  std::int64_t last_alone_ = no_winner;  ///< the last class that led alone, for fewer_neighbors
};

}  // namespace kith
