// Votes of the query tiles of a search: counted on the device while their keys are there.
#include <memory>
#include <optional>

#include "base/numbers.hpp"
#include "classify/classifier_state.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "search/search.hpp"
#include "vote/votes.hpp"
#include "vote/voting.hpp"

namespace kith {
namespace {

/// Whether what VoteStep says is the answer.
bool device_decides(const VotingOptions& voting, const Weigher& weigher) {
  return weigher.all_one() && voting.priors.empty() && voting.costs.empty() &&
         voting.tie == TieRule::smallest_label;
}

/// `count` queries of a search, from query `first` on.
struct QueryTile {
  Workspace* workspace;
  std::size_t first, count;
};

class Election {
 public:
  Election(const Classifier::State& state, const VotingOptions& voting, const PlanOptions& options,
           bool timed, const Neighbors& found)
      : state_(state),
        voting_(voting),
        threads_(options.threads),
        timed_(timed),
        found_(found),
        weigher_(voting, state.sample_weights),
        device_decides_(device_decides(voting, weigher_)),
        columns_(state.outputs.size()) {}

  /// Before the ballots of a tile.
  void begin(const QueryTile& tile) {
    if (weigher_.all_one()) return;
    const std::size_t k = size(found_.k), from = tile.first * k, cells = tile.count * k;
    const Stopwatch weighing;
    const std::vector<float> weights = weigh(weigher_, std::span(found_.distance).subspan(from, cells),
                                             std::span(found_.index).subspan(from, cells), k, threads_);
    host_seconds_ += weighing.seconds();
    if (!tallying_) {
      std::uint32_t most = 0;
      for (const LabelColumn& column : state_.outputs) most = std::max(most, column.class_count());
      tallying_.emplace(state_.index.device().state(), static_cast<std::int64_t>(tile.count), found_.k, most);
    }
    tallying_->weigh(weights);
  }

  void hold(const QueryTile& tile, Ballot& ballot) {
    const LabelColumn& labels = state_.outputs[ballot.output];
    const std::size_t cells = tile.count * labels.classes.size();
    const std::size_t from = ballot.keep ? tile.first * labels.classes.size() : 0;
    if (!ballot.keep) ballot.votes.resize(cells);
    const std::span votes = std::span(ballot.votes).subspan(from, cells);
    const spi::Grid<Key> nearest = keys(tile, ballot.k);
    std::optional<Voting>& voting = columns_[ballot.output].voting;
    if (!voting)
      voting.emplace(state_.index.device().state(), static_cast<std::int64_t>(tile.count),
                     labels.class_count());
    std::vector<std::uint32_t> winner(tile.count);
    voting->vote(nearest, labels.grid(), threads_, winner, votes, timed_ ? &vote_seconds_ : nullptr);
    std::span<float> scores;
    if (!weigher_.all_one()) {
      if (!ballot.keep) ballot.scores.resize(cells);
      scores = std::span(ballot.scores).subspan(from, cells);
      tallying_->tally(nearest, labels.grid(), labels.class_count(), threads_, scores,
                       timed_ ? &tally_seconds_ : nullptr);
    }
    if (!device_decides_) return decide(tile, ballot, votes, scores);
    for (std::size_t q = 0; q < tile.count; ++q)
      ballot.label[tile.first + q] = winner[q] == no_row ? voting_.no_label : labels.classes[size(winner[q])];
  }

  void report(Trace& trace) const {
    trace.seconds["vote"] = vote_seconds_;
    if (!weigher_.all_one()) trace.seconds["tally"] = tally_seconds_;
    if (!device_decides_) trace.seconds["decide"] = host_seconds_;
  }

 private:
  /// What the ballots of one output share.
  struct Column {
    std::optional<Voting> voting;
    std::vector<Scorer> scorers;  ///< one a thread
  };

  static spi::Grid<Key> keys(const QueryTile& tile, std::int64_t k) {
    spi::Grid<Key> nearest = tile.workspace->result(static_cast<std::int64_t>(tile.count));
    nearest.cols = size(k);
    return nearest;
  }

  /// From scores to labels, on the host.
  void decide(const QueryTile& tile, Ballot& ballot, std::span<const std::uint32_t> votes,
              std::span<const float> scores) {
    const Stopwatch deciding;
    const LabelColumn& labels = state_.outputs[ballot.output];
    const std::size_t classes = labels.classes.size(), k = size(ballot.k), stride = size(found_.k);
    const std::uint32_t team = team_size(threads_);
    std::vector<Scorer>& scorers = columns_[ballot.output].scorers;
    if (scorers.empty()) scorers.assign(team, Scorer(voting_, classes, labels.codes, state_.sample_weights));
    run_team(tile.count, tile.count * classes, team, [&](std::size_t q, std::size_t thread) {
      const std::size_t row = q * classes, list = (tile.first + q) * stride;
      const std::int64_t winner = scorers[thread].winner_of(
          votes.subspan(row, classes), scores.empty() ? scores : scores.subspan(row, classes),
          std::span(found_.index).subspan(list, k), std::span(found_.distance).subspan(list, k));
      ballot.label[tile.first + q] =
          winner == Scorer::nobody ? voting_.no_label : labels.classes[size(winner)];
    });
    host_seconds_ += deciding.seconds();
  }

  const Classifier::State& state_;
  const VotingOptions& voting_;
  std::uint32_t threads_;
  bool timed_;
  const Neighbors& found_;
  Weigher weigher_;
  bool device_decides_;
  std::vector<Column> columns_;
  std::optional<Tallying> tallying_;
  double vote_seconds_ = 0, tally_seconds_ = 0, host_seconds_ = 0;
};

}  // namespace

void elect(const Classifier::State& state, const VotingOptions& voting, MatrixView<const float> queries,
           std::int64_t largest_k, const PlanOptions& options, Trace* trace, Neighbors& found,
           std::vector<Ballot>& ballots) {
  const std::size_t m = size(queries.rows());
  Election election(state, voting, options, trace != nullptr, found);
  for (Ballot& ballot : ballots) {
    const std::size_t cells = ballot.keep ? m * state.outputs[ballot.output].classes.size() : 0;
    ballot.label.resize(m);
    ballot.votes.resize(cells);
    if (!Weigher(voting, state.sample_weights).all_one()) ballot.scores.resize(cells);
  }
  search_with(state.index.state(), queries, largest_k, options, trace, found,
              [&](Workspace& workspace, std::int64_t first, std::int64_t count) {
                const QueryTile tile{&workspace, size(first), size(count)};
                election.begin(tile);
                for (Ballot& ballot : ballots) election.hold(tile, ballot);
              });
  if (trace) election.report(*trace);
}

}  // namespace kith
