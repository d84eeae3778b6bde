#include "command/rows/training_index.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>

#include "command/input/index_input.hpp"
#include "command/rows/pieces.hpp"
#include "kith/index_file.hpp"

namespace kith::command {
namespace {

/// Returns the rows of the file that this rank holds, or keeps after it has read all.
files::RowRange my_range(const Training& training) {
  const std::optional<files::RowRange>& held = training.rows.table.held;
  return held ? *held : files::part_of(training.n(), ranks()->rank(), ranks()->size());
}

/// Returns the numbers of all training rows: query q leaves out row q.
std::vector<std::int64_t> all_rows(std::int64_t n) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Returns the first k of each list.
Keys nearest_of(const Keys& keys, std::int64_t k) {
  const auto some_of = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> some;
    if (all.empty()) return some;  // values of the other arithmetic
    for (std::int64_t q = 0; q < keys.queries; ++q)
      some.insert(some.end(), all.begin() + q * keys.k, all.begin() + q * keys.k + k);
    return some;
  };
  return {keys.queries, k, some_of(keys.value), some_of(keys.row), keys.arithmetic, some_of(keys.value64)};
}

/// Renumbers keys from 0, as search() numbers rows, instead of from first_row.
template <class Found>
Found numbered_from_0(Found keys, std::int64_t first_row) {
  if (first_row == 0) return keys;
  for (std::int64_t& row : keys.row)
    if (row >= 0) row -= first_row;
  return keys;
}

MatrixView<const double> values_of(const Training& training) {
  return {training.values.data(), training.n(), static_cast<std::int64_t>(training.value_names.size())};
}

}  // namespace

TrainingIndex::TrainingIndex(Training& training, const Device& device, Metric metric, bool keep) {
  if (!ranks()) {
    alone_ = index_of(training, device, metric, keep);
    first_row_ = alone_->first_row();
    return;
  }
  if (!training.index.empty()) {
    first_row_ = index_file_info(training.index).first_row;
    if (training.filter) filter_ = training.filter;  // a part uses the positions of the whole file
    shared_ = opening_index_file(training.index, [&](OpenOptions options) {
      const IndexOptions placing = training.index_options();
      options.placement = placing.placement;
      options.shares = placing.shares;
      return ranks()->open_index(device, training.index, options);
    });
    return;
  }
  const files::RowRange mine = my_range(training);
  if (const std::int64_t all = ranks()->sums({mine.rows})[0]; all != training.n())
    throw Error(Errc::invalid_argument, "mpi: this rank sees " + std::to_string(training.n()) +
                                            " training rows, and the ranks read " + std::to_string(all) +
                                            " in all; give every rank the same files");
  const RowsView rows = training.rows.searched();
  if (training.filter && mine.rows > 0) filter_ = training.filter->slice(mine.first, mine.rows);
  shared_ = ranks()->index(device, training.rows.table.held ? rows : rows.slice(mine.first, mine.rows),
                           mine.first, metric, training.index_options());
  if (!keep) training.rows.free_values();
}

SearchOptions TrainingIndex::shared_options(const SearchOptions& options) const {
  SearchOptions mine = options;
  mine.self = {};
  mine.filter = filter_ ? FilterWords(filter_->view()) : FilterWords();
  return mine;
}

Keys TrainingIndex::keys(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                         Trace* trace) const {
  if (alone_) return numbered_from_0(alone_->search_keys(queries, k, options, trace), first_row_);
  const SearchOptions mine = shared_options(options);
  if (!options.self) return numbered_from_0(shared_->search_keys(queries, k, mine, trace), first_row_);
  return leave_out(shared_->search_keys(queries, k + 1, mine, trace), all_rows(queries.rows));
}

RadiusKeys TrainingIndex::keys(const RowsView& queries, std::span<const double> radii,
                               const SearchOptions& options, Trace* trace) const {
  RadiusKeys keys =
      numbered_from_0(shared_->within_keys(queries, radii, shared_options(options), trace), first_row_);
  return options.self ? leave_out(keys, all_rows(queries.rows)) : keys;
}

Neighbors TrainingIndex::search(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                                Trace* trace) const {
  if (alone_) return alone_->search(queries, k, options, trace);
  return finish(shown(), keys(queries, k, options, trace));
}

RadiusNeighbors TrainingIndex::within(const RowsView& queries, std::span<const double> radii,
                                      const SearchOptions& options, Trace* trace) const {
  if (alone_) return alone_->within(queries, radii, options, trace);
  return finish(shown(), keys(queries, radii, options, trace));
}

TrainingClassifier::TrainingClassifier(Training& training, const Device& device, Metric metric, bool keep) {
  if (!ranks()) {
    alone_ = classifier_of(training, device, metric, keep);
    return;
  }
  for (const files::Labels& column : training.labels)
    labels_.emplace_back(column.code, training.sample_weights);
  shared_.emplace(training, device, metric, keep);
}

std::vector<Classification> TrainingClassifier::classify_outputs(const RowsView& queries, std::int64_t k,
                                                                 const VotingOptions& voting,
                                                                 const SearchOptions& options,
                                                                 Trace* trace) const {
  if (alone_) return alone_->classify_outputs(queries, k, voting, options, trace);
  const Keys keys = shared_->keys(queries, k, options, trace);
  std::vector<Classification> results;
  for (const ShardLabels& labels : labels_)
    results.push_back(kith::classify(shared_->shown(), keys, labels, voting));
  return results;
}

RadiusClassification TrainingClassifier::classify_within(const RowsView& queries,
                                                         std::span<const double> radii,
                                                         const VotingOptions& voting,
                                                         const SearchOptions& options, Trace* trace) const {
  if (alone_) return alone_->classify_within(queries, radii, voting, options, trace);
  return kith::classify(shared_->shown(), shared_->keys(queries, radii, options, trace), labels_[0], voting);
}

Sweep TrainingClassifier::sweep(const RowsView& queries, std::span<const std::int64_t> ks,
                                const VotingOptions& voting, const SearchOptions& options, Trace* trace,
                                std::int64_t counted_k) const {
  if (alone_) return alone_->sweep(queries, ks, voting, options, trace, counted_k);
  const Keys keys = shared_->keys(queries, *std::max_element(ks.begin(), ks.end()), options, trace);
  Sweep sweep;
  for (const std::int64_t k : ks) {
    Classification result = kith::classify(shared_->shown(), nearest_of(keys, k), labels_[0], voting);
    sweep.label.push_back(std::move(result.label));
    if (k != counted_k) continue;
    sweep.votes = std::move(result.votes);
    sweep.scores = std::move(result.scores);
    sweep.scores64 = std::move(result.scores64);
  }
  sweep.neighbors = finish(shared_->shown(), keys);
  return sweep;
}

TrainingRegressor::TrainingRegressor(Training& training, const Device& device, Metric metric, bool keep) {
  if (!ranks()) {
    alone_.emplace(index_of(training, device, metric, keep), values_of(training), training.sample_weights);
    return;
  }
  values_.emplace(values_of(training), training.sample_weights);
  shared_.emplace(training, device, metric, keep);
}

Regression TrainingRegressor::regress(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                                      const SearchOptions& options, Trace* trace) const {
  if (alone_) return alone_->regress(queries, k, voting, options, trace);
  return kith::regress(shared_->shown(), shared_->keys(queries, k, options, trace), *values_, voting);
}

RadiusRegression TrainingRegressor::regress_within(const RowsView& queries, std::span<const double> radii,
                                                   const VotingOptions& voting, const SearchOptions& options,
                                                   Trace* trace) const {
  if (alone_) return alone_->regress_within(queries, radii, voting, options, trace);
  return kith::regress(shared_->shown(), shared_->keys(queries, radii, options, trace), *values_, voting);
}

}  // namespace kith::command
