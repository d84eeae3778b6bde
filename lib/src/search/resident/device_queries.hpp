// Queries that a search need not bring to the device, since they are there already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_state.hpp"
#include "kith/matrix_view.hpp"
#include "kith/plan.hpp"
#include "rows/landed/landed_rows.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class DeviceQueries {
 public:
  DeviceQueries() = default;
  virtual ~DeviceQueries() = default;
  DeviceQueries(const DeviceQueries&) = delete;
  DeviceQueries& operator=(const DeviceQueries&) = delete;

  /// Make queries `first`, `first` + 1, ... those of the workspace.
  ///   queries  the same as they are searched
  virtual void place(const Plan& plan, std::int64_t first, MatrixView<const float> queries,
                     Workspace& workspace) = 0;
};

/// In memory of the caller on the device, from where they are landed.
class LandedQueries final : public DeviceQueries {
 public:
  /// Both live longer.
  LandedQueries(Device::State& state, const RowsToLand& rows) : state_(state), rows_(rows) {}
  void place(const Plan& plan, std::int64_t first, MatrixView<const float> queries,
             Workspace& workspace) override;

 private:
  Device::State& state_;
  const RowsToLand& rows_;
};

/// The same queries of one search after the other, among other rows each: packed and copied by the first, and
/// again where tiles have another length. One search at a time.
class StayingQueries final : public DeviceQueries {
 public:
  ///   most_bytes  of the device that they may take; tiles that need more are copied by each search
  StayingQueries(std::shared_ptr<Device::State> state, std::size_t most_bytes)
      : state_(std::move(state)), most_bytes_(most_bytes) {}
  void place(const Plan& plan, std::int64_t first, MatrixView<const float> queries,
             Workspace& workspace) override;

 private:
  const DeviceMemory* memory_for(std::size_t tile, std::size_t bytes);

  const std::shared_ptr<Device::State> state_;
  const std::size_t most_bytes_;
  std::int64_t tile_rows_ = 0;
  std::size_t bytes_ = 0;
  std::vector<DeviceMemory> tiles_;
};

}  // namespace kith
