// Predicts values of queries by an Index whose rows have values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/rows_view.hpp"
#include "kith/voting.hpp"

namespace kith {

/// Holds the result of a regression.
struct Regression {
  std::vector<double> value;  ///< [m, outputs]; NaN for a query whose neighbours, if any, all weigh 0
  Neighbors neighbors;        ///< [m, k]
};

/// Holds the result of a regression by all rows within a radius.
struct RadiusRegression {
  std::vector<double> value;  ///< [m, outputs]; NaN for a query whose rows within the radius all weigh 0
  RadiusNeighbors neighbors;
};

/// Predicts the weighted mean of the values of the k nearest neighbours. The host sums in double precision
/// in order of rank, so that every device gives the same bits. Only weights and rank_weights of
/// VotingOptions count.
class KITH_API Regressor {
 public:
  /// Makes an Index of the rows, and keeps the values. Values and weights are in the order of the rows as
  /// given, whatever options.ids are.
  ///   train           [n, dims]     as for Index
  ///   values          [n, outputs]  finite; a list has one output
  ///   sample_weights  [n]           as for Classifier
  /// Throws as Classifier does, and invalid_argument: a value that is not finite (names the first).
  Regressor(Device device, const RowsView& train, MatrixView<const double> values,
            Metric metric = default_metric, const IndexOptions& options = {},
            std::vector<float> sample_weights = {});

  /// Uses an existing Index. Values and weights are in the order of Index::numbers().
  ///   values  [n, outputs]    sample_weights  [n], or empty: 1
  Regressor(Index index, MatrixView<const double> values, std::vector<float> sample_weights = {});

  /// Returns a Regressor of these rows and more; rows that are already here share their device memory.
  ///   more            [rows, dims]
  ///   values          [rows, outputs]
  ///   sample_weights  [rows], or empty: 1
  ///   ids             [rows]  as for Index::with()
  /// This Regressor does not change. Throws as the constructors and Index::with() do.
  Regressor with(const RowsView& more, MatrixView<const double> values,
                 std::span<const float> sample_weights = {}, std::span<const std::int64_t> ids = {}) const;
  /// Remove or compact rows as Index::without() and Index::compact() do.
  Regressor without(std::span<const std::int64_t> rows) const;
  Regressor compact() const;

  /// Returns the values of the queries.
  ///   returns  [m, outputs]
  /// Throws as Index::search() does, and as Classifier::classify() does for weights.
  std::vector<double> predict(const RowsView& queries, std::int64_t k, const VotingOptions& voting = {},
                              const SearchOptions& options = {}) const;
  Regression regress(const RowsView& queries, std::int64_t k, const VotingOptions& voting = {},
                     const SearchOptions& options = {}, Trace* trace = nullptr) const;
  RadiusRegression regress_within(const RowsView& queries, std::span<const float> radii,
                                  const VotingOptions& voting = {}, const SearchOptions& options = {},
                                  Trace* trace = nullptr) const;
  RadiusRegression regress_within(const RowsView& queries, std::span<const double> radii,
                                  const VotingOptions& voting = {}, const SearchOptions& options = {},
                                  Trace* trace = nullptr) const;

  std::int64_t outputs() const;
  /// Returns the values of the rows, [rows, outputs], in the order of numbers; includes removed rows
  /// until compact().
  const std::vector<double>& values() const;
  const std::vector<float>& sample_weights() const;  ///< weights of the rows of values(), or empty
  const Index& index() const;

  struct State;

 private:
  explicit Regressor(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace kith
