// Votes of all training rows within a radius.
#include <algorithm>

#include "base/border.hpp"
#include "classify/classifier_state.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "vote/votes.hpp"

namespace kith {

RadiusClassification Classifier::classify_within(const RowsView& queries, std::span<const float> radii,
                                                 const VotingOptions& voting, const PlanOptions& options,
                                                 Trace* trace) const try {
  const LabelColumn& labels = state_->outputs[0];
  const std::size_t m = static_cast<std::size_t>(queries.rows), classes = labels.classes.size();
  const Metric metric = state_->index.metric();
  check_voting("classify_within", voting, metric, classes, 0);
  RadiusClassification result;
  RadiusNeighbors& found = result.neighbors;
  found = state_->index.within(queries, radii, options, trace);
  check_weights("classify_within", voting, metric, longest_list(found));
  const Stopwatch deciding;
  result.label.resize(m);
  result.votes.resize(m * classes);
  std::vector<Scorer> scorers(team_size(options.threads),
                              Scorer(voting, classes, labels.codes, state_->sample_weights));
  if (!scorers[0].all_one()) result.scores.resize(m * classes);
  run_team(m, m * classes + found.index.size(), team_size(options.threads),
           [&](std::size_t q, std::size_t thread) {
             Scorer& scorer = scorers[thread];
             scorer.begin();
             for (auto i = static_cast<std::size_t>(found.first[q]);
                  i < static_cast<std::size_t>(found.first[q + 1]); ++i)
               scorer.add(found.index[i], found.distance[i]);
             const std::int64_t winner = scorer.winner();
             result.label[q] = winner == Scorer::nobody ? voting.no_label
                                                        : labels.classes[static_cast<std::size_t>(winner)];
             const auto to = static_cast<std::ptrdiff_t>(q * classes);
             std::copy(scorer.votes().begin(), scorer.votes().end(), result.votes.begin() + to);
             if (!scorer.all_one())
               std::copy(scorer.scores().begin(), scorer.scores().end(), result.scores.begin() + to);
           });
  if (trace) {
    trace->seconds["decide"] = deciding.seconds();
    trace->total_seconds += deciding.seconds();
  }
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
