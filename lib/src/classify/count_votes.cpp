// Counts the votes of each query tile of a search: on the device if that saves time, else on the host.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "classify/classifier_state.hpp"
#include "classify/host_votes.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/mapped_options.hpp"
#include "search/groups/group_search.hpp"
#include "search/nearest.hpp"
#include "search/stores/resident_store.hpp"
#include "search/stores/search.hpp"
#include "vote/votes.hpp"
#include "vote/voting.hpp"

namespace kith {
namespace {

/// From this many neighbours in a query tile on, a step of the device is faster than a count on the host.
constexpr std::int64_t enough_for_device = 1 << 14;

/// Steps of the device count so many neighbours while the host adds one; the host finds the winner
/// after each.
constexpr std::int64_t counted_while_added = 4;

/// Returns whether a device may count: if VoteStep decides as the options ask, and all keys on the device are
/// neighbours that vote.
bool device_may_count(const VotingOptions& voting, const Weigher& weigher, const SearchOptions& options) {
  const bool decides = weigher.all_one() && voting.priors.empty() && voting.costs.empty() &&
                       voting.tie == TieRule::smallest_label;
  return decides && !options.self && !options.radius && options.filter.rows() == 0;
}

/// Holds `count` queries of a search, from query `first` on.
struct QueryTile {
  Workspace* workspace;  ///< null: the keys are not on one device
  std::size_t first, count;
};

class VoteCount {
 public:
  VoteCount(const Classifier::State& state, const VotingOptions& voting, const SearchOptions& options,
            bool timed, const Neighbors& found, std::vector<Ballot>& ballots)
      : state_(state),
        voting_(voting),
        threads_(options.threads),
        timed_(timed),
        found_(found),
        arithmetic_(state.index.arithmetic()),
        all_one_(Weigher(voting, state.sample_weights, arithmetic_).all_one()),
        device_may_count_(
            device_may_count(voting, Weigher(voting, state.sample_weights, arithmetic_), options)),
        columns_(state.outputs.size()) {
    for (Ballot& ballot : ballots) {
      columns_[ballot.output].ballots.push_back(&ballot);
      columns_[ballot.output].neighbors += ballot.k;
    }
    for (Column& column : columns_)
      std::stable_sort(column.ballots.begin(), column.ballots.end(),
                       [](const Ballot* a, const Ballot* b) { return a->k < b->k; });
  }

  /// Makes empty answers for `queries` queries.
  void begin(std::size_t queries) {
    for (const Column& column : columns_)
      for (Ballot* const ballot : column.ballots) {
        ballot->label.resize(queries);
        if (!ballot->keep) continue;
        ballot->votes.resize(queries * state_.outputs[ballot->output].classes.size());
        if (!all_one_) ballot->scores.resize(ballot->votes.size());
      }
  }

  void hold(const QueryTile& tile) {
    for (std::size_t output = 0; output < columns_.size(); ++output) {
      Column& column = columns_[output];
      if (column.ballots.empty()) continue;
      if (!device_counts(tile, column))
        count_on_host(tile, state_.outputs[output], column);
      else
        for (Ballot* const ballot : column.ballots)
          count_on_device(tile, state_.outputs[output], column, *ballot);
    }
  }

  void report(Trace& trace) const {
    if (device_seconds_) trace.seconds["vote"] = *device_seconds_;
    if (host_seconds_) trace.seconds["decide"] = *host_seconds_;
  }

 private:
  /// Holds the state that ballots of one output share.
  struct Column {
    std::vector<Ballot*> ballots;  ///< k ascending
    std::int64_t neighbors = 0;    ///< neighbours of a query, summed over the ballots
    std::optional<Voting> voting;
    std::vector<Scorer> scorers;  ///< one per thread
  };

  /// Returns whether the device counts. For several k the host needs one pass over the longest lists, but the
  /// device one step for each k.
  bool device_counts(const QueryTile& tile, const Column& column) const {
    return tile.workspace && device_may_count_ &&
           column.neighbors <= counted_while_added * column.ballots.back()->k &&
           static_cast<std::int64_t>(tile.count) * column.neighbors >= enough_for_device;
  }

  void count_on_device(const QueryTile& tile, const LabelColumn& labels, Column& column, Ballot& ballot) {
    if (!column.voting)
      column.voting.emplace(state_.index.device().state(), static_cast<std::int64_t>(tile.count),
                            labels.class_count());
    spi::Grid<Key> nearest = tile.workspace->result(static_cast<std::int64_t>(tile.count));
    nearest.cols = size(ballot.k);
    const std::size_t classes = labels.classes.size();
    std::span<std::uint32_t> votes = ballot.votes;
    if (ballot.keep) votes = votes.subspan(tile.first * classes, tile.count * classes);
    std::vector<std::uint32_t> winner(tile.count);
    if (!device_seconds_) device_seconds_ = 0;
    column.voting->vote(nearest, labels.grid(), threads_, winner, votes,
                        timed_ ? &*device_seconds_ : nullptr);
    for (std::size_t q = 0; q < tile.count; ++q)
      ballot.label[tile.first + q] = winner[q] == no_row ? voting_.no_label : labels.classes[winner[q]];
  }

  void count_on_host(const QueryTile& tile, const LabelColumn& labels, Column& column) {
    const Stopwatch counting;
    const std::uint32_t team = team_size(threads_);
    if (column.scorers.empty())
      column.scorers.assign(
          team, Scorer(voting_, labels.classes.size(), labels.codes, state_.sample_weights, arithmetic_));
    // a vote takes several operations
    const std::size_t work = tile.count * size(column.ballots.back()->k) * 8;
    run_team(tile.count, work, team, [&](std::size_t q, std::size_t thread) {
      answer(tile.first + q, labels, column.scorers[thread], column.ballots);
    });
    host_seconds_ = host_seconds_.value_or(0) + counting.seconds();
  }

  /// Answers all ballots of one query.
  void answer(std::size_t q, const LabelColumn& labels, Scorer& scorer,
              const std::vector<Ballot*>& ballots) const {
    const NeighborList list = lists_in(found_)(q);
    if (ballots.size() == 1)
      return put(q, labels, scorer, scorer.winner_of(list.part(0, size(ballots[0]->k))), *ballots[0]);
    scorer.begin();
    std::size_t j = 0;
    for (Ballot* const ballot : ballots) {
      for (; j < size(ballot->k); ++j) scorer.add(list.index[j], list.distance(j));
      put(q, labels, scorer, scorer.winner(), *ballot);
    }
  }

  void put(std::size_t q, const LabelColumn& labels, const Scorer& scorer, std::int64_t winner,
           Ballot& ballot) const {
    ballot.label[q] = winner == Scorer::no_winner ? voting_.no_label : labels.classes[size(winner)];
    if (!ballot.keep) return;
    const auto to = static_cast<std::ptrdiff_t>(q * labels.classes.size());
    std::copy(scorer.votes().begin(), scorer.votes().end(), ballot.votes.begin() + to);
    if (!all_one_) std::copy(scorer.scores().begin(), scorer.scores().end(), ballot.scores.begin() + to);
  }

  const Classifier::State& state_;
  const VotingOptions& voting_;
  std::uint32_t threads_;
  bool timed_;
  const Neighbors& found_;
  Arithmetic arithmetic_;
  bool all_one_;
  bool device_may_count_;
  std::vector<Column> columns_;
  std::optional<double> device_seconds_, host_seconds_;  ///< seconds of counting there; empty if nothing
                                                         ///< was counted
};

/// Stores neighbours, and counts their votes tile by tile, where the search has tiles.
class VotesSink final : public NeighborsSink {
 public:
  VotesSink(ShownBy shown, Neighbors& found, VoteCount& count) : NeighborsSink(shown, found), count_(count) {}
  void tile_done(Workspace& workspace, std::int64_t first, std::int64_t count) override {
    count_.hold({&workspace, size(first), size(count)});
    counted_ = true;
  }
  bool counted() const { return counted_; }

 private:
  VoteCount& count_;
  bool counted_ = false;
};

}  // namespace

void count_votes(const Classifier::State& state, const VotingOptions& voting, const RowsView& queries,
                 std::int64_t largest_k, const SearchOptions& options, Trace* trace, Neighbors& found,
                 std::vector<Ballot>& ballots) {
  const FloatGuard guard;
  const Index::State& index = state.index.state();
  const MappedOptions mapped("search", index, options, queries.rows, largest_k);
  VoteCount vote_count(state, voting, mapped.options(), trace != nullptr, found, ballots);
  vote_count.begin(size(queries.rows));
  check_numbered_in_whole("classify", mapped.options());
  if (index.arithmetic == Arithmetic::f32 && !index.groups && resident_rows(*index.store)) {
    const MovedRows moved("search", "query", index, queries, options);
    VotesSink sink(index.shown, found, vote_count);
    search(index, moved, largest_k, mapped.options(), sink, trace);
    if (!sink.counted())
      vote_count.hold({nullptr, 0, size(queries.rows)});  // by bands, products of gaps, or projections
    if (trace) index.tell_metric(trace->plan);
  } else {  // no single device has the labels, the host ranks the neighbours, or rows have groups
    find_nearest(index, queries, largest_k, mapped.options(), found, trace);
    const Stopwatch counting;
    vote_count.hold({nullptr, 0, size(queries.rows)});
    if (trace) trace->total_seconds += counting.seconds();
  }
  index.numbers.to_numbers(found.row);
  if (trace) vote_count.report(*trace);
}

}  // namespace kith
