// Classifies queries by an Index whose rows have labels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kith/index.hpp"
#include "kith/rows_view.hpp"
#include "kith/voting.hpp"

namespace kith {

/// Holds the result of a classification.
struct Classification {
  std::vector<std::int64_t> label;    ///< [m], the caller's own labels, or VotingOptions::no_label
  std::vector<std::uint32_t> votes;   ///< [m, classes], neighbours of each class, in the order of classes()
  std::vector<float> scores;          ///< [m, classes], sums of weights; empty if every vote weighs 1
  Neighbors neighbors;                ///< [m, k], which voted
  std::vector<double> scores64 = {};  ///< [m, classes], in place of `scores` if the Index computes in double
                                      ///< precision
};

/// Holds the result of a classification by all rows within a radius.
struct RadiusClassification {
  /// [m]; VotingOptions::no_label for a query with no row within the radius.
  std::vector<std::int64_t> label;
  std::vector<std::uint32_t> votes;  ///< [m, classes]
  std::vector<float> scores;         ///< [m, classes]; empty if every vote weighs 1
  RadiusNeighbors neighbors;
  std::vector<double> scores64 = {};  ///< as in Classification
};

/// Holds the result of a sweep over several k, by one search for the largest.
struct Sweep {
  std::vector<std::vector<std::int64_t>> label;  ///< [ks.size()][m], one row for each k asked for
  Neighbors neighbors;                           ///< [m, largest k]
  std::vector<std::uint32_t> votes;              ///< as in Classification, for counted_k; else empty
  std::vector<float> scores;                     ///< the same
  std::vector<double> scores64 = {};             ///< the same
};

/// Does what class_shares() of voting.hpp does, for the votes and scores of either arithmetic.
///   found  whose label and neighbors are not used
KITH_API std::vector<double> class_shares(const VotingOptions& voting, const Classification& found,
                                          std::size_t classes);

/// Classifies by the k nearest neighbours, which vote for their labels: the highest score wins.
/// docs/contract.md, section 5.
class KITH_API Classifier {
 public:
  /// Makes an Index of the rows, with all its options, and copies the labels to `device`. Labels and weights
  /// are in the order of the rows as given: where options.ids put rows in another order, they go with them.
  ///   train           [n, dims]     as for Index
  ///   labels          [n, outputs]  any numbers, not necessarily dense; a list has one output
  ///   sample_weights  [n]           finite, 0 or more: what the vote of each row is multiplied by, in single
  ///                                 precision; empty: all 1
  /// Throws as Index does, and invalid_argument if labels or sample_weights are not n, or if a weight is
  ///        negative or not finite (names the first).
  Classifier(Device device, const RowsView& train, MatrixView<const std::int64_t> labels,
             Metric metric = default_metric, const IndexOptions& options = {},
             std::vector<float> sample_weights = {});

  /// Classifies by an Index that exists already: of a Source, or as open_index() gives one. Labels and
  /// weights are in the order of Index::numbers().
  ///   labels  [n, outputs]    sample_weights  [n], or empty: 1
  Classifier(Index index, MatrixView<const std::int64_t> labels, std::vector<float> sample_weights = {});

  /// Returns a Classifier of these rows and more; rows that are already here share their device memory.
  ///   more            [rows, dims]
  ///   labels          [rows, outputs], also new ones
  ///   sample_weights  [rows], or empty: 1
  ///   ids             [rows]  as for Index::with()
  /// This Classifier does not change. Throws as the constructors and Index::with() do.
  Classifier with(const RowsView& more, MatrixView<const std::int64_t> labels,
                  std::span<const float> sample_weights = {}, std::span<const std::int64_t> ids = {}) const;
  /// Remove or compact rows as Index::without() and Index::compact() do. Classes stay, even those that no row
  /// has any more.
  Classifier without(std::span<const std::int64_t> rows) const;
  Classifier compact() const;

  /// Returns the label of each query.
  ///   queries  [m, dims]
  ///   returns  [m, outputs]
  /// Throws as classify() does.
  std::vector<std::int64_t> predict(const RowsView& queries, std::int64_t k,
                                    const SearchOptions& options = {}) const;
  std::vector<std::int64_t> predict(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                                    const SearchOptions& options = {}) const;

  /// Returns the share of each class: its score divided by the sum of the scores of all classes, in double
  /// precision, with priors but not costs. A query without a vote has a row of zeros.
  ///   returns  [m, classes of the output]
  /// Throws as classify() does, and invalid_argument if there is no such output.
  std::vector<double> predict_proba(const RowsView& queries, std::int64_t k, const VotingOptions& voting = {},
                                    const SearchOptions& options = {}, std::int64_t output = 0) const;

  /// Returns only the neighbours, as Index::search() finds them.
  Neighbors kneighbors(const RowsView& queries, std::int64_t k, const SearchOptions& options = {}) const;

  /// Returns labels with votes and neighbours, for the first output. Throws as Index::search() does, and
  /// invalid_argument if voting options have a wrong length or a number out of range; unsupported for
  /// Weights::distance with negative_dot, whose distances may be negative.
  Classification classify(const RowsView& queries, std::int64_t k, const SearchOptions& options = {},
                          Trace* trace = nullptr) const;
  Classification classify(const RowsView& queries, std::int64_t k, const VotingOptions& voting,
                          const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Does the same for every output, by one search. Priors and costs must fit the classes of each output.
  std::vector<Classification> classify_outputs(const RowsView& queries, std::int64_t k,
                                               const VotingOptions& voting = {},
                                               const SearchOptions& options = {},
                                               Trace* trace = nullptr) const;

  /// Lets every training row within the radius vote, for the first output. Ranks count within the radius.
  ///   radii  as for Index::within()
  /// Throws as Index::within() and classify() do, also if a list is longer than the rank weights.
  RadiusClassification classify_within(const RowsView& queries, std::span<const float> radii,
                                       const VotingOptions& voting = {}, const SearchOptions& options = {},
                                       Trace* trace = nullptr) const;
  RadiusClassification classify_within(const RowsView& queries, std::span<const double> radii,
                                       const VotingOptions& voting = {}, const SearchOptions& options = {},
                                       Trace* trace = nullptr) const;

  /// Returns the labels of each query for several k, by one search for the largest, for the first output.
  ///   ks         at least one, any order, each in 1..n
  ///   counted_k  the one of ks for which votes and scores are kept; 0: none
  /// Throws as classify() does, and invalid_argument if counted_k is not in ks.
  Sweep sweep(const RowsView& queries, std::span<const std::int64_t> ks, const SearchOptions& options = {},
              Trace* trace = nullptr) const;
  Sweep sweep(const RowsView& queries, std::span<const std::int64_t> ks, const VotingOptions& voting,
              const SearchOptions& options = {}, Trace* trace = nullptr, std::int64_t counted_k = 0) const;

  std::int64_t outputs() const;
  const std::vector<std::int64_t>& classes(std::int64_t output = 0) const;  ///< distinct labels, ascending
  /// Returns the class of each training row, in the order of numbers, as an index into classes(); includes
  /// removed rows until compact().
  const std::vector<std::uint32_t>& codes(std::int64_t output = 0) const;
  const std::vector<float>& sample_weights() const;  ///< weights of the rows of codes(), or empty
  const Index& index() const;

  struct State;

 private:
  explicit Classifier(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace kith
