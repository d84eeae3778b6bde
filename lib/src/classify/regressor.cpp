#include "kith/regressor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "classify/averages.hpp"
#include "classify/classifier_state.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/mapped_options.hpp"
#include "rows/rows.hpp"
#include "search/groups/group_search.hpp"
#include "search/nearest.hpp"
#include "vote/weights.hpp"

namespace kith {

/// Holds values and weights of all rows on the device, also of removed ones. Snapshots share it.
struct ValuedRows {
  std::int64_t outputs;
  std::vector<double> values;         ///< [rows, outputs]
  std::vector<float> sample_weights;  ///< [rows], or empty
};

struct Regressor::State {
  Index index;
  std::shared_ptr<const ValuedRows> rows;
  std::int64_t outputs = rows->outputs;
  const std::vector<double>& values = rows->values;
  const std::vector<float>& sample_weights = rows->sample_weights;
};

namespace {

/// Averages all lists in `found`, and times it.
template <class Found>
std::vector<double> averages_of(const Regressor::State& state, const VotingOptions& voting,
                                const SearchOptions& options, Trace* trace, const Found& found) {
  const Stopwatch averaging;
  std::vector<double> means =
      average_all({static_cast<std::size_t>(state.outputs), state.values}, state.sample_weights, voting,
                  found.arithmetic, found.queries, found.row.size(), options.threads, lists_in(found));
  if (trace) {
    trace->seconds["average"] = averaging.seconds();
    trace->total_seconds += averaging.seconds();
  }
  return means;
}

/// Averages all rows within radii, which are floats or doubles.
template <class Radii>
RadiusRegression average_within(const Regressor::State& state, const RowsView& queries, Radii radii,
                                const VotingOptions& voting, const SearchOptions& options, Trace* trace) {
  const FloatGuard guard;
  check_weights("regress_within", voting, state.index.metric(), 0);
  RadiusRegression result;
  const Index::State& index = state.index.state();
  const MappedOptions mapped("within", index, options, queries.rows, std::nullopt);
  RadiusNeighbors& found = result.neighbors;
  check_numbered_in_whole("regress_within", mapped.options());
  found = find_within(index, queries, radii, mapped.options(), trace);
  check_weights("regress_within", voting, state.index.metric(), longest_list(found));
  result.value = averages_of(state, voting, options, trace, found);
  index.numbers.to_numbers(found.row);
  return result;
}

/// Expands values of the live rows, [rows(), columns], to all rows on the device.
template <class T>
std::vector<T> spread(const Index& index, std::vector<T> values, std::int64_t columns) {
  const Index::State& state = index.state();
  if (state.removed.count() == 0 || values.empty()) return values;
  std::vector<T> all(static_cast<std::size_t>(state.rows * columns));
  auto from = values.begin();
  for (const std::int64_t place : state.live_places()) {
    std::copy_n(from, columns, all.begin() + place * columns);
    from += columns;
  }
  return all;
}

}  // namespace

std::vector<double> checked_values(MatrixView<const double> values, std::int64_t rows) {
  if (values.rows() != rows)
    refuse("regressor", std::to_string(values.rows()) + " values for " + std::to_string(rows) +
                            " training rows; give one a row");
  if (values.cols() < 1) refuse("regressor", "the values have no column; give at least one");
  check_view("regressor", "value", values);
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(rows * values.cols()));
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t o = 0; o < values.cols(); ++o) {
      if (!std::isfinite(values(t, o)))
        refuse("regressor", "the value of training row " + std::to_string(t) + ", output " +
                                std::to_string(o) + " is " + text_of(values(t, o)) +
                                "; make every value finite, or leave the row out");
      all.push_back(values(t, o));
    }
  return all;
}

void average(const RowValues& of, const Weigher& weigher, const NeighborList& list, double* means) {
  std::fill(means, means + of.outputs, 0.0);
  double total = 0;
  for (std::size_t j = 0; j < list.index.size() && list.index[j] >= 0; ++j) {
    const auto t = static_cast<std::size_t>(list.index[j]);
    const double weight = weigher.weight(j, list.distance(0), list.distance(j), t);
    total += weight;
    for (std::size_t o = 0; o < of.outputs; ++o) means[o] += weight * of.values[t * of.outputs + o];
  }
  for (std::size_t o = 0; o < of.outputs; ++o)
    means[o] = total == 0 ? std::numeric_limits<double>::quiet_NaN() : means[o] / total;
}

Regressor::Regressor(Device device, const RowsView& train, MatrixView<const double> values, Metric metric,
                     const IndexOptions& options, std::vector<float> sample_weights) try {
  std::vector<double> kept = checked_values(values, train.rows);
  check_sample_weights("regressor", sample_weights, train.rows);
  Index index(std::move(device), train, metric, options);
  const auto columns = static_cast<std::size_t>(values.cols());
  auto rows =
      std::make_shared<ValuedRows>(ValuedRows{values.cols(), by_ids(std::move(kept), columns, options.ids),
                                              by_ids(std::move(sample_weights), 1, options.ids)});
  state_ = std::make_shared<State>(State{std::move(index), std::move(rows)});
} catch (...) {
  rethrow_as_error();
}

Regressor::Regressor(Index index, MatrixView<const double> values, std::vector<float> sample_weights) try {
  std::vector<double> kept = checked_values(values, index.rows());
  check_sample_weights("regressor", sample_weights, index.rows());
  auto rows =
      std::make_shared<ValuedRows>(ValuedRows{values.cols(), spread(index, std::move(kept), values.cols()),
                                              spread(index, std::move(sample_weights), 1)});
  state_ = std::make_shared<State>(State{std::move(index), std::move(rows)});
} catch (...) {
  rethrow_as_error();
}

Regressor::Regressor(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Regressor Regressor::with(const RowsView& more, MatrixView<const double> values,
                          std::span<const float> sample_weights, std::span<const std::int64_t> ids) const
    try {
  std::vector<double> added = checked_values(values, more.rows);
  if (values.cols() != outputs())
    refuse("regressor", "the values have " + std::to_string(values.cols()) + " columns, but there are " +
                            std::to_string(outputs()) + " outputs; give one column an output");
  check_sample_weights("regressor", sample_weights, more.rows);
  const Index index = state_->index.with(more, ids);
  added = by_ids(std::move(added), static_cast<std::size_t>(outputs()), ids);
  const std::vector<float> weights =
      by_ids(std::vector<float>(sample_weights.begin(), sample_weights.end()), 1, ids);
  const std::int64_t before = state_->index.state().rows;
  auto rows = std::make_shared<ValuedRows>(ValuedRows{
      outputs(), state_->values, joined_weights(state_->sample_weights, before, weights, more.rows)});
  rows->values.insert(rows->values.end(), added.begin(), added.end());
  return Regressor(std::make_shared<State>(State{index, std::move(rows)}));
} catch (...) {
  rethrow_as_error();
}

Regressor Regressor::without(std::span<const std::int64_t> rows) const try {
  return Regressor(std::make_shared<State>(State{state_->index.without(rows), state_->rows}));
} catch (...) {
  rethrow_as_error();
}

Regressor Regressor::compact() const try {
  const Index index = state_->index.compact();
  if (state_->index.state().removed.count() == 0)
    return Regressor(std::make_shared<State>(State{index, state_->rows}));
  const std::vector<std::int64_t> places = state_->index.state().live_places();
  auto rows = std::make_shared<ValuedRows>(
      ValuedRows{outputs(), values_at(state_->values, static_cast<std::size_t>(outputs()), places), {}});
  if (!state_->sample_weights.empty()) rows->sample_weights = values_at(state_->sample_weights, 1, places);
  return Regressor(std::make_shared<State>(State{index, std::move(rows)}));
} catch (...) {
  rethrow_as_error();
}

std::vector<double> Regressor::predict(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                                       const SearchOptions& options) const {
  return regress(queries, k, voting, options).value;
}

Regression Regressor::regress(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                              const SearchOptions& options, Trace* trace) const try {
  const FloatGuard guard;
  check_weights("regress", voting, state_->index.metric(), k);
  Regression result;
  const Index::State& index = state_->index.state();
  const MappedOptions mapped("search", index, options, queries.rows, k);
  Neighbors& found = result.neighbors;
  check_numbered_in_whole("regress", mapped.options());
  find_nearest(index, queries, k, mapped.options(), found, trace);
  result.value = averages_of(*state_, voting, options, trace, found);
  index.numbers.to_numbers(found.row);
  return result;
} catch (...) {
  rethrow_as_error();
}

RadiusRegression Regressor::regress_within(const RowsView& queries, std::span<const float> radii,
                                           const VotingOptions& voting, const SearchOptions& options,
                                           Trace* trace) const try {
  return average_within(*state_, queries, radii, voting, options, trace);
} catch (...) {
  rethrow_as_error();
}

RadiusRegression Regressor::regress_within(const RowsView& queries, std::span<const double> radii,
                                           const VotingOptions& voting, const SearchOptions& options,
                                           Trace* trace) const try {
  return average_within(*state_, queries, radii, voting, options, trace);
} catch (...) {
  rethrow_as_error();
}

std::int64_t Regressor::outputs() const {
  return state_->outputs;
}
const std::vector<double>& Regressor::values() const {
  return state_->values;
}
const std::vector<float>& Regressor::sample_weights() const {
  return state_->sample_weights;
}
const Index& Regressor::index() const {
  return state_->index;
}

}  // namespace kith
