// Divides the training rows of a search into tiles and steps.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Rows first .. first + rows - 1, which all lie in one chunk.
struct Tile {
  std::size_t chunk;  ///< its place in ResidentRows::chunks
  std::int64_t first, rows;

  spi::RowBlocks row_blocks(const ResidentRows& index) const {
    const Chunk& of = index.chunks[chunk];
    return {of.memory.get(), static_cast<std::uint32_t>(first - of.first), static_cast<std::uint32_t>(rows),
            static_cast<std::uint32_t>(index.dims), index.device.info().train_block};
  }
  /// The same for a step that reads the rows. Throws device_failure where the device has quantized rows
  /// alone, which no search asks for: without it one that did would read memory that is not there.
  spi::RowBlocks rows_on_device(const ResidentRows& index) const;
};

/// All training rows in order.
std::vector<Tile> train_tiles(const ResidentRows& index, const Plan& plan);

/// One step of a search that visits blocks: docs/certificate.md, section 5.
struct Phase {
  std::size_t chunk;  ///< its place in ResidentRows::chunks
  spi::Visits visits;
  bool ranks;            ///< the chain ranks what is listed; at the end of a chunk at the latest
  std::int64_t rank;     ///< the threshold follows from the bound of this rank: k, or less for a guess
  bool samples = false;  ///< only samples; the next phase visits the same rows again
  bool open = false;     ///< the threshold may be +infinity
  bool afresh = false;   ///< nothing was ranked before
  bool thins = true;     ///< bounds thin the lists; at the end that may take longer than to rank them
  float gap_share = 1;   ///< CollectStep::gap_share
};

/// All training rows, chunk by chunk, the blocks of each in a mixed order, in steps that grow as `attempt`
/// says.
std::vector<Phase> phases(const ResidentRows& index, const Plan& plan, const Attempt& attempt);

/// Returns the visits of a sample, in an index of one chunk.
spi::Visits sample_visits(const Plan& plan);

/// Returns the most visits of a step; none if a proposer takes blocks one by one.
spi::Visits largest_visits(const Plan& plan);

}  // namespace kith
