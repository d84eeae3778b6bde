// Sums the distances of each sample to each class, tile by tile: nothing of size n x n is stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/chunks.hpp"
#include "rows/landed/column_terms.hpp"

namespace kith {

/// Samples on the host, read in another order, with some of their columns and, for cosine, as unit rows.
struct SampleRows {
  MatrixView<const float> samples;         ///< [n, columns], as given, or prepared for the metric
  std::span<const std::int64_t> order;     ///< [n]  sample at each position; empty: in the order of samples
  std::span<const std::int64_t> features;  ///< columns that count, ascending
  Metric metric = Metric::squared_l2;      ///< with a chain

  std::int64_t dims() const { return static_cast<std::int64_t>(features.size()); }
  /// Returns the samples at positions first ... first + count - 1, [count, dims]. Throws invalid_argument if,
  /// for cosine, one is all zeros in the columns that count.
  std::vector<float> rows(std::int64_t first, std::int64_t count) const;
};

/// Samples with one set of features, by position: those of each class ascend.
struct SumsInput {
  SampleRows from;
  std::vector<Chunk> chunks = {};  ///< on the device; empty: copied while needed
};

/// Holds the data that all inputs share.
struct SumsTask {
  std::shared_ptr<Device::State> state;
  Metric metric = Metric::squared_l2;
  std::span<const std::uint32_t> codes = {};  ///< [n]  the class at each position
  std::int64_t classes = 0;
  std::int64_t resident = 0;  ///< rows that stay on the device during the task, for the memory budget
  std::shared_ptr<const ColumnTerms> terms = nullptr;  ///< in the place of differences; null: there are none
};

/// The sums of positions first ... first + count - 1 of an input. docs/contract.md, section 11.
template <class Real>
struct TileSumsOf {
  std::size_t input = 0;
  std::int64_t first = 0, count = 0;
  const Real *smallest = nullptr, *high = nullptr, *low = nullptr;  ///< [count, classes]
};
using TileSums = TileSumsOf<float>;

/// Receives the sums of each input, with ascending positions. Called without a lock.
using TakeSums = std::function<void(const TileSums& sums)>;

/// Sums all inputs. Enqueues as much as the memory budget holds before it waits for anything; with progress
/// or a stop token it waits for each step. Throws as Index::search() does.
void run_sums(const SumsTask& task, std::span<SumsInput> inputs, const SearchOptions& options, Trace* trace,
              const TakeSums& take);

/// Refuses options that sums do not have; tiles, memory, threads, stop and progress remain. Throws
/// invalid_argument for a filter or self.
void refuse_filters(const SearchOptions& options);

/// Returns the device bytes that tiles may take while `resident` rows of `dims` columns stay.
std::size_t structure_budget(const DeviceInfo& device, std::int64_t resident, std::int64_t dims,
                             const SearchOptions& options);

}  // namespace kith
