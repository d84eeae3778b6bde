// The groups of the rows of an Index, which are searched as if each were an Index of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "device/device_state.hpp"
#include "rows/index_state.hpp"
#include "search/lists/asked_part.hpp"

namespace kith {

/// Checks the borders of groups of `count` rows.
///   what  names the rows in messages: "training rows" or "queries"
/// Throws invalid_argument: they do not ascend from 0 to `count`.
void check_borders(std::string_view where, std::string_view what, const std::vector<std::int64_t>& borders,
                   std::int64_t count);

/// Returns borders as steps take them, on the device. Locks it. There are fewer than 2^32 rows.
DeviceMemory borders_on_device(const std::shared_ptr<Device::State>& state,
                               const std::vector<std::int64_t>& borders);

class RowGroups {
 public:
  /// Takes borders that are checked.
  RowGroups(const DeviceInfo& info, std::vector<std::int64_t> borders)
      : borders_(std::move(borders)), mutex_(info) {}

  std::int64_t count() const { return static_cast<std::int64_t>(borders_.size()) - 1; }
  const std::vector<std::int64_t>& borders() const { return borders_; }
  /// Returns the rows of group g.
  RowRange rows(std::int64_t g) const;

  /// Returns the borders on the device of the rows, for which the first call copies them. Locks the device.
  std::shared_ptr<const DeviceMemory> on_device(const std::shared_ptr<Device::State>& state) const;
  /// Returns the rows of group g, which has some, as an Index of their own with places from 0 on. The first
  /// call makes it.
  ///   all  the Index of all rows
  std::shared_ptr<const Index::State> alone(const Index::State& all, std::int64_t g) const;
  /// Returns the device memory of the rows of an Index, and of what proposers keep.
  static std::size_t bytes_of_rows(const Index::State& index);
  /// Returns the device memory of the borders, and of the groups that became an Index of their own.
  std::size_t bytes() const;

 private:
  const std::vector<std::int64_t> borders_;
  mutable DeviceMutex mutex_;  // guards both members below
  mutable std::shared_ptr<const DeviceMemory> on_device_;
  mutable std::map<std::int64_t, std::shared_ptr<const Index::State>> alone_;
};

}  // namespace kith
