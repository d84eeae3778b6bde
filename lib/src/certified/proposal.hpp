// The memory of one search by a proposer, and its steps: they collect candidates and rank them by the chain.
// docs/certificate.md, section 5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "certified/list_reader.hpp"
#include "device/device_state.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"
#include "plan/proposal_sizes.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class Proposal {
 public:
  /// Has null memory, so that its steps can only be checked.
  explicit Proposal(const Plan& plan) : plan_(plan) {}
  /// Throws out_of_memory.
  Proposal(const std::shared_ptr<Device::State>& state, const Plan& plan, spi::OnGrid queries);

  /// Makes lists `times` as long from now on, for at most query_tile / times queries.
  void lengthen_lists(std::int64_t times) { times_ = times; }

  /// Quantizes the queries of a tile.
  spi::Step prepare(const spi::RowBlocks& queries, const spi::Grid<float>& centre, float scale) const;
  /// Collects candidates among the training rows of a tile.
  spi::Step collect(std::int64_t count, const spi::QuantizedRows& train, const spi::Visits& visits,
                    std::uint32_t first_row, const spi::Scratch& scratch, float unscale, float gap_share = 1,
                    bool open = false) const;
  /// Takes a sample of the bounds of visited rows; then sets the threshold by the `rank`-th of the sample.
  spi::Step sample(std::int64_t count, const spi::QuantizedRows& train, const spi::Visits& visits,
                   const spi::Scratch& scratch, float unscale, float gap_share = 1) const;
  spi::Step tighten_by_sample(std::int64_t count, const spi::Visits& visits, std::int64_t rank) const;
  ///   square  square of a step of the grid if exact products give the chains; else 0
  spi::Step rerank(const spi::RowBlocks& queries, const spi::RowBlocks& train, std::uint32_t first_row,
                   float square = 0) const;
  /// Merges the ranked candidates into `best` [q, k], and sets thresholds from it.
  ///   guessed  thresholds were guesses and have to be certified
  ///   width    columns of the lists of keys; 0: the capacity of lists
  spi::Step tighten(const spi::Grid<Key>& best, bool afresh, bool guessed, const spi::Scratch& scratch,
                    std::size_t width = 0) const;
  /// With visits: sets the threshold by the `rank`-th bound of the candidates, and drops those beyond it.
  spi::Step tighten_by_bounds(std::int64_t count, std::int64_t rank, const spi::Scratch& scratch) const;
  spi::Step prune(std::int64_t count, bool only_rows) const;

  /// Empties the lists and sets thresholds before a query tile is searched.
  ///   threshold  [count], the first thresholds; empty: +infinity
  void reset(spi::Device& device, std::int64_t count, std::span<const float> threshold = {}) const;
  std::vector<float> thresholds(spi::Device& device, std::int64_t count) const;
  /// Returns the number of listed candidates of all queries.
  std::int64_t listed(spi::Device& device, std::int64_t count) const;
  /// Returns the lists of candidates in device memory.
  CandidatesThere listed_places(std::int64_t count) const;
  /// Writes the `width` nearest of each list where RerankStep would write its result, for
  /// tighten(..., width).
  ///   nearest  [count, width]
  ///   listed   the lists that were read from listed_places()
  void write_nearest(spi::Device& device, const ListedPlaces& listed, std::size_t width,
                     std::span<const Key> nearest) const;
  /// Returns the queries of the tile whose lists overflowed or whose guess failed. Locks the device.
  ///   workspace  reads the keys of the tile along with them
  std::vector<std::int64_t> lost(Device::State& state, Workspace& workspace, std::int64_t count) const;

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
