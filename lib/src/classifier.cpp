#include "kith/classifier.hpp"

#include <algorithm>
#include <string>

#include "kith/error.hpp"
#include "pipeline.hpp"
#include "search.hpp"
#include "voting.hpp"

namespace kith {

struct Classifier::State {
  Index index;
  std::vector<std::int64_t> classes;  ///< ascending
  DeviceMemory labels;                ///< [1, n], places in `classes`

  spi::Grid<std::uint32_t> label_grid() const {
    const auto n = static_cast<std::size_t>(index.rows());
    return {labels.get(), 0, 1, n, n};
  }
};

namespace {

void check_labels(std::span<const std::int64_t> labels, std::int64_t rows) {
  if (static_cast<std::int64_t>(labels.size()) != rows)
    throw Error(Errc::invalid_argument, "classifier: " + std::to_string(labels.size()) + " labels for " +
                                            std::to_string(rows) + " training rows; give one a row");
  for (std::size_t t = 0; t < labels.size(); ++t)
    if (labels[t] < 0)
      throw Error(Errc::invalid_argument, "classifier: the label of training row " + std::to_string(t) +
                                              " is " + std::to_string(labels[t]) + "; labels are 0 or more");
}

/// Votes of one search for several k: every k is a prefix of the longest lists.
struct Ballot {
  std::int64_t k;
  std::vector<std::uint32_t> winner, counts;
};

void vote_on(const Index::State& index, const spi::Grid<std::uint32_t>& labels, std::uint32_t classes,
             MatrixView<const float> queries, const PlanOptions& options, Trace* trace, Neighbors& found,
             std::vector<Ballot>& ballots, std::int64_t largest_k) {
  std::unique_ptr<Voting> voting;
  double seconds = 0;
  const auto m = static_cast<std::size_t>(queries.rows());
  for (Ballot& ballot : ballots) {
    ballot.winner.resize(m);
    ballot.counts.resize(m * classes);
  }
  search_with(index, queries, largest_k, options, trace, found,
              [&](Workspace& workspace, std::int64_t first, std::int64_t count) {
                if (!voting) voting = std::make_unique<Voting>(index.device.state(), count, classes);
                const auto from = static_cast<std::size_t>(first), tile = static_cast<std::size_t>(count);
                for (Ballot& ballot : ballots) {
                  spi::Grid<Key> nearest = workspace.result(count);
                  nearest.cols = static_cast<std::size_t>(ballot.k);
                  voting->vote(nearest, labels, options.threads, std::span(ballot.winner).subspan(from, tile),
                               std::span(ballot.counts).subspan(from * classes, tile * classes),
                               trace ? &seconds : nullptr);
                }
              });
  if (trace) trace->seconds["vote"] = seconds;
}

}  // namespace

Classifier::Classifier(Device device, MatrixView<const float> train, std::span<const std::int64_t> labels,
                       Metric metric, const TrainOptions&) {
  check_labels(labels, train.rows());
  std::vector<std::int64_t> classes(labels.begin(), labels.end());
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::vector<std::uint32_t> places(labels.size());
  for (std::size_t t = 0; t < labels.size(); ++t)
    places[t] = static_cast<std::uint32_t>(std::lower_bound(classes.begin(), classes.end(), labels[t]) -
                                           classes.begin());
  Index index(std::move(device), train, metric);
  DeviceMemory memory = upload_labels(index.device().state(), places);
  state_ = std::make_shared<State>(State{std::move(index), std::move(classes), std::move(memory)});
}

std::vector<std::int64_t> Classifier::predict(MatrixView<const float> queries, std::int64_t k,
                                              const PlanOptions& options) const {
  return classify(queries, k, options).label;
}

Classification Classifier::classify(MatrixView<const float> queries, std::int64_t k,
                                    const PlanOptions& options, Trace* trace) const {
  Classification result;
  std::vector<Ballot> ballots{{k, {}, {}}};
  vote_on(state_->index.state(), state_->label_grid(), static_cast<std::uint32_t>(classes().size()), queries,
          options, trace, result.neighbors, ballots, k);
  for (std::uint32_t winner : ballots[0].winner) result.label.push_back(classes()[winner]);
  result.votes = std::move(ballots[0].counts);
  return result;
}

Sweep Classifier::sweep(MatrixView<const float> queries, std::span<const std::int64_t> ks,
                        const PlanOptions& options, Trace* trace) const {
  if (ks.empty()) throw Error(Errc::invalid_argument, "sweep: there is no k; give at least one");
  std::int64_t largest = 0;
  std::vector<Ballot> ballots;
  for (std::int64_t k : ks) {
    if (k < 1 || k > state_->index.rows())
      throw Error(Errc::invalid_argument,
                  "sweep: k = " + std::to_string(k) + " but the index holds " +
                      std::to_string(state_->index.rows()) +
                      " rows; choose 1 <= k <= " + std::to_string(state_->index.rows()));
    ballots.push_back({k, {}, {}});
    largest = std::max(largest, k);
  }
  Sweep sweep;
  vote_on(state_->index.state(), state_->label_grid(), static_cast<std::uint32_t>(classes().size()), queries,
          options, trace, sweep.neighbors, ballots, largest);
  for (const Ballot& ballot : ballots) {
    sweep.label.emplace_back();
    for (std::uint32_t winner : ballot.winner) sweep.label.back().push_back(classes()[winner]);
  }
  return sweep;
}

const std::vector<std::int64_t>& Classifier::classes(std::int64_t) const {
  return state_->classes;
}
const Index& Classifier::index() const {
  return state_->index;
}

}  // namespace kith
