// Holds training rows on a device, ready to be searched.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/count_radii.hpp"
#include "kith/device.hpp"
#include "kith/device_neighbors.hpp"
#include "kith/export.hpp"
#include "kith/keys.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/options.hpp"
#include "kith/pairs.hpp"
#include "kith/placement.hpp"
#include "kith/rows_view.hpp"
#include "kith/source.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns `automatic`, `f32` or `f64`.
KITH_API std::string_view name(Arithmetic arithmetic);

/// Returns the metric of an Index that is made with such a p: minkowski is l1, l2 or linf, or itself.
constexpr Metric metric_of_power(Metric metric, double p) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (metric != Metric::minkowski) return metric;
  return p == 1 ? Metric::l1 : p == 2 ? Metric::l2 : p == infinity ? Metric::linf : metric;
}

/// Holds training rows on a device. It never changes, so that any number of threads may search it at once. It
/// is a handle: copies share the rows. A row keeps its number: with(), without() and compact() return other
/// Index objects, which share the rows and continue the numbers, and no number is given twice.
/// docs/contract.md, section 2.
class KITH_API Index {
 public:
  /// Copies `train` to `device`. The caller's memory may change afterwards.
  ///   train  [n, dims]  finite, on the host or in memory of `device`; of any element, of bits only
  ///          for metrics of bits
  /// Throws invalid_argument: no rows, no dims, 2^32 - 1 rows or more for one device, a feature that is not
  ///                          there or named twice, a NaN or infinity in a column that counts (names the
  ///                          first), or for cosine a row of zeros; a first_row below 0 or so large that
  ///                          numbers leave 64 bits; for negative_dot a `largest` below an element; ids that
  ///                          are not n, are below 0 or there twice, or that come with a first_row; shares
  ///                          that are not as many as members, or no parts; a centre for another metric or
  ///                          element, of another length or not finite; a box for another metric or
  ///                          element, beside a centre, of another length, or with a length below 0 or that
  ///                          is no float above 0.
  ///        unsupported:      rows of f64 in single precision without a centre.
  ///        out_of_memory:    the rows do not fit on the device.
  Index(Device device, const RowsView& train, Metric metric = default_metric,
        const IndexOptions& options = {});

  /// Makes an Index of the rows of `source`, which are kept where IndexOptions::residence says. Answers are
  /// those of an Index of the same rows in memory, bit for bit: docs/howto/beyond-one-card.md. Rows that stay
  /// in the Source are read, and then checked, by each search; the Index keeps the Source, which must not
  /// change. On a set of devices each member reads its share of the rows.
  ///   source  not null; with `stream` and `quantized` any number of rows
  /// Throws as the constructor above does. With `stream` and `quantized` the search that meets a bad value
  ///        refuses it; but for negative_dot without `largest` the constructor reads all rows. Throws also
  ///        what Source::read() throws, and
  ///        unsupported:   ids that do not ascend; `quantized` on a device without proposer int8, or for a
  ///                       metric that does not follow from products.
  ///        out_of_memory: the limit is too small for a chunk, or for the quantized rows.
  Index(Device device, std::shared_ptr<const Source> source, Metric metric = default_metric,
        const IndexOptions& options = {});

  /// Returns an Index of these rows and `more`, which get the numbers next_row(), next_row() + 1, ... The
  /// existing rows are shared, not copied. This Index does not change.
  ///   more  [rows, dims]  as for the constructor
  ///   ids   [rows], next_row() or more, as IndexOptions::ids; empty: numbers continue
  /// Throws as the constructor does, and invalid_argument: other columns than the existing rows, or an id
  ///        below next_row().
  Index with(const RowsView& more, std::span<const std::int64_t> ids = {}) const;

  /// Returns an Index without these rows, which shares the others. It answers as an Index of only the
  /// remaining rows would, under their numbers. Removed rows keep their memory until compact(). This Index
  /// does not change.
  ///   rows  numbers, in any order
  /// Throws invalid_argument: a row that does not exist, was removed before or is named twice; no row would
  ///                          be left.
  Index without(std::span<const std::int64_t> rows) const;

  /// Returns an Index of the remaining rows in memory of their own, in one part, with the same answers. If no
  /// row is removed and there is one part, returns this one. Throws out_of_memory.
  Index compact() const;

  /// Finds the k training rows nearest to each query, exactly.
  ///   queries  [m, dims]  on the host, of any element, not necessarily that of the rows; finite
  ///   returns  distance and row, both [m, k]: nearest first, and among equally near rows the smaller number
  ///            first (Neighbors). Every device returns the same bits.
  /// Throws invalid_argument: other dims than the index; k outside 1..n (1..n-1 with SearchOptions::self); a
  ///                          filter of another shape; a NaN or infinity; for negative_dot also values so
  ///                          large that inf - inf could arise.
  ///        unsupported:      the device lacks what `options` demand (says what it has).
  ///        out_of_memory:    the memory limit is too small for one query.
  ///        interrupted:      options.stop was asked to stop.
  Neighbors search(const RowsView& queries, std::int64_t k, const SearchOptions& options = {},
                   Trace* trace = nullptr) const;

  /// Searches into `found`, whose memory is reused: with many answers, allocating memory may take longer than
  /// finding them. After an exception its content is undefined. No part of it may be among the queries.
  void search_into(const RowsView& queries, std::int64_t k, Neighbors& found,
                   const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Searches into memory of the device that holds the Index: the device makes distances and numbers, and
  /// checks queries that lie there, too. They are complete when this returns. Throws as search() does, and
  ///        unsupported:      memory of another device or context, or of the host.
  ///        invalid_argument: memory that is too small, or not aligned to its elements.
  void search_into(const RowsView& queries, std::int64_t k, const DeviceNeighbors& found,
                   const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Finds all training rows within a radius of each query, exactly: those whose distance, as search()
  /// returns it, is at most the radius.
  ///   queries  [m, dims]  as for search()
  ///   radii    [m], or [1] for all queries; no NaN. Only for negative_dot can a negative one find rows
  ///   returns  by distance, then by row
  /// Throws as search() does, and
  ///        unsupported:   options insist on a selector, a sample, lists, the fused step or a proposer.
  ///        out_of_memory: what is found does not fit the host (says both sizes).
  RadiusNeighbors within(const RowsView& queries, std::span<const float> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Does the same for radii in double precision. An Index in single precision finds the rows whose distance,
  /// which is a float, is at most the radius.
  RadiusNeighbors within(const RowsView& queries, std::span<const double> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Counts the training rows within radii of each query, exactly, without listing them: as many as within()
  /// finds, or with CountRadii::strict as it finds nearer than the radius.
  ///   queries  [m, dims]  as for search()
  ///   returns  [m, r], row-major, for the r radii of each query
  /// Throws as within() does, and invalid_argument: radii of another shape, that do not ascend, or a NaN.
  std::vector<std::int64_t> count(const RowsView& queries, const CountRadii& radii,
                                  const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Adds up the counts of all queries, as two-point correlations need them.
  ///   returns  [r]
  std::vector<std::int64_t> two_point(const RowsView& queries, const CountRadii& radii,
                                      const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Finds all pairs of training rows whose distance is at most `radius`, in blocks, so that memory stays
  /// bounded: by the smaller number of the two, then by distance, then by the other. A filter of one row of
  /// words leaves pairs of rows that count, and the caller keeps its words until the last block.
  /// Throws as PairSearch does.
  PairSearch pairs(double radius, const SearchOptions& options = {}) const;

  /// Returns the keys of the k nearest training rows, for merge() with those of other shards.
  ///   k        >= 1; lists of an Index of fewer rows are padded
  ///   returns  [m, k]
  /// Throws as search() does, and unsupported: SearchOptions::self (use leave_out() after the merge).
  Keys search_keys(const RowsView& queries, std::int64_t k, const SearchOptions& options = {},
                   Trace* trace = nullptr) const;
  /// Returns the keys of all training rows within a radius, for merge() with those of other shards. Throws as
  /// within() does, and unsupported: SearchOptions::self (use leave_out() after the merge).
  RadiusKeys within_keys(const RowsView& queries, std::span<const float> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;
  RadiusKeys within_keys(const RowsView& queries, std::span<const double> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Makes now what searches for m queries with these options sooner or later make of the rows: quantized
  /// rows for a proposer, or boxes. Makes boxes if options.boxes demands them, or if the metric, the columns
  /// and n let them pay once they exist; so with rows of int8. Throws as search() does.
  void prepare(std::int64_t m, std::int64_t k, const SearchOptions& options = {}) const;

  /// Returns what search() would do for m queries after searches that gave `feedback`. The same arguments
  /// give the same plan. Throws as search() does.
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options, const Feedback& feedback) const;
  /// Returns the plan with feedback(): what search() does next.
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options = {}) const;
  /// Returns what searches of this Index have shown so far: a proposer that left most queries to the chain is
  /// not chosen again, and one whose guesses failed for many queries does not guess.
  Feedback feedback() const;

  const Device& device() const;
  Metric metric() const;
  ShownBy shown() const;          ///< how distances follow from keys: finish() of keys.hpp
  Arithmetic arithmetic() const;  ///< f32 or f64: the precision of all answers
  std::int64_t rows() const;      ///< n, without removed rows
  std::int64_t next_row() const;  ///< number of the next row of with()
  /// Number of rows ever given. The position of a row is how many of these have smaller numbers; without ids
  /// it is its number. SearchOptions::filter and SearchOptions::self use positions.
  std::int64_t positions() const;
  std::vector<std::int64_t> numbers() const;          ///< [rows()], of the rows not removed, ascending
  std::int64_t first_row() const;                     ///< IndexOptions::first_row
  std::int64_t dims() const;                          ///< columns of rows and queries, as given
  const std::vector<std::int64_t>& features() const;  ///< the columns that count, ascending
  /// [dims()], subtracted from rows and queries; 0 in columns that do not count. Empty: nothing.
  const std::vector<double>& centre() const;
  /// [dims()], IndexOptions::box; 0 in columns that do not count. Empty: there is no box.
  const std::vector<double>& box() const;
  Residence residence() const;  ///< `resident`, unless the rows stay in a Source
  /// Returns the device memory of the rows, those shared with other indices included, of groups that became
  /// an index of their own, and of what proposers keep.
  std::size_t memory_bytes() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  friend KITH_API Index open_index(const std::string&, Device, const OpenOptions&);
  explicit Index(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace kith
