// The training rows of a command, ready to be searched. With Ranks they are the rows of all ranks, each of
// which holds a part. The answers have the same bits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/ranks.hpp"
#include "kith/classifier.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"
#include "kith/regressor.hpp"
#include "kith/shard_votes.hpp"

namespace kith::command {

/// Searches the Index that index_of() makes of the training rows. `options` of a search are those of a
/// process that is alone: filter and self count among all rows. With self, the queries are all these rows.
class TrainingIndex {
 public:
  TrainingIndex(Training& training, const Device& device, Metric metric, bool keep);

  Neighbors search(const RowsView& queries, std::int64_t k, const SearchOptions& options, Trace* trace) const;
  /// Takes floats as radii, if the index computes in single precision.
  RadiusNeighbors within(const RowsView& queries, std::span<const double> radii, const SearchOptions& options,
                         Trace* trace) const;

  /// Numbers rows as search() does. A process that is alone does not leave out rows here.
  Keys keys(const RowsView& queries, std::int64_t k, const SearchOptions& options, Trace* trace) const;
  /// Returns the keys of all ranks. A process that is alone has none.
  RadiusKeys keys(const RowsView& queries, std::span<const double> radii, const SearchOptions& options,
                  Trace* trace) const;

  /// Returns how distances follow from keys; that of the index file if there is one.
  ShownBy shown() const { return alone_ ? alone_->shown() : shared_->shown(); }

 private:
  SearchOptions shared_options(const SearchOptions& options) const;

  std::optional<Index> alone_;
  std::unique_ptr<SharedIndex> shared_;
  std::optional<RowFilter> filter_;  ///< for the rows of this rank
  std::int64_t first_row_ = 0;       ///< first_row of an index file, from which keys count
};

/// Classifies by the Classifier that classifier_of() makes, with the same results.
class TrainingClassifier {
 public:
  TrainingClassifier(Training& training, const Device& device, Metric metric, bool keep);

  std::vector<Classification> classify_outputs(const RowsView& queries, std::int64_t k,
                                               const VotingOptions& voting, const SearchOptions& options,
                                               Trace* trace) const;
  RadiusClassification classify_within(const RowsView& queries, std::span<const double> radii,
                                       const VotingOptions& voting, const SearchOptions& options,
                                       Trace* trace) const;
  Sweep sweep(const RowsView& queries, std::span<const std::int64_t> ks, const VotingOptions& voting,
              const SearchOptions& options, Trace* trace, std::int64_t counted_k) const;

 private:
  std::optional<Classifier> alone_;
  std::optional<TrainingIndex> shared_;
  std::vector<ShardLabels> labels_;  ///< one an output
};

/// Predicts by a Regressor of the values of Training, with the same results.
class TrainingRegressor {
 public:
  TrainingRegressor(Training& training, const Device& device, Metric metric, bool keep);

  Regression regress(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                     const SearchOptions& options, Trace* trace) const;
  RadiusRegression regress_within(const RowsView& queries, std::span<const double> radii,
                                  const VotingOptions& voting, const SearchOptions& options,
                                  Trace* trace) const;

 private:
  std::optional<Regressor> alone_;
  std::optional<TrainingIndex> shared_;
  std::optional<ShardValues> values_;
};

}  // namespace kith::command
