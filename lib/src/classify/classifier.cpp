#include "kith/classifier.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/refuse.hpp"
#include "classify/classifier_state.hpp"
#include "classify/host_votes.hpp"
#include "kith/error.hpp"
#include "kith/labels.hpp"
#include "rows/index_state.hpp"
#include "rows/labels/distinct.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/groups/group_search.hpp"
#include "search/stores/resident_store.hpp"
#include "vote/votes.hpp"
#include "vote/voting.hpp"

namespace kith {
namespace {

void check_labels(MatrixView<const std::int64_t> labels, std::int64_t rows) {
  if (labels.rows() != rows)
    refuse("classifier", "" + std::to_string(labels.rows()) + " labels for " + std::to_string(rows) +
                             " training rows; give one a row");
  if (labels.cols() < 1) refuse("classifier", "the labels have no column; give at least one");
  check_view("classifier", "label", labels);
}

/// Makes column `output` from the labels of earlier rows and of `more`, and puts it on the device of `index`.
LabelColumn make_column(const Index& index, const LabelColumn* before, MatrixView<const std::int64_t> more,
                        std::int64_t output) {
  std::vector<std::int64_t> gathered;
  std::span<const std::int64_t> labels(more.data(), static_cast<std::size_t>(more.rows()));
  if (before || more.cols() != 1 || more.stride() != 1) {
    gathered.reserve(static_cast<std::size_t>(index.rows()));
    if (before)
      for (const std::uint32_t code : before->codes) gathered.push_back(before->classes[code]);
    for (std::int64_t t = 0; t < more.rows(); ++t) gathered.push_back(more(t, output));
    labels = gathered;
  }
  std::vector<std::int64_t> classes = distinct(labels);
  if (before) {  // keeps classes that no row has any more
    classes.insert(classes.end(), before->classes.begin(), before->classes.end());
    classes = distinct(classes);
  }
  LabelColumn column{std::move(classes), {}, {}};
  column.codes = class_codes(labels, column.classes);
  if (resident_rows(*index.state().store))
    column.memory = upload_labels(index.device().state(), column.codes);
  return column;
}

/// Expands labels of the live rows, [rows(), outputs], to all rows on the device. Removed rows get an
/// arbitrary label, since they do not vote.
std::vector<std::int64_t> labels_at_places(const Index& index, MatrixView<const std::int64_t> labels) {
  const Index::State& state = index.state();
  std::vector<std::int64_t> all;
  all.reserve(static_cast<std::size_t>(state.rows * labels.cols()));
  std::int64_t live = 0;
  for (std::int64_t place = 0; place < state.rows; ++place) {
    const bool removed = state.removed.has(place);
    const std::int64_t* const from = labels.row(removed ? 0 : live);
    all.insert(all.end(), from, from + labels.cols());
    if (!removed) ++live;
  }
  return all;
}

std::vector<float> weights_at_places(const Index& index, std::vector<float> weights) {
  const Index::State& state = index.state();
  if (state.removed.count() == 0 || weights.empty()) return weights;
  std::vector<float> all(static_cast<std::size_t>(state.rows));
  auto from = weights.begin();
  for (std::int64_t place = 0; place < state.rows; ++place)
    if (!state.removed.has(place)) all[static_cast<std::size_t>(place)] = *from++;
  return all;
}

/// Sorts labels, in the order given by the caller, by ids: [rows, outputs].
std::vector<std::int64_t> labels_by_ids(MatrixView<const std::int64_t> labels,
                                        std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> all;
  all.reserve(cells_of(labels.rows(), labels.cols()));
  for (std::int64_t t = 0; t < labels.rows(); ++t)
    all.insert(all.end(), labels.row(t), labels.row(t) + labels.cols());
  return by_ids(std::move(all), static_cast<std::size_t>(labels.cols()), ids);
}

/// Labels the rows of `index`. The caller has checked all arguments.
///   labels  [places, outputs]
LabelledRows labelled(const Index& index, MatrixView<const std::int64_t> labels,
                      std::vector<float> sample_weights) {
  LabelledRows rows{{}, std::move(sample_weights)};
  for (std::int64_t output = 0; output < labels.cols(); ++output)
    rows.outputs.push_back(make_column(index, nullptr, labels, output));
  return rows;
}

const LabelColumn& column_of(const Classifier::State& state, std::int64_t output) {
  const auto outputs = static_cast<std::int64_t>(state.outputs.size());
  if (output < 0 || output >= outputs)
    refuse("classifier", "there is no output " + std::to_string(output) + "; it has " +
                             std::to_string(outputs) + ", counted from 0");
  return state.outputs[static_cast<std::size_t>(output)];
}

void check_output(const Classifier::State& state, const VotingOptions& voting, std::int64_t output,
                  std::int64_t k) {
  check_voting("classify", voting, state.index.metric(), column_of(state, output).classes.size(), k);
}

/// Makes the same column for only the rows at these places.
LabelColumn column_at(const Index& index, const LabelColumn& of, std::span<const std::int64_t> places) {
  LabelColumn column{of.classes, values_at(of.codes, 1, places), {}};
  if (resident_rows(*index.state().store))
    column.memory = upload_labels(index.device().state(), column.codes);
  return column;
}

}  // namespace

std::vector<float> joined_weights(const std::vector<float>& before, std::int64_t rows,
                                  std::span<const float> more, std::int64_t count) {
  std::vector<float> weights = before;
  if (weights.empty() && more.empty()) return weights;
  weights.resize(static_cast<std::size_t>(rows), 1.0f);
  weights.insert(weights.end(), more.begin(), more.end());
  weights.resize(static_cast<std::size_t>(rows + count), 1.0f);
  return weights;
}

Classifier::Classifier(Device device, const RowsView& train, MatrixView<const std::int64_t> labels,
                       Metric metric, const IndexOptions& options, std::vector<float> sample_weights) try {
  check_labels(labels, train.rows);
  check_sample_weights("classifier", sample_weights, train.rows);
  const Index index(std::move(device), train, metric, options);
  const std::vector<std::int64_t> all = labels_by_ids(labels, options.ids);
  auto rows = std::make_shared<LabelledRows>(labelled(index, {all.data(), labels.rows(), labels.cols()},
                                                      by_ids(std::move(sample_weights), 1, options.ids)));
  state_ = std::make_shared<State>(State{index, std::move(rows)});
} catch (...) {
  rethrow_as_error();
}

Classifier::Classifier(Index index, MatrixView<const std::int64_t> labels,
                       std::vector<float> sample_weights) try {
  check_labels(labels, index.rows());
  check_sample_weights("classifier", sample_weights, index.rows());
  const std::vector<std::int64_t> all = labels_at_places(index, labels);
  auto rows = std::make_shared<LabelledRows>(labelled(index, {all.data(), index.state().rows, labels.cols()},
                                                      weights_at_places(index, std::move(sample_weights))));
  state_ = std::make_shared<State>(State{std::move(index), std::move(rows)});
} catch (...) {
  rethrow_as_error();
}

Classifier::Classifier(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Classifier Classifier::with(const RowsView& more, MatrixView<const std::int64_t> labels,
                            std::span<const float> sample_weights, std::span<const std::int64_t> ids) const
    try {
  check_labels(labels, more.rows);
  if (labels.cols() != outputs())
    refuse("classifier", "the labels have " + std::to_string(labels.cols()) + " columns, but there are " +
                             std::to_string(outputs()) + " outputs; give one column an output");
  check_sample_weights("classifier", sample_weights, more.rows);
  const Index index = state_->index.with(more, ids);
  const std::vector<std::int64_t> added = labels_by_ids(labels, ids);
  const std::vector<float> weights =
      by_ids(std::vector<float>(sample_weights.begin(), sample_weights.end()), 1, ids);
  auto rows = std::make_shared<LabelledRows>(LabelledRows{
      {}, joined_weights(state_->sample_weights, state_->index.state().rows, weights, more.rows)});
  for (std::int64_t output = 0; output < outputs(); ++output)
    rows->outputs.push_back(make_column(index, &state_->outputs[static_cast<std::size_t>(output)],
                                        {added.data(), labels.rows(), labels.cols()}, output));
  return Classifier(std::make_shared<State>(State{index, std::move(rows)}));
} catch (...) {
  rethrow_as_error();
}

Classifier Classifier::without(std::span<const std::int64_t> rows) const try {
  return Classifier(std::make_shared<State>(State{state_->index.without(rows), state_->rows}));
} catch (...) {
  rethrow_as_error();
}

Classifier Classifier::compact() const try {
  const Index index = state_->index.compact();
  if (state_->index.state().removed.count() == 0)
    return Classifier(std::make_shared<State>(State{index, state_->rows}));
  const std::vector<std::int64_t> places = state_->index.state().live_places();
  auto rows = std::make_shared<LabelledRows>();
  if (!state_->sample_weights.empty()) rows->sample_weights = values_at(state_->sample_weights, 1, places);
  for (const LabelColumn& column : state_->outputs) rows->outputs.push_back(column_at(index, column, places));
  return Classifier(std::make_shared<State>(State{index, std::move(rows)}));
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> Classifier::predict(const RowsView& queries, std::int64_t k,
                                              const SearchOptions& options) const {
  return predict(queries, k, VotingOptions{}, options);
}

std::vector<std::int64_t> Classifier::predict(const RowsView& queries, std::int64_t k,
                                              const VotingOptions& voting, const SearchOptions& options) const
    try {
  std::vector<Ballot> ballots;
  for (std::size_t output = 0; output < state_->outputs.size(); ++output) {
    check_output(*state_, voting, static_cast<std::int64_t>(output), k);
    ballots.push_back({k, output});
  }
  Neighbors found;
  count_votes(*state_, voting, queries, k, options, nullptr, found, ballots);
  if (ballots.size() == 1) return std::move(ballots[0].label);
  std::vector<std::int64_t> labels;
  labels.reserve(ballots.size() * ballots[0].label.size());
  for (std::size_t q = 0; q < ballots[0].label.size(); ++q)
    for (const Ballot& ballot : ballots) labels.push_back(ballot.label[q]);
  return labels;
} catch (...) {
  rethrow_as_error();
}

std::vector<double> Classifier::predict_proba(const RowsView& queries, std::int64_t k,
                                              const VotingOptions& voting, const SearchOptions& options,
                                              std::int64_t output) const try {
  check_output(*state_, voting, output, k);
  std::vector<Ballot> ballots{{k, static_cast<std::size_t>(output), true}};
  Neighbors found;
  count_votes(*state_, voting, queries, k, options, nullptr, found, ballots);
  return shares(voting, ballots[0].votes, ballots[0].scores, column_of(*state_, output).classes.size(),
                options.threads);
} catch (...) {
  rethrow_as_error();
}

Neighbors Classifier::kneighbors(const RowsView& queries, std::int64_t k, const SearchOptions& options) const
    try {
  return state_->index.search(queries, k, options);
} catch (...) {
  rethrow_as_error();
}

Classification Classifier::classify(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                                    Trace* trace) const {
  return classify(queries, k, VotingOptions{}, options, trace);
}

Classification Classifier::classify(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                                    const SearchOptions& options, Trace* trace) const try {
  check_output(*state_, voting, 0, k);
  std::vector<Ballot> ballots{{k, 0, true}};
  Classification result;
  count_votes(*state_, voting, queries, k, options, trace, result.neighbors, ballots);
  result.label = std::move(ballots[0].label);
  result.votes = std::move(ballots[0].votes);
  give_scores(std::move(ballots[0].scores), result);
  return result;
} catch (...) {
  rethrow_as_error();
}

std::vector<Classification> Classifier::classify_outputs(const RowsView& queries, std::int64_t k,
                                                         const VotingOptions& voting,
                                                         const SearchOptions& options, Trace* trace) const
    try {
  std::vector<Ballot> ballots;
  for (std::size_t output = 0; output < state_->outputs.size(); ++output) {
    check_output(*state_, voting, static_cast<std::int64_t>(output), k);
    ballots.push_back({k, output, true});
  }
  Neighbors found;
  count_votes(*state_, voting, queries, k, options, trace, found, ballots);
  std::vector<Classification> results;
  results.reserve(ballots.size());
  for (Ballot& ballot : ballots) {
    results.push_back({std::move(ballot.label), std::move(ballot.votes), {}, found});
    give_scores(std::move(ballot.scores), results.back());
  }
  return results;
} catch (...) {
  rethrow_as_error();
}

Sweep Classifier::sweep(const RowsView& queries, std::span<const std::int64_t> ks,
                        const SearchOptions& options, Trace* trace) const {
  return sweep(queries, ks, VotingOptions{}, options, trace);
}

Sweep Classifier::sweep(const RowsView& queries, std::span<const std::int64_t> ks,
                        const VotingOptions& voting, const SearchOptions& options, Trace* trace,
                        std::int64_t counted_k) const try {
  if (ks.empty()) refuse("sweep", "there is no k; give at least one");
  std::vector<Ballot> ballots;
  bool counts = false;
  for (const std::int64_t k : ks) {
    check_k("sweep", k, state_->index.rows(), options);
    ballots.push_back({k, 0, k == counted_k && !counts});
    counts = counts || k == counted_k;
  }
  if (counted_k != 0 && !counts)
    refuse("sweep",
           "counted_k = " + std::to_string(counted_k) + " is none of ks; add it there, or leave it out");
  const std::int64_t largest = *std::max_element(ks.begin(), ks.end());
  check_voting("sweep", voting, state_->index.metric(), classes().size(), largest);
  Sweep sweep;
  count_votes(*state_, voting, queries, largest, options, trace, sweep.neighbors, ballots);
  for (Ballot& ballot : ballots) {
    sweep.label.push_back(std::move(ballot.label));
    if (!ballot.keep) continue;
    sweep.votes = std::move(ballot.votes);
    give_scores(std::move(ballot.scores), sweep);
  }
  return sweep;
} catch (...) {
  rethrow_as_error();
}

std::int64_t Classifier::outputs() const {
  return static_cast<std::int64_t>(state_->outputs.size());
}
const std::vector<std::int64_t>& Classifier::classes(std::int64_t output) const {
  return column_of(*state_, output).classes;
}
const std::vector<std::uint32_t>& Classifier::codes(std::int64_t output) const {
  return column_of(*state_, output).codes;
}
const std::vector<float>& Classifier::sample_weights() const {
  return state_->sample_weights;
}
const Index& Classifier::index() const {
  return state_->index;
}

}  // namespace kith
