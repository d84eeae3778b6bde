// Chooses the tiles of the class sums of a Structure, without the data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/chunks.hpp"
#include "rows/landed/column_terms.hpp"

namespace kith {

/// Holds the size of a task, by tiles of samples as queries and of samples as training rows.
struct SumsProblem {
  std::int64_t n = 0;                       ///< samples
  std::int64_t dims = 0;                    ///< columns that count
  std::int64_t classes = 0;                 ///< 0: only distances, no sums
  Arithmetic arithmetic = Arithmetic::f32;  ///< f32 or f64
};

struct SumsTiles {
  std::int64_t queries = 0, rows = 0;

  bool operator==(const SumsTiles&) const = default;
};

/// The numbers of the sums of a sample and a class: smallest, high, low.
inline constexpr std::size_t numbers_a_sum = 3;

/// Names rows begin ... begin + rows - 1 of a chunk for a step.
///   terms  in the place of differences; null: there are none
inline spi::RowBlocks rows_of_step(const Chunk& chunk, std::int64_t begin, std::int64_t rows,
                                   std::uint32_t dims, std::uint32_t block, const ColumnTerms* terms) {
  return {chunk.memory.get(),
          static_cast<std::uint32_t>(begin),
          static_cast<std::uint32_t>(rows),
          dims,
          block,
          terms ? terms->there() : nullptr,
          terms && terms->is_mixed()};
}

/// Returns the device bytes of a tile of distances in single precision.
std::size_t distances_bytes(const SumsTiles& tiles);
/// Returns the bytes of the queries, sums and distances of a tile.
std::size_t tiles_bytes(const DeviceInfo& device, const SumsProblem& problem, const SumsTiles& tiles);

/// Returns tiles that fit `budget` bytes and the largest allocation of the device; uses options.query_tile
/// and train_tile if given and if they fit. Prefers many queries and few rows, since a step distributes
/// queries. Throws invalid_argument if options.query_tile or train_tile is negative; out_of_memory if one
/// query and one row do not fit.
SumsTiles sums_tiles(const DeviceInfo& device, const SumsProblem& problem, std::size_t budget,
                     const SearchOptions& options);

}  // namespace kith
