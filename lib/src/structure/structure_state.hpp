// Declares the state of a Structure: its samples are twice on the device, in the caller's order and by class.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device_state.hpp"
#include "kith/structure.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"
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

/// Holds samples by class, those of each class ascending. Samples that were added later to a Structure follow
/// those it was made from, again by class.
struct SamplesByClass {
  std::vector<std::int64_t> order;   ///< [n]  sample at each position
  std::vector<std::uint32_t> codes;  ///< [n]  its class
  std::vector<Chunk> chunks;         ///< on the device; those of the Index if the order is the same
};

struct Structure::State {
  State(Index of, std::vector<float> rows, ClassCodes coded)
      : index(std::move(of)), samples(std::move(rows)), labels(std::move(coded)) {}

  Index index;
  std::vector<float> samples;  ///< [n, columns]
  ClassCodes labels;
  mutable DeviceMutex mutex{index.device().info()};             ///< guards by_class
  mutable std::shared_ptr<const SamplesByClass> by_class = {};  ///< made when sums are first needed

  MatrixView<const float> view() const { return {samples.data(), index.rows(), index.dims()}; }
  std::shared_ptr<const SamplesByClass> samples_by_class(std::uint32_t threads) const;
  /// Computes the sums of all samples, by position.
  void sums(const SamplesByClass& by, const SearchOptions& options, Trace* trace, const TakeSums& take) const;
};

}  // namespace kith
