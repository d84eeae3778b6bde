// The training tiles of a search.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/plan.hpp"
#include "kith/spi.hpp"
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
  bool ranks;  ///< the chain ranks what is listed, at the end of a chunk at the latest
  std::int64_t
      rank;  ///< the bound that the threshold follows from: that of the k-th, or fewer where it is guessed
  bool samples = false;  ///< lists nothing; the next phase sees the same rows again
  bool open = false;     ///< the threshold may be +infinity
  bool afresh = false;   ///< nothing has been ranked before
  bool thins = true;     ///< what is listed; at the end that may take longer than to rank it all
};

/// All training rows, chunk by chunk, the blocks of each in a mixed order, in steps that grow as `attempt`
/// says.
std::vector<Phase> phases(const ResidentRows& index, const Plan& plan, const Attempt& attempt);

/// Those of a sample, in an index of one chunk.
spi::Visits sample_visits(const Plan& plan);

/// The most visits of a step; none where a proposer takes blocks one by one.
spi::Visits largest_visits(const Plan& plan);

}  // namespace kith
