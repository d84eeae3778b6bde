// Lets neighbours that shards found (keys.hpp) vote: classification and regression as Classifier and
// Regressor of all rows would give them, bit for bit. Votes are counted after the merge; docs/contract.md,
// sections 5 and 13.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/export.hpp"
#include "kith/keys.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/regressor.hpp"
#include "kith/voting.hpp"

namespace kith {

/// Holds the labels of the rows of all shards, in the order of their numbers, on the host.
class KITH_API ShardLabels {
 public:
  ///   labels          [n]  any numbers
  ///   sample_weights  [n]  as for Classifier, or empty
  /// Throws invalid_argument: as Classifier does.
  explicit ShardLabels(std::span<const std::int64_t> labels, std::vector<float> sample_weights = {});

  const std::vector<std::int64_t>& classes() const { return classes_; }  ///< distinct labels, ascending
  const std::vector<std::uint32_t>& codes() const { return codes_; }     ///< [n], indices into classes()
  const std::vector<float>& sample_weights() const { return sample_weights_; }  ///< [n], or empty

 private:
  std::vector<std::int64_t> classes_;
  std::vector<std::uint32_t> codes_;
  std::vector<float> sample_weights_;
};

/// Holds the values of the rows of all shards, in the order of their numbers, on the host.
class KITH_API ShardValues {
 public:
  ///   values          [n, outputs]  finite
  ///   sample_weights  [n]           as for Regressor, or empty
  /// Throws invalid_argument: as Regressor does.
  explicit ShardValues(MatrixView<const double> values, std::vector<float> sample_weights = {});

  std::int64_t rows() const { return rows_; }
  std::int64_t outputs() const { return outputs_; }
  const std::vector<double>& values() const { return values_; }                 ///< [n, outputs]
  const std::vector<float>& sample_weights() const { return sample_weights_; }  ///< [n], or empty

 private:
  std::int64_t rows_ = 0, outputs_ = 0;
  std::vector<double> values_;
  std::vector<float> sample_weights_;
};

/// Returns what Classifier::classify() of all rows would return.
///   shown  how the shards show distances, as for finish()
///   keys   the merged keys of all shards
/// Throws as Classifier::classify() and finish() do, and invalid_argument: a row without a label (names it).
KITH_API Classification classify(ShownBy shown, const Keys& keys, const ShardLabels& labels,
                                 const VotingOptions& voting = {});
/// Returns what Classifier::classify_within() of all rows would return.
KITH_API RadiusClassification classify(ShownBy shown, const RadiusKeys& keys, const ShardLabels& labels,
                                       const VotingOptions& voting = {});

/// Returns what Regressor::regress() of all rows would return.
KITH_API Regression regress(ShownBy shown, const Keys& keys, const ShardValues& values,
                            const VotingOptions& voting = {});
/// Returns what Regressor::regress_within() of all rows would return.
KITH_API RadiusRegression regress(ShownBy shown, const RadiusKeys& keys, const ShardValues& values,
                                  const VotingOptions& voting = {});

}  // namespace kith
