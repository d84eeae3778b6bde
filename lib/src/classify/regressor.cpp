#include "kith/regressor.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "base/border.hpp"
#include "base/text.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
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

/// One list of neighbours, nearest first.
struct List {
  std::span<const std::int64_t> index;
  std::span<const float> distance;
};

/// Weighted means of the values of its rows; NaN where no weight is above 0.
///   means  [outputs]
void average(const Regressor::State& state, const Weigher& weigher, const List& list, double* means) {
  const auto outputs = static_cast<std::size_t>(state.outputs);
  std::fill(means, means + outputs, 0.0);
  double total = 0;
  for (std::size_t j = 0; j < list.index.size() && list.index[j] >= 0; ++j) {
    const auto t = static_cast<std::size_t>(list.index[j]);
    const auto weight = static_cast<double>(weigher.weight(j, list.distance[0], list.distance[j], t));
    total += weight;
    for (std::size_t o = 0; o < outputs; ++o) means[o] += weight * state.values[t * outputs + o];
  }
  for (std::size_t o = 0; o < outputs; ++o)
    means[o] = total == 0 ? std::numeric_limits<double>::quiet_NaN() : means[o] / total;
}

/// The same for m queries; `list_of(q)` is the list of query q.
///   cells    neighbours of all queries together
///   returns  [m, outputs]
template <class ListOf>
std::vector<double> average_all(const Regressor::State& state, const VotingOptions& voting, std::int64_t m,
                                std::size_t cells, const PlanOptions& options, Trace* trace,
                                const ListOf& list_of) {
  const Stopwatch averaging;
  const auto outputs = static_cast<std::size_t>(state.outputs);
  std::vector<double> means(static_cast<std::size_t>(m) * outputs);
  const Weigher weigher(voting, state.sample_weights);
  parallel_for(m, static_cast<std::int64_t>(cells * outputs), options.threads, [&](std::int64_t q) {
    average(state, weigher, list_of(static_cast<std::size_t>(q)),
            means.data() + static_cast<std::size_t>(q) * outputs);
  });
  if (trace) {
    trace->seconds["average"] = averaging.seconds();
    trace->total_seconds += averaging.seconds();
  }
  return means;
}

}  // namespace

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
  const auto longest = static_cast<std::size_t>(k);
  result.value =
      average_all(*state_, voting, queries.rows, found.index.size(), options, trace, [&](std::size_t q) {
        return List{std::span(found.index).subspan(q * longest, longest),
                    std::span(found.distance).subspan(q * longest, longest)};
      });
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
  result.value =
      average_all(*state_, voting, queries.rows, found.index.size(), options, trace, [&](std::size_t q) {
        const auto first = static_cast<std::size_t>(found.first[q]);
        const auto count = static_cast<std::size_t>(found.count(static_cast<std::int64_t>(q)));
        return List{std::span(found.index).subspan(first, count),
                    std::span(found.distance).subspan(first, count)};
      });
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
