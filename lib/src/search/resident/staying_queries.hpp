// Queries that searches among other rows each need not bring to the device again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_state.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/landed/query_rows.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// The same queries of one search after the other, among other rows each: packed and copied by the first, and
/// again where tiles have another length. One search at a time.
class StayingQueries {
 public:
  ///   most_bytes  of the device that they may take; tiles that need more are copied by each search
  StayingQueries(std::shared_ptr<Device::State> state, std::size_t most_bytes)
      : state_(std::move(state)), most_bytes_(most_bytes) {}

  /// Make queries `first`, `first` + 1, ... those of the workspace.
  ///   queries  the same as they are searched
  void place(const Plan& plan, std::int64_t first, const QueryRows& queries, Workspace& workspace);

 private:
  const DeviceMemory* memory_for(std::size_t tile, std::size_t bytes);

  const std::shared_ptr<Device::State> state_;
  const std::size_t most_bytes_;
  std::int64_t tile_rows_ = 0;
  std::size_t bytes_ = 0;
  std::vector<DeviceMemory> tiles_;
};

}  // namespace kith
