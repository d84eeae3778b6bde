// The training tiles of a search.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// Rows first .. first + rows - 1, which all lie in one chunk.
struct Tile {
  std::size_t chunk;  ///< its place in Index::State::chunks
  std::int64_t first, rows;

  spi::RowBlocks row_blocks(const Index::State& index) const {
    const Chunk& of = index.chunks[chunk];
    return {of.memory.get(), static_cast<std::uint32_t>(first - of.first), static_cast<std::uint32_t>(rows),
            static_cast<std::uint32_t>(index.dims), index.device.info().train_block};
  }
};

/// All training rows in order. With a proposer the first tile is the seed, and those that follow
/// grow with what is known: a bound from r rows lets about k of every r rows pass.
std::vector<Tile> train_tiles(const Index::State& index, const Plan& plan);

/// One step of a search that visits blocks: docs/certificate.md, section 5.
struct Phase {
  std::size_t chunk;  ///< its place in Index::State::chunks
  spi::Visits visits;
  bool ends_chunk;
  std::int64_t rank;  ///< the bound that theta follows from: that of the k-th, or fewer where it is guessed
  bool samples = false;  ///< lists nothing; the next phase sees the same rows again
  bool open = false;     ///< theta may be +infinity
  bool thins = true;     ///< what is listed; at the end that may take longer than to rank it all
};

/// How much longer lists are where they were too short, which no more than one query in so many may find.
inline constexpr std::int64_t longer_lists = 4;

/// How a search goes through the training rows.
enum class Way {
  guessing,  ///< in the steps of the plan, theta from fewer bounds than k
  careful,  ///< in smaller ones, theta from k bounds: no order of the rows, but only ties make lists overflow
  again,    ///< in steps so short that no list that is longer_lists as long overflows at all
};

/// All training rows, chunk by chunk, the blocks of each in a mixed order, in steps that grow.
std::vector<Phase> phases(const Index::State& index, const Plan& plan, Way way);

/// Those of a sample, in an index of one chunk.
spi::Visits sample_visits(const Plan& plan);

/// The most visits of a step; none where `plan` has none.
spi::Visits largest_visits(const Plan& plan);

}  // namespace kith
