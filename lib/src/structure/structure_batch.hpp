// A batch of query tiles whose class sums a device computes without a wait in between, and which are
// read together.
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
  /// All arguments must outlive it.
  ///   labels  [n] on the device, the class at each position
  /// Throws unsupported if the device refuses the step.
  SumsBatch(const SumsTask& task, std::span<const SumsInput> inputs, const SumsTiles& tiles,
            const SearchOptions& options, const DeviceMemory& labels);

  /// Copies positions first ... first + count - 1 of an input to the device.
  void add(std::size_t input, std::int64_t first, std::int64_t count, Trace* trace);

  /// Computes all parts, passes them to `take`, and empties the batch. The chunks of all inputs must be on
  /// the device.
  void run(Watcher& watcher, Trace* trace, const TakeSums& take);

  bool empty() const { return parts_.empty(); }
  std::size_t bytes() const { return floats_ * sizeof(float); }  ///< bytes of the sums
  std::size_t bytes_of(std::int64_t count) const;                ///< bytes of the sums of `count` queries

 private:
  /// Names a query tile of an input, and the place of its sums.
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
  const SearchOptions& options_;
  const DeviceMemory& labels_;
  DeviceMemory distances_, scratch_, sums_;
  std::size_t scratch_bytes_ = 0;
  std::vector<Part> parts_;
  std::size_t floats_ = 0;
  std::vector<float> values_;
};

}  // namespace kith
