// How classes of labelled samples lie: distances between samples, classes and classes of classes, the quality
// of a set of features, and nearest samples of another class. Source: the KNN-Classifier of docs/methods.md;
// formulas: docs/contract.md, section 11.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kith/index.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// From every sample to every class. A class has at least one sample: classes are the labels there are.
struct SampleClasses {
  std::int64_t samples = 0, classes = 0;
  std::vector<float> smallest;  ///< [n, classes], raw; a sample's distance to itself counts
  std::vector<double> mean;     ///< [n, classes], of the raw distances: for l2 of d^2, for cosine of 2 d
};

/// Mean distances of classes.
struct ClassMatrix {
  std::int64_t classes = 0;
  /// [classes, classes]  A, B: the mean of d^2 over pairs of a sample of A and one of B; A, A: the sum over
  /// pairs of two samples of A / (N_A max(1, N_A - 1)). Symmetric to the last bit.
  std::vector<double> mean;
  /// Q: mean of what is off the diagonal / mean of the diagonal: how far classes stand apart for their size.
  /// NaN for one class, and where both are 0 or both +infinity; +infinity where only the diagonal is 0.
  double informativeness = 0;
};

/// A sample whose nearest other sample is of another class.
struct SampleError {
  std::int64_t sample = 0, nearest = 0;
  bool operator==(const SampleError&) const = default;
};

/// Labelled samples on a device; of a set of devices the first member adds up sums and writes distances. For
/// squared_l2, l2, cosine, l1 and linf, whose distances are 0 or more. Immutable: any number of threads may
/// use one at once. A handle: copies share the samples.
///
/// Of PlanOptions count tiles, memory_limit, threads, stop and progress, and for what is searched also the
/// selector and its like; a filter or self is refused (invalid_argument). Results do not depend on them.
class KITH_API Structure {
 public:
  ///   samples  [n, dims]    labels  [n], any numbers
  ///   metric   squared_l2 and l2 give the same, since all is about raw distances
  /// Throws as Index does, and
  ///        invalid_argument: labels are not n.
  ///        unsupported:      another metric.
  Structure(Device device, const RowsView& samples, std::span<const std::int64_t> labels,
            Metric metric = Metric::squared_l2, const IndexOptions& options = {});

  /// These samples and more of them, of old or new classes, in one batch: as if all had been given at once.
  /// The samples that are here already are shared on the device. This Structure stays as it is.
  ///   more  [rows, dims]    labels  [rows]
  /// Throws as the constructor does.
  Structure with(const RowsView& more, std::span<const std::int64_t> labels) const;

  /// Distances of samples first ... first + count - 1 to all, tile by tile.
  ///   returns  [count, n], finished
  /// Throws invalid_argument: there are no such samples.
  ///        out_of_memory:    what is asked does not fit the host.
  std::vector<float> distances(std::int64_t first, std::int64_t count, const PlanOptions& options = {}) const;

  SampleClasses sample_classes(const PlanOptions& options = {}) const;
  ClassMatrix class_matrix(const PlanOptions& options = {}, Trace* trace = nullptr) const;
  /// The nearest other sample of each, k = 1; of several as near the smaller number.
  ///   returns  distance and index, both [n, 1]
  /// Throws invalid_argument: there is one sample only.
  Neighbors nearest_other(const PlanOptions& options = {}, Trace* trace = nullptr) const;
  /// By sample, ascending.
  std::vector<SampleError> errors(const PlanOptions& options = {}) const;

  /// The label of the nearest sample among `prototypes` (numbers of samples in any order; empty: all), of
  /// several as near that of the smaller number.
  ///   queries  [m, dims]    returns  [m]
  /// Throws as Index::search() does, and invalid_argument: a prototype does not exist, or is named twice.
  std::vector<std::int64_t> classify(const RowsView& queries, std::span<const std::int64_t> prototypes = {},
                                     const PlanOptions& options = {}) const;
  /// The same from distances that are known already.
  ///   distances  [m, n]  to all samples, no NaN
  ///   returns    [m]
  std::vector<std::int64_t> classify_distances(MatrixView<const float> distances,
                                               std::span<const std::int64_t> prototypes = {}) const;

  const std::vector<std::int64_t>& classes() const;  ///< distinct labels, ascending
  std::vector<std::int64_t> sizes() const;           ///< [classes]
  const std::vector<std::uint32_t>& codes() const;   ///< [n], places in classes()
  const Index& index() const;

  struct State;

 private:
  explicit Structure(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// Class matrices of the same samples under several sets of features: those of a Structure for each, to the
/// last bit. As many as the memory limit holds are enqueued before anything is waited for, and their sums
/// read at once; where stop or progress is given, steps are waited for one by one.
///   features  each as IndexOptions::features
///   returns   one for each set
/// Throws as Structure does.
KITH_API std::vector<ClassMatrix> class_matrices(const Device& device, const RowsView& samples,
                                                 std::span<const std::int64_t> labels, Metric metric,
                                                 std::span<const std::vector<std::int64_t>> features,
                                                 const PlanOptions& options = {});

}  // namespace kith
