// All rows within a radius among those of one device: the search, its plan, device memory and steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device_state.hpp"
#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// The largest raw value whose distance is at most `radius`: who is within it on the device is then
/// within it by the distances that a search shows. Under FloatGuard.
float bound_of(Metric metric, float radius);

/// bound_of() for each of m queries. Throws invalid_argument: not 1 or m radii, a NaN.
std::vector<float> bounds_of(Metric metric, std::span<const float> radii, std::int64_t m);

/// What within() would do for m queries. Plan::problem.k is 0; Plan::candidates are the places of a list: a
/// query with more rows in a training tile has its distances read instead.
/// Throws invalid_argument, unsupported: what options insist on. out_of_memory: one query does not fit.
Plan plan_within(const ResidentRows& index, std::int64_t m, const SearchOptions& options);

/// All rows within the radii of `request`, by boxes or by distances. Prepares the queries.
RadiusNeighbors within_resident(const ResidentRows& index, const SearchRequest& request, Trace* trace);
/// The same as keys, by place; by distances.
RadiusKeys keys_within_resident(const ResidentRows& index, const SearchRequest& request, Trace* trace);

/// Device memory of one radius search, and its steps.
class RadiusWorkspace {
 public:
  /// With null memory, for checking steps.
  RadiusWorkspace(const DeviceInfo& device, const Plan& plan);
  /// Throws out_of_memory, unsupported.
  RadiusWorkspace(const std::shared_ptr<Device::State>& state, const Plan& plan);

  /// Bytes of all blocks but the scratch, and of the largest block.
  struct Sizes {
    std::size_t total, largest;
  };
  Sizes sizes() const;
  /// Scratch the steps need. Throws unsupported when the device refuses one.
  std::size_t scratch_bytes(const Device::State& device) const;

  spi::Allocation& query_memory() const { return *queries_.get(); }
  spi::Allocation& bounds() const { return *bounds_.get(); }  ///< [query_tile] floats
  spi::Allocation& counts() const { return *counts_.get(); }  ///< [query_tile] numbers
  spi::Allocation& keys() const { return *keys_.get(); }      ///< [query_tile, candidates]

  spi::Grid<float> distances(std::int64_t count, std::int64_t train_rows) const;
  spi::Step distance(std::int64_t count, const spi::RowBlocks& train) const;
  spi::Step collect(const spi::Grid<float>& distances, std::uint32_t first_row) const;
  /// The first `longest` places of each list; keys are [count, longest].
  spi::Step rerank(std::int64_t count, std::size_t longest, const spi::RowBlocks& train,
                   std::uint32_t first_row) const;

 private:
  spi::RowBlocks query_rows(std::int64_t count) const;
  spi::CandidateLists lists(std::size_t count, std::size_t places) const;

  const Plan plan_;
  const std::uint32_t query_block_, train_block_;
  DeviceMemory queries_, distances_, rows_, keys_, bounds_, counts_, scratch_;
  std::size_t scratch_size_ = 0;
};

}  // namespace kith
