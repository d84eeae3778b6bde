// Keeps queries on the device for several searches among different rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_state.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/queries/query_rows.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Keeps the queries of successive searches among different rows: the first one packs and copies them, and a
/// later one again only if its tiles have another length. Only one search may use it at a time.
class StayingQueries {
 public:
  ///   most_bytes  device memory that they may take; each search copies tiles beyond that
  StayingQueries(std::shared_ptr<Device::State> state, std::size_t most_bytes)
      : state_(std::move(state)), most_bytes_(most_bytes) {}

  /// Puts queries `first`, `first` + 1, ... into the workspace.
  ///   queries  these queries, prepared
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
