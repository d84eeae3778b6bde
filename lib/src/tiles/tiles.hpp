// Divides the training rows of a search into tiles and steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Names rows first .. first + rows - 1, which are all in one chunk.
struct Tile {
  std::size_t chunk;  ///< its place in ResidentRows::chunks
  std::int64_t first, rows;

  spi::RowBlocks row_blocks(const ResidentRows& index) const {
    const Chunk& of = index.chunks[chunk];
    return {of.memory.get(),
            static_cast<std::uint32_t>(first - of.first),
            static_cast<std::uint32_t>(rows),
            static_cast<std::uint32_t>(index.dims),
            index.device.info().train_block,
            index.terms ? index.terms->there() : nullptr,
            index.terms && index.terms->is_mixed(),
            compares_bits(index.metric) ? static_cast<std::uint32_t>(index.columns) : 0};
  }
  /// Does the same for a step that reads the rows. Throws device_failure if the device has only quantized
  /// rows. No search calls this then; without the check it would read memory that does not exist.
  spi::RowBlocks rows_on_device(const ResidentRows& index) const;
};

/// Returns all training rows in order, as tiles.
std::vector<Tile> train_tiles(const ResidentRows& index, const Plan& plan);

/// Describes one step of a search that visits blocks: docs/certificate.md, section 5.
struct Phase {
  std::size_t chunk;  ///< its place in ResidentRows::chunks
  spi::Visits visits;
  bool ranks;            ///< the chain ranks the listed rows; at the latest at the end of a chunk
  std::int64_t rank;     ///< the bound of this rank gives the threshold: k, or less for a guess
  bool samples = false;  ///< only samples; the next phase visits the same rows again
  bool open = false;     ///< the threshold may be +infinity
  bool afresh = false;   ///< nothing was ranked before
  bool thins = true;     ///< bounds thin the lists; false at the end if ranking them is faster
  float gap_share = 1;   ///< CollectStep::gap_share
};

/// Returns steps over all training rows, chunk by chunk, with the blocks of each in mixed order. They grow as
/// `attempt` says.
std::vector<Phase> phases(const ResidentRows& index, const Plan& plan, const Attempt& attempt);

/// Returns the end of the phases from `first` on that go to the device together, behind which the host waits
/// for it. Without progress or a stop token these are all. With a token alone they have as many rows as the
/// largest phase, so that a stop takes at most about twice as long as that one: steps grow, and waiting after
/// each small one would leave the device idle.
inline std::size_t end_of_turn(const std::vector<Phase>& all, std::size_t first, bool reports, bool stops) {
  if (reports) return first + 1;
  if (!stops) return all.size();
  const auto rows = [](const Phase& phase) { return std::uint64_t{phase.visits.count} * phase.visits.rows; };
  std::uint64_t most = 0;
  for (const Phase& phase : all) most = std::max(most, rows(phase));
  std::size_t end = first;
  std::uint64_t seen = 0;
  do seen += rows(all[end]);
  while (++end < all.size() && seen < most);
  return end;
}

/// Returns the visits of a sample, in an index of one chunk.
spi::Visits sample_visits(const Plan& plan);

/// Returns the most visits of a step; none if a proposer takes blocks one by one.
spi::Visits largest_visits(const Plan& plan);

}  // namespace kith
