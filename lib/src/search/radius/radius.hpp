// Searches the rows of one device for all within a radius: the plan, device memory and steps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device_state.hpp"
#include "device/timing.hpp"
#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "rows/row_filter.hpp"
#include "search/resident/search_request.hpp"
#include "tiles/tiles.hpp"

namespace kith {

/// Returns bound_of() the radius of each of m queries.
/// Throws invalid_argument: not 1 or m radii, a NaN.
template <class Real>
std::vector<Real> bounds_of(ShownBy shown, std::span<const Real> radii, std::int64_t m,
                            std::uint32_t threads);

/// Returns the plan of within() for m queries. Plan::problem.k is 0, and Plan::candidates is the length of a
/// list: for a query with more rows in a training tile the distances are read instead. Throws
/// invalid_argument and unsupported for options that a radius search cannot heed; out_of_memory: one query
/// does not fit.
Plan plan_within(const ResidentRows& index, std::int64_t m, const SearchOptions& options);
/// Returns the plan of a count by distances, with a list of one place for each query, which nobody reads.
///   where  the function that is called, for messages
///   radii  counts of each query
/// Throws as plan_within() does.
Plan plan_count(const std::string& where, const ResidentRows& index, std::int64_t m, std::int64_t radii,
                const SearchOptions& options);

/// Prepares the queries, and finds all rows within the radii of `request`, by boxes or by distances.
RadiusNeighbors within_resident(const ResidentRows& index, const SearchRequest& request, Trace* trace);
/// Finds the same, and returns keys with places.
RadiusKeys keys_within_resident(const ResidentRows& index, const SearchRequest& request, Trace* trace);

/// Finds all training rows whose value is at most bounds[q] by boxes (docs/boxes.md, section 3). Returns
/// nothing if boxes do not pay. A query that reads too many leaves, or has more rows
/// than a list holds, is answered by `other_way`, which finds the query's own row, too.
///   queries  [m, dims], prepared
///   bounds   [m], the largest raw value of each query
std::optional<RadiusKeys> within_by_boxes(
    const ResidentRows& index, MatrixView<const float> queries, std::span<const float> bounds,
    const SearchOptions& options, Trace* trace,
    const std::function<RadiusKeys(const std::vector<std::int64_t>& queries)>& other_way);

/// Begins the trace of a radius search by boxes.
///   made  has the seconds and bytes of making boxes
void tell_of_boxes(const Plan& plan, std::int64_t tiles, const Trace& made, Trace& trace);

/// Finds the same by distances: all of them are written, and rows within the radius are listed.
/// Throws as Index::within() does.
RadiusNeighbors within_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                                    const std::vector<float>& bounds, const SearchOptions& options,
                                    Trace* trace);
/// Finds the same as keys that shards exchange.
RadiusKeys within_keys_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                                    const std::vector<float>& bounds, const SearchOptions& options,
                                    Trace* trace);

/// Holds the device memory of one radius search or count, and makes its steps.
class RadiusWorkspace {
 public:
  /// Has null memory, for checking steps.
  ///   radii  bounds and counts of each query
  RadiusWorkspace(const DeviceInfo& device, const Plan& plan, std::size_t radii = 1);
  /// Throws out_of_memory, unsupported.
  RadiusWorkspace(const std::shared_ptr<Device::State>& state, const Plan& plan, std::size_t radii = 1);

  /// Holds the bytes of all blocks without the scratch, and of the largest block.
  struct Sizes {
    std::size_t total, largest;
  };
  Sizes sizes() const;
  /// Returns the scratch that the steps need. Throws unsupported if the device refuses one.
  std::size_t scratch_bytes(const Device::State& device) const;

  spi::Allocation& query_memory() const { return *queries_.get(); }
  spi::Allocation& bounds() const { return *bounds_.get(); }  ///< [radii, query_tile] floats
  spi::Allocation& counts() const { return *counts_.get(); }  ///< [radii, query_tile] numbers
  spi::Allocation& keys() const { return *keys_.get(); }      ///< [query_tile, candidates]

  spi::Grid<float> distances(std::int64_t count, std::int64_t train_rows) const;
  /// Enqueues the steps that write the distances of a tile, and mark those that do not count.
  ///   session  of the device, which stays locked
  spi::Grid<float> enqueue_distances(const DeviceSession& session, const ResidentRows& index,
                                     const Tile& tile, const DeviceFilter& filter, std::int64_t count,
                                     StepTimer& timer) const;
  spi::Step distance(std::int64_t count, const spi::RowBlocks& train) const;
  ///   first  of the bounds and the counts of the tile
  spi::Step collect(const spi::Grid<float>& distances, std::uint32_t first_row, std::size_t first = 0) const;
  /// Reranks the first `longest` places of each list; keys are [count, longest].
  spi::Step rerank(std::int64_t count, std::size_t longest, const spi::RowBlocks& train,
                   std::uint32_t first_row) const;

 private:
  spi::RowBlocks query_rows(std::int64_t count) const;
  spi::CandidateLists lists(std::size_t count, std::size_t places, std::size_t first) const;

  const Plan plan_;
  const std::uint32_t query_block_, train_block_;
  const std::size_t radii_;
  DeviceMemory queries_, distances_, rows_, keys_, bounds_, counts_, scratch_;
  std::size_t scratch_size_ = 0;
};

}  // namespace kith
