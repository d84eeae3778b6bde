// Sums of the distances of each sample to each class, from tiles: nothing of size n x n is stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kith/plan.hpp"
#include "kith/trace.hpp"
#include "rows/chunks.hpp"

namespace kith {

/// Samples on the host, read in another order, by some of their columns and, for cosine, as unit rows.
struct SampleRows {
  MatrixView<const float> samples;         ///< [n, columns], as the caller gave them
  std::span<const std::int64_t> order;     ///< [n]  sample at each position; empty: as they are
  std::span<const std::int64_t> features;  ///< columns that count, ascending
  Metric metric = Metric::squared_l2;

  std::int64_t dims() const { return static_cast<std::int64_t>(features.size()); }
  /// Those at positions first ... first + count - 1, [count, dims].
  /// Throws invalid_argument: for cosine, one is all zeros in the columns that count.
  std::vector<float> rows(std::int64_t first, std::int64_t count) const;
};

/// Samples with one set of features, by position: all of a class in ascending order.
struct SumsInput {
  SampleRows from;
  std::vector<Chunk> chunks = {};  ///< on the device; empty: copied while they are needed
};

/// What inputs have in common.
struct SumsTask {
  std::shared_ptr<Device::State> state;
  Metric metric = Metric::squared_l2;
  std::span<const std::uint32_t> codes = {};  ///< [n]  the class at each position
  std::int64_t classes = 0;
  std::int64_t resident = 0;  ///< rows that stay on the device meanwhile, for the memory budget
};

/// Sums of positions first ... first + count - 1 of an input. docs/contract.md, section 11.
struct TileSums {
  std::size_t input = 0;
  std::int64_t first = 0, count = 0;
  const float *smallest = nullptr, *high = nullptr, *low = nullptr;  ///< [count, classes]
};

/// Receives the sums of each input, its positions in ascending order. Called without a lock.
using TakeSums = std::function<void(const TileSums& sums)>;

/// Add up all inputs. As much as the memory budget holds is enqueued before anything is waited for, except
/// that each step is where somebody watches.
/// Throws as Index::search() does.
void run_sums(const SumsTask& task, std::span<SumsInput> inputs, const PlanOptions& options, Trace* trace,
              const TakeSums& take);

/// What is left of PlanOptions: tiles, memory, threads, stop, progress.
/// Throws invalid_argument: a filter, or self.
void refuse_filters(const PlanOptions& options);

/// Device bytes that tiles may take while `resident` rows of `dims` columns stay.
std::size_t structure_budget(const DeviceInfo& device, std::int64_t resident, std::int64_t dims,
                             const PlanOptions& options);

}  // namespace kith
