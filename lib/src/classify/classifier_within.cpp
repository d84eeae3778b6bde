// Lets all training rows within a radius vote.
#include <utility>

#include "base/border.hpp"
#include "classify/classifier_state.hpp"
#include "classify/host_votes.hpp"
#include "device/timing.hpp"
#include "rows/landed/centred_rows.hpp"
#include "rows/mapped_options.hpp"
#include "search/stores/search.hpp"
#include "vote/votes.hpp"

namespace kith {

RadiusClassification Classifier::classify_within(const RowsView& queries, std::span<const float> radii,
                                                 const VotingOptions& voting, const SearchOptions& options,
                                                 Trace* trace) const try {
  const LabelColumn& labels = state_->outputs[0];
  const Metric metric = state_->index.metric();
  check_voting("classify_within", voting, metric, labels.classes.size(), 0);
  RadiusClassification result;
  RadiusNeighbors& found = result.neighbors;
  const Index::State& index = state_->index.state();
  const MappedOptions mapped("within", index, options, queries.rows, std::nullopt);
  const CentredRows centred("within", "query", index, queries);
  found = search_within(index, centred, radii, mapped.options(), trace);
  check_weights("classify_within", voting, metric, longest_list(found));
  const Stopwatch deciding;
  Counted counted =
      count_votes(voting, labels.classes, labels.codes, state_->sample_weights,
                  static_cast<std::size_t>(queries.rows), found.row.size(), options.threads, lists_in(found));
  result.label = std::move(counted.label);
  result.votes = std::move(counted.votes);
  result.scores = std::move(counted.scores);
  index.numbers.to_numbers(found.row);
  if (trace) {
    trace->seconds["decide"] = deciding.seconds();
    trace->total_seconds += deciding.seconds();
  }
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
