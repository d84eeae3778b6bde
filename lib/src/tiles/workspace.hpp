// Device memory of one search, allocated before anything runs, and the steps laid out in it.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device_state.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "plan/plan_memory.hpp"

namespace kith {

/// Sorted lists of one training tile, and where their merge goes.
struct TileLists {
  spi::Grid<Key> select_out;  ///< [q, groups * k]
  bool merge = false;         ///< false: select_out is already what is wanted
  std::uint32_t lists = 0;    ///< groups, and one more when a running result is carried
  spi::Grid<Key> merge_in;    ///< [q, lists * k]
  spi::Grid<Key> merge_out;   ///< [q, k]
};

class Workspace {
 public:
  /// Throws out_of_memory.
  Workspace(const std::shared_ptr<Device::State>& state, const Plan& plan, std::size_t scratch_bytes);

  /// Where the queries of a tile are written: queries() are those then.
  spi::Allocation& query_memory() {
    elsewhere_ = nullptr;
    return *queries_.get();
  }
  /// Queries that lie in other memory, packed likewise, which lives longer: queries() are those until
  /// query_memory() is asked for.
  void take_queries(const DeviceMemory& from) { elsewhere_ = from.get(); }
  spi::RowBlocks queries(std::int64_t count) const;
  spi::Grid<float> distances(std::int64_t count, std::int64_t train_rows) const;
  spi::Scratch scratch() const;
  /// Lists of training tile number `tile`, of which `last` is the last. The running result is
  /// carried as one more list into the next tile's merge, between two blocks of lists in turn.
  TileLists lists(std::int64_t count, std::int64_t tile, bool last) const;
  spi::Grid<Key> result(std::int64_t count) const;

 private:
  const Plan plan_;
  const std::uint32_t query_block_;
  DeviceMemory queries_, distances_, lists_[2], result_, scratch_;
  const spi::Allocation* elsewhere_ = nullptr;  ///< the queries; null: in queries_
  std::size_t scratch_bytes_;
};

}  // namespace kith
