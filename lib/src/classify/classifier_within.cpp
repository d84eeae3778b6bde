// Lets all training rows within a radius vote.
#include <utility>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "classify/classifier_state.hpp"
#include "classify/host_votes.hpp"
#include "device/timing.hpp"
#include "rows/mapped_options.hpp"
#include "search/groups/group_search.hpp"
#include "search/nearest.hpp"
#include "vote/votes.hpp"

namespace kith {

namespace {

/// Lets all rows within radii, which are floats or doubles, vote.
template <class Radii>
RadiusClassification vote_within(const Classifier::State& state, const RowsView& queries, Radii radii,
                                 const VotingOptions& voting, const SearchOptions& options, Trace* trace) {
  const FloatGuard guard;
  const LabelColumn& labels = state.outputs[0];
  const Metric metric = state.index.metric();
  check_voting("classify_within", voting, metric, labels.classes.size(), 0);
  RadiusClassification result;
  RadiusNeighbors& found = result.neighbors;
  const Index::State& index = state.index.state();
  const MappedOptions mapped("within", index, options, queries.rows, std::nullopt);
  check_numbered_in_whole("classify_within", mapped.options());
  found = find_within(index, queries, radii, mapped.options(), trace);
  check_weights("classify_within", voting, metric, longest_list(found));
  const Stopwatch deciding;
  Counted counted =
      count_votes(voting, labels.classes, labels.codes, state.sample_weights, found.arithmetic,
                  static_cast<std::size_t>(queries.rows), found.row.size(), options.threads, lists_in(found));
  result.label = std::move(counted.label);
  result.votes = std::move(counted.votes);
  give_scores(std::move(counted.scores), result);
  index.numbers.to_numbers(found.row);
  if (trace) {
    trace->seconds["decide"] = deciding.seconds();
    trace->total_seconds += deciding.seconds();
  }
  return result;
}

}  // namespace

RadiusClassification Classifier::classify_within(const RowsView& queries, std::span<const float> radii,
                                                 const VotingOptions& voting, const SearchOptions& options,
                                                 Trace* trace) const try {
  return vote_within(*state_, queries, radii, voting, options, trace);
} catch (...) {
  rethrow_as_error();
}

RadiusClassification Classifier::classify_within(const RowsView& queries, std::span<const double> radii,
                                                 const VotingOptions& voting, const SearchOptions& options,
                                                 Trace* trace) const try {
  return vote_within(*state_, queries, radii, voting, options, trace);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
