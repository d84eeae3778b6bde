// Measures how classes of labelled samples lie: distances between samples and classes, the quality of a set
// of features, and samples whose nearest other sample is of another class. It follows the KNN-Classifier of
// docs/methods.md; docs/contract.md, section 11, has the formulas.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kith/index.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Holds distances from some samples to all. They have the arithmetic of the Structure: one of the two
/// vectors is empty.
struct SampleDistances {
  std::int64_t samples = 0, others = 0;
  std::vector<float> distance;              ///< [samples, others], finished
  Arithmetic arithmetic = Arithmetic::f32;  ///< f32, or f64: then distances are in `distance64`
  std::vector<double> distance64 = {};      ///< [samples, others], as `distance`

  bool operator==(const SampleDistances&) const = default;
};

/// Holds distances from every sample to every class. Classes are the labels that occur, so that each has
/// a sample.
struct SampleClasses {
  std::int64_t samples = 0, classes = 0;
  std::vector<float> smallest;  ///< [n, classes], raw; includes a sample's distance to itself
  std::vector<double> mean;     ///< [n, classes], of the raw distances: of d^2 for l2, of 2 d for cosine
  Arithmetic arithmetic = Arithmetic::f32;  ///< f32, or f64: then the smallest are in `smallest64`
  std::vector<double> smallest64 = {};      ///< [n, classes], as `smallest`
};

/// Holds mean distances between classes.
struct ClassMatrix {
  std::int64_t classes = 0;
  /// [classes, classes]  A, B: the mean of d^2 over pairs of a sample of A and one of B; A, A: the sum over
  /// pairs of two samples of A, divided by N_A max(1, N_A - 1). The matrix is symmetric to the last bit.
  std::vector<double> mean;
  /// Q: the mean of all off-diagonal entries / the mean of the diagonal: how far classes are apart, relative
  /// to their size. NaN for one class, and if both are 0 or both +infinity; +infinity if only the diagonal
  /// is 0.
  double informativeness = 0;
  Arithmetic arithmetic = Arithmetic::f32;  ///< of the distances: f32 or f64
};

/// Names a sample whose nearest other sample is of another class.
struct SampleError {
  std::int64_t sample = 0, nearest = 0;
  bool operator==(const SampleError&) const = default;
};

/// Holds labelled samples on a device; on a set of devices the first member computes sums and distances. It
/// takes squared_l2, l2, cosine, l1, linf and prepared metrics, whose distances are 0 or more. It never
/// changes, so that any number of threads may use it at once. It is a handle: copies share the samples.
///
/// Samples of f64, or IndexOptions::arithmetic, make a Structure in double precision, as they make an Index.
/// Its distances are chains of doubles, by the device if it can, and the host adds them to the sums.
///
/// Only tiles, memory_limit, threads, stop and progress of SearchOptions count, and for searches also the
/// tuning options; a filter, self or a radius is refused (invalid_argument). Results do not depend on them.
class KITH_API Structure {
 public:
  /// Copies samples to the device.
  ///   samples  [n, dims]
  ///   labels   [n], any numbers
  ///   metric   squared_l2 and l2 give the same, since all results use raw distances
  /// Throws as Index does, and
  ///        invalid_argument: labels are not n.
  ///        unsupported:      another metric; a centre, a periodic box, deduplicate.
  Structure(Device device, const RowsView& samples, std::span<const std::int64_t> labels,
            Metric metric = Metric::squared_l2, const IndexOptions& options = {});

  /// Returns these samples and more, of existing or new classes, as if all had been given at once. The
  /// existing samples are shared on the device. This Structure does not change.
  ///   more    [rows, dims]
  ///   labels  [rows]
  /// Throws as the constructor does.
  Structure with(const RowsView& more, std::span<const std::int64_t> labels) const;

  /// Returns the distances of samples first ... first + count - 1 to all samples, computed tile by tile.
  ///   returns  [count, n]
  /// Throws invalid_argument: there are no such samples.
  ///        out_of_memory:    the result does not fit the host.
  SampleDistances distances(std::int64_t first, std::int64_t count, const SearchOptions& options = {}) const;

  SampleClasses sample_classes(const SearchOptions& options = {}) const;
  ClassMatrix class_matrix(const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Returns the nearest other sample of each sample; among equally near ones that of the smaller number.
  ///   returns  distance and row, both [n, 1]
  /// Throws invalid_argument: there is only one sample.
  Neighbors nearest_other(const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Returns the errors by sample, ascending.
  std::vector<SampleError> errors(const SearchOptions& options = {}) const;

  /// Returns the label of the nearest sample among `prototypes` (numbers of samples in any order; empty:
  /// all); among equally near ones that of the smaller number.
  ///   queries  [m, dims]
  ///   returns  [m]
  /// Throws as Index::search() does, and invalid_argument: a prototype that does not exist, or is
  ///        named twice.
  std::vector<std::int64_t> classify(const RowsView& queries, std::span<const std::int64_t> prototypes = {},
                                     const SearchOptions& options = {}) const;
  /// Does the same from known distances.
  ///   distances  [m, n]  to all samples, no NaN
  ///   returns    [m]
  /// Throws invalid_argument: distances of other arithmetic than this Structure.
  std::vector<std::int64_t> classify_distances(MatrixView<const float> distances,
                                               std::span<const std::int64_t> prototypes = {}) const;
  std::vector<std::int64_t> classify_distances(MatrixView<const double> distances,
                                               std::span<const std::int64_t> prototypes = {}) const;

  const std::vector<std::int64_t>& classes() const;  ///< distinct labels, ascending
  std::vector<std::int64_t> sizes() const;           ///< [classes]
  const std::vector<std::uint32_t>& codes() const;   ///< [n], indices into classes()
  const Index& index() const;

  struct State;

 private:
  explicit Structure(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// Computes the class matrices of the same samples for several sets of features: those of a Structure for
/// each set, to the last bit; of samples of f64 in double precision. In single precision it enqueues as many
/// as the memory limit holds before it waits, and reads their sums together; with stop or progress it waits
/// for each step.
///   features  each as IndexOptions::features
///   returns   one for each set
/// Throws as Structure does.
KITH_API std::vector<ClassMatrix> class_matrices(const Device& device, const RowsView& samples,
                                                 std::span<const std::int64_t> labels, Metric metric,
                                                 std::span<const std::vector<std::int64_t>> features,
                                                 const SearchOptions& options = {});

}  // namespace kith
