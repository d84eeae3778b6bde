#include "kith/regressor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/border.hpp"
#include "base/text.hpp"
#include "classify/averages.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/rows.hpp"
#include "vote/weights.hpp"

namespace kith {

struct Regressor::State {
  Index index;
  std::int64_t outputs;
  std::vector<double> values;         ///< [n, outputs]
  std::vector<float> sample_weights;  ///< [n], or empty
};

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Errc::invalid_argument, "regressor: " + message);
}

/// The means of all lists that were found, timed.
template <class Found>
std::vector<double> averages_of(const Regressor::State& state, const VotingOptions& voting,
                                const PlanOptions& options, Trace* trace, const Found& found) {
  const Stopwatch averaging;
  std::vector<double> means =
      average_all({static_cast<std::size_t>(state.outputs), state.values}, state.sample_weights, voting,
                  found.queries, found.index.size(), options.threads, lists_in(found));
  if (trace) {
    trace->seconds["average"] = averaging.seconds();
    trace->total_seconds += averaging.seconds();
  }
  return means;
}

}  // namespace

std::vector<double> checked_values(MatrixView<const double> values, std::int64_t rows) {
  if (values.rows() != rows)
    refuse(std::to_string(values.rows()) + " values for " + std::to_string(rows) +
           " training rows; give one a row");
  if (values.cols() < 1) refuse("the values have no column; give at least one");
  check_view("regressor", "value", values);
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(rows * values.cols()));
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t o = 0; o < values.cols(); ++o) {
      if (!std::isfinite(values(t, o)))
        refuse("the value of training row " + std::to_string(t) + ", output " + std::to_string(o) + " is " +
               text_of(values(t, o)) + "; make every value finite, or leave the row out");
      all.push_back(values(t, o));
    }
  return all;
}

void average(const RowValues& of, const Weigher& weigher, const NeighborList& list, double* means) {
  std::fill(means, means + of.outputs, 0.0);
  double total = 0;
  for (std::size_t j = 0; j < list.index.size() && list.index[j] >= 0; ++j) {
    const auto t = static_cast<std::size_t>(list.index[j]);
    const auto weight = static_cast<double>(weigher.weight(j, list.distance[0], list.distance[j], t));
    total += weight;
    for (std::size_t o = 0; o < of.outputs; ++o) means[o] += weight * of.values[t * of.outputs + o];
  }
  for (std::size_t o = 0; o < of.outputs; ++o)
    means[o] = total == 0 ? std::numeric_limits<double>::quiet_NaN() : means[o] / total;
}

Regressor::Regressor(Device device, const RowsView& train, MatrixView<const double> values, Metric metric,
                     const TrainOptions& options) try {
  std::vector<double> kept = checked_values(values, train.rows);
  check_sample_weights("regressor", options.sample_weights, train.rows);
  state_ = std::make_shared<State>(State{Index(std::move(device), train, metric, {options.features}),
                                         values.cols(), std::move(kept), options.sample_weights});
} catch (...) {
  rethrow_as_error();
}

Regressor::Regressor(Index index, MatrixView<const double> values, std::vector<float> sample_weights) try {
  std::vector<double> kept = checked_values(values, index.rows());
  check_sample_weights("regressor", sample_weights, index.rows());
  state_ = std::make_shared<State>(
      State{std::move(index), values.cols(), std::move(kept), std::move(sample_weights)});
} catch (...) {
  rethrow_as_error();
}

std::vector<double> Regressor::predict(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                                       const PlanOptions& options) const {
  return regress(queries, k, voting, options).value;
}

Regression Regressor::regress(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                              const PlanOptions& options, Trace* trace) const try {
  check_weights("regress", voting, state_->index.metric(), k);
  Regression result;
  const Neighbors& found = result.neighbors = state_->index.search(queries, k, options, trace);
  result.value = averages_of(*state_, voting, options, trace, found);
  return result;
} catch (...) {
  rethrow_as_error();
}

RadiusRegression Regressor::regress_within(const RowsView& queries, std::span<const float> radii,
                                           const VotingOptions& voting, const PlanOptions& options,
                                           Trace* trace) const try {
  check_weights("regress_within", voting, state_->index.metric(), 0);
  RadiusRegression result;
  const RadiusNeighbors& found = result.neighbors = state_->index.within(queries, radii, options, trace);
  check_weights("regress_within", voting, state_->index.metric(), longest_list(found));
  result.value = averages_of(*state_, voting, options, trace, found);
  return result;
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
