// Candidates by a proposer, ranked by the chain: the memory of one search, and its steps.
// docs/certificate.md, section 5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "certified/list_reader.hpp"
#include "device/device_state.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {

class Proposal {
 public:
  /// With null memory, for checking steps.
  explicit Proposal(const Plan& plan) : plan_(plan) {}
  /// Throws out_of_memory.
  Proposal(const std::shared_ptr<Device::State>& state, const Plan& plan, spi::OnGrid queries);

  /// From here on the lists of at most query_tile / times queries have `times` as many places.
  void lengthen_lists(std::int64_t times) { times_ = times; }

  /// The quantized queries of a tile.
  spi::Step prepare(const spi::RowBlocks& queries, const spi::Grid<float>& centre, float scale) const;
  /// Candidates among the training rows of a tile, their chains, and what they do to `best` [q, k].
  spi::Step collect(std::int64_t count, const spi::QuantizedRows& train, const spi::Visits& visits,
                    std::uint32_t first_row, const spi::Scratch& scratch, float unscale,
                    bool open = false) const;
  /// With visits, instead: a sample of their bounds, and what the `rank`-th of it says of the threshold.
  spi::Step sample(std::int64_t count, const spi::QuantizedRows& train, const spi::Visits& visits,
                   const spi::Scratch& scratch, float unscale) const;
  spi::Step tighten_by_sample(std::int64_t count, const spi::Visits& visits, std::int64_t rank) const;
  ///   square  of a step of the grid, where exact products say what chains are; else 0
  spi::Step rerank(const spi::RowBlocks& queries, const spi::RowBlocks& train, std::uint32_t first_row,
                   float square = 0) const;
  /// `guessed`: the threshold has to be certified.
  ///   width  of the lists of keys; 0: as many as there are places
  spi::Step tighten(const spi::Grid<Key>& best, bool afresh, bool guessed, const spi::Scratch& scratch,
                    std::size_t width = 0) const;
  /// With visits: what the `rank`-th bound of the candidates says of the threshold, and the candidates it
  /// leaves.
  spi::Step tighten_by_bounds(std::int64_t count, std::int64_t rank, const spi::Scratch& scratch) const;
  spi::Step prune(std::int64_t count) const;

  /// No candidates, nothing lost: before a query tile is searched.
  ///   threshold  [count], the first; empty: +infinity
  void reset(spi::Device& device, std::int64_t count, std::span<const float> threshold = {}) const;
  std::vector<float> thresholds(spi::Device& device, std::int64_t count) const;
  /// Candidates that are listed, of all queries.
  std::int64_t listed(spi::Device& device, std::int64_t count) const;
  /// The candidates of each query, as they are in the lists.
  CandidatesThere listed_places(std::int64_t count) const;
  /// Instead of what RerankStep would write of them, the `width` nearest alone, for tighten(..., width).
  ///   nearest  [count, width]
  ///   listed   as they were read
  void write_nearest(spi::Device& device, const ListedPlaces& listed, std::size_t width,
                     std::span<const Key> nearest) const;
  /// Queries of the tile whose lists were too short in some tile, or whose guess failed.
  std::vector<std::int64_t> lost(spi::Device& device, std::int64_t count) const;

 private:
  spi::QuantizedRows queries(std::size_t count) const;
  spi::CandidateLists lists(std::size_t count) const;
  spi::Grid<std::uint32_t> counts(std::size_t count) const;
  spi::Grid<std::uint32_t> flags(std::size_t count) const;
  spi::Grid<float> threshold(std::size_t count) const;
  spi::Grid<Key> keys(std::size_t count, std::size_t width = 0) const;
  spi::Bounds bounds(std::size_t count) const;
  spi::Grid<std::uint32_t> sample_of(std::size_t count, const spi::Visits& visits) const;

  std::uint32_t dims() const { return static_cast<std::uint32_t>(plan_.problem.dims); }
  std::size_t capacity() const { return static_cast<std::size_t>(plan_.candidates * times_); }

  const Plan plan_;
  spi::OnGrid on_grid_ = spi::OnGrid::no;  ///< of the queries
  std::int64_t times_ = 1;
  DeviceMemory quantized_, row_terms_, values_, rows_, keys_, low_;
  DeviceMemory states_;  // [3, count]: the threshold, counts, lost
};

}  // namespace kith
