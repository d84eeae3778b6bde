// Allocates the device memory of one search before anything runs, and lays out the operands of its steps.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device_state.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"
#include "plan/plan_memory.hpp"

namespace kith {

/// Describes the sorted lists of one training tile, and where they are merged.
struct TileLists {
  spi::Grid<Key> select_out;  ///< [q, groups * k]
  bool merge = false;         ///< false: select_out is the result
  std::uint32_t lists = 0;    ///< groups, and one more if a running result is carried
  spi::Grid<Key> merge_in;    ///< [q, lists * k]
  spi::Grid<Key> merge_out;   ///< [q, k]
};

class Workspace {
 public:
  /// Allocates the memory. Throws out_of_memory.
  Workspace(const std::shared_ptr<Device::State>& state, const Plan& plan, std::size_t scratch_bytes);

  /// Returns where to write the queries of a tile; queries() then returns these.
  spi::Allocation& query_memory() {
    elsewhere_ = nullptr;
    return *queries_.get();
  }
  /// Takes queries in other memory, packed likewise, which must outlive this; queries() returns these until
  /// query_memory() is called.
  void take_queries(const DeviceMemory& from) { elsewhere_ = from.get(); }
  spi::RowBlocks queries(std::int64_t count) const;
  spi::Grid<float> distances(std::int64_t count, std::int64_t train_rows) const;
  spi::Scratch scratch() const;
  /// Returns the lists of training tile `tile`; `last` says that it is the last. The running result is one
  /// more list in the merge of the next tile; two blocks of lists alternate.
  TileLists lists(std::int64_t count, std::int64_t tile, bool last) const;
  spi::Grid<Key> result(std::int64_t count) const;

 private:
  const Plan plan_;
  const std::uint32_t query_block_;
  DeviceMemory queries_, distances_, lists_[2], result_, scratch_;
  const spi::Allocation* elsewhere_ = nullptr;  ///< memory of the queries; null: queries_
  std::size_t scratch_bytes_;
};

}  // namespace kith
