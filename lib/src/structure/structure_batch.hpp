// Query tiles of class sums on a device: enqueued without a wait between them, read together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device_state.hpp"
#include "device/watcher.hpp"
#include "kith/spi.hpp"
#include "structure/structure_sums.hpp"
#include "structure/structure_tiles.hpp"

namespace kith {

class SumsBatch {
 public:
  /// All that is given must outlive it.
  ///   labels  [n] on the device, the class at each position
  /// Throws unsupported: the device refuses the step.
  SumsBatch(const SumsTask& task, std::span<const SumsInput> inputs, const SumsTiles& tiles,
            const PlanOptions& options, const DeviceMemory& labels);

  /// Copy positions first ... first + count - 1 of an input to the device.
  void add(std::size_t input, std::int64_t first, std::int64_t count, Trace* trace);

  /// Compute all, hand all over, begin again. The chunks of all inputs are on the device.
  void run(Watcher& watcher, Trace* trace, const TakeSums& take);

  bool empty() const { return parts_.empty(); }
  std::size_t bytes() const { return floats_ * sizeof(float); }  ///< of the sums
  std::size_t bytes_of(std::int64_t count) const;                ///< of those of so many queries

 private:
  /// A query tile of an input, and where its sums lie.
  struct Part {
    std::size_t input;
    std::int64_t first, count;
    DeviceMemory queries;
    std::size_t sums;  ///< floats before its own
  };

  void prepare_sums();
  void read_sums(Trace* trace);
  void run_tile(const Part& part, const Chunk& chunk, std::int64_t begin, std::int64_t rows, Watcher& watcher,
                Trace* trace);
  spi::DistanceStep distance_step(const Part& part, const Chunk& chunk, std::int64_t begin, std::int64_t rows,
                                  const spi::Grid<float>& out) const;
  spi::AccumulateStep accumulate_step(const Part& part, std::int64_t first, std::int64_t rows) const;

  const SumsTask& task_;
  const std::span<const SumsInput> inputs_;
  const SumsTiles tiles_;
  const PlanOptions& options_;
  const DeviceMemory& labels_;
  DeviceMemory distances_, scratch_, sums_;
  std::size_t scratch_bytes_ = 0;
  std::vector<Part> parts_;
  std::size_t floats_ = 0;
  std::vector<float> values_;
};

}  // namespace kith
