// Declares the state of a Structure: its samples are twice on the device, in the caller's order and by class;
// in double precision once as floats and once as doubles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_state.hpp"
#include "kith/structure.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"
#include "structure/double_sums.hpp"
#include "structure/structure_sums.hpp"

namespace kith {

/// Holds labels as indices into the distinct labels.
struct ClassCodes {
  std::vector<std::int64_t> classes;  ///< distinct labels, ascending
  std::vector<std::uint32_t> codes;   ///< [n]

  explicit ClassCodes(std::span<const std::int64_t> labels);
  std::vector<std::int64_t> labels() const;  ///< [n]
  std::vector<std::int64_t> sizes() const;   ///< [classes]
};

/// Returns samples first ... n - 1 by class; those of a class ascend.
std::vector<std::int64_t> order_by_class(std::span<const std::uint32_t> codes, std::int64_t first);
bool is_ascending(std::span<const std::int64_t> order);
/// Returns codes[order[0]], codes[order[1]], ...
std::vector<std::uint32_t> codes_in_order(std::span<const std::uint32_t> codes,
                                          std::span<const std::int64_t> order);

/// Converts rows to float32. Throws as check_element() and land() do.
LandedRows land_numbers(std::string_view where, std::string_view what, const RowsView& rows, Metric metric);
/// Throws unsupported if distances of `metric` may be negative, or are those of bits.
void check_structure_metric(Metric metric);
/// Throws invalid_argument unless there is one label a sample.
void check_structure_labels(std::span<const std::int64_t> labels, std::int64_t samples);

/// The samples as the caller gave them, in the arithmetic of the Structure.
class SampleCopy {
 public:
  explicit SampleCopy(Arithmetic arithmetic) : arithmetic_(arithmetic) {}

  /// Copies more rows behind those that there are. Throws as land_numbers() does.
  void append(std::string_view where, std::string_view what, const RowsView& more, Metric metric);
  /// Returns only some rows.
  SampleCopy at(std::span<const std::int64_t> rows) const;

  /// Returns the rows of single precision.
  MatrixView<const float> floats() const { return {floats_.data(), rows_, cols_}; }
  operator RowsView() const {
    return arithmetic_ == Arithmetic::f64 ? RowsView(MatrixView<const double>(doubles_.data(), rows_, cols_))
                                          : RowsView(floats());
  }

 private:
  const Arithmetic arithmetic_;
  std::int64_t rows_ = 0, cols_ = 0;
  std::vector<float> floats_;    ///< [rows, cols], or none
  std::vector<double> doubles_;  ///< [rows, cols], or none
};

/// Holds samples by class, those of each class ascending. Samples that were added later to a Structure follow
/// those it was made from, again by class. In double precision samples stay in their order.
struct SamplesByClass {
  std::vector<std::int64_t> order;   ///< [n]  sample at each position
  std::vector<std::uint32_t> codes;  ///< [n]  its class
  std::vector<Chunk> chunks;         ///< on the device; those of the Index if the order is the same
};

struct Structure::State {
  State(Index of, SampleCopy rows, ClassCodes coded);

  Index index;
  SampleCopy samples;
  ClassCodes labels;
  mutable DeviceMutex mutex{index.device().info()};             ///< guards by_class
  mutable std::shared_ptr<const SamplesByClass> by_class = {};  ///< made when sums are first needed

  bool is_double() const { return index.arithmetic() == Arithmetic::f64; }
  /// Returns the samples in single precision, in this order, as the chain compares them.
  SampleRows rows_in(std::span<const std::int64_t> order) const;
  /// Copies them to positions first, first + 1, ... of the device that sums.
  std::vector<Chunk> upload(std::span<const std::int64_t> order, std::int64_t first,
                            std::uint32_t threads) const;
  /// Returns the samples in their own order, all on the device that sums.
  std::vector<Chunk> on_one_device(std::uint32_t threads) const;
  /// Returns the terms in the place of differences on that device; null: there are none.
  std::shared_ptr<const ColumnTerms> terms() const;
  std::shared_ptr<const SamplesByClass> samples_by_class(std::uint32_t threads) const;
  /// Computes the sums of all samples, by position.
  ///   take  takes TileSums, and DoubleTileSums
  template <class Take>
  void sums(const SamplesByClass& by, const SearchOptions& options, Trace* trace, const Take& take) const {
    refuse_filters(options);
    is_double() ? sums_of_doubles(options, trace, take) : sums_of_floats(by, options, trace, take);
  }
  /// Returns the rows whose chains in double precision are computed, on one device.
  ///   terms  terms(), which must outlive it
  RankedAmong ranked_among(const ColumnTerms* terms) const;

 private:
  std::vector<float> prepared_;  ///< [n, columns] in single precision, for a metric that changes rows

  void sums_of_floats(const SamplesByClass& by, const SearchOptions& options, Trace* trace,
                      const TakeSums& take) const;
  void sums_of_doubles(const SearchOptions& options, Trace* trace,
                       const std::function<void(const DoubleTileSums&)>& take) const;
};

}  // namespace kith
