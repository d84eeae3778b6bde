// Divides the rows of a step into tiles and parts, and says what products take.
// No twin in kernels_cuda: launchers there compute their shapes where they launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/shapes.hpp"
#include "kith/spi/candidates.hpp"

namespace kith::opencl {

/// Returns the number of places for the training rows of a step; for dot, fp16 and int8 it is rounded up to
/// whole tiles (visits.cl).
inline std::size_t places_of(const spi::CollectStep& step) {
  if (step.proposer == Proposer::none || step.proposer == Proposer::gemm) return step.values.cols;
  return std::size_t{divide_up(step.values.cols, spi::quantized_block_rows)} * spi::quantized_block_rows;
}

/// Returns into how many parts the tiles of a step are divided, with one group per part and block of queries,
/// so that all groups finish soonest.
///   at_once  groups that run at the same time
///   start    time that a group takes to start, in halves of a tile
inline std::uint32_t parts_of(std::uint32_t tiles, std::uint32_t query_blocks, std::uint32_t at_once,
                              std::uint32_t start) {
  constexpr std::uint64_t most_rounds = 8;
  std::uint64_t best = 1, least = ~std::uint64_t{0};
  for (std::uint64_t rounds = 1; rounds <= most_rounds; ++rounds) {
    const std::uint64_t parts = std::clamp<std::uint64_t>(rounds * at_once / query_blocks, 1, tiles);
    const std::uint64_t time =
        divide_up(parts * query_blocks, at_once) * (std::uint64_t{2} * divide_up(tiles, parts) + start);
    if (time >= least) continue;
    least = time;
    best = parts;
  }
  return static_cast<std::uint32_t>(best);
}

constexpr std::uint32_t batch_group = 128, warps = batch_group / 32;
constexpr std::size_t finding_bytes = std::size_t{warps} * 64 * 16;  // bytes of local memory

/// The layout of the queries of a step in products, and the resources that it needs.
struct SmallBatch {
  Lines lines, query_lines;
  std::uint32_t turns;    ///< pieces of a query that a piece of a row meets
  std::uint32_t across;   ///< matrices of 8 queries
  std::uint32_t at_once;  ///< groups per compute unit, found by measurement

  explicit SmallBatch(const spi::CollectStep& step)
      : lines(step.proposer, step.train.rows.cols),
        query_lines(spi::proposer_of_queries(step.proposer), step.train.rows.cols),
        turns(step.proposer == Proposer::int4 ? 2 : 1) {
    const std::size_t queries = step.values.rows;
    across = queries <= 8 ? 1 : queries <= 16 ? 2 : queries <= 32 ? 4 : 8;
    at_once = across == 8 ? 3 : across == 1 && lines.pieces < Lines::most_pieces ? 5 : 4;
  }
  std::size_t query_bytes() const {
    return std::size_t{lines.row_pieces()} * turns * across * 8 * Lines::piece_bytes;
  }
  std::uint32_t chunks_a_tile() const { return lines.pieces / 2; }
};

// These are the constants of fused_test.cl, fused_test_rows.cl and collect_fused_test.cl.
constexpr std::uint32_t numbers_a_query = 3, block_queries = 256;

/// Returns how many steps of 16 columns a row and its `low` take.
inline std::uint32_t steps_of(const spi::CollectStep& step) {
  return static_cast<std::uint32_t>(spi::fused_test_steps(step.train.rows.cols));
}

/// The layout of scratch: lines, then gaps if bounds are needed, then numbers of the queries.
struct FusedTest {
  std::size_t gap_first, fused_test_first, bytes;  // the first two are in words

  explicit FusedTest(const spi::CollectStep& step) {
    constexpr std::size_t halves_a_word = 2;
    const std::size_t places = places_of(step);
    gap_first = places * 16 * steps_of(step) / halves_a_word;
    fused_test_first = gap_first + (step.bounds.low.cols > 0 ? places : 0);
    bytes = (fused_test_first + numbers_a_query * step.values.rows) * sizeof(std::uint32_t);
  }
};

/// Returns the bytes of a quantized row without padding.
inline std::size_t row_bytes(const spi::CollectStep& step) {
  const std::size_t dims = step.train.rows.cols;
  return step.proposer == Proposer::int8 ? dims : spi::half_terms(dims) * sizeof(std::uint16_t);
}

constexpr std::uint32_t steps_in_registers = 16;  // 16 queries by 32 bytes each: 64 registers

/// The queries that collect_fp16.cl keeps in registers, for rows of few dimensions.
struct InRegisters {
  std::uint32_t steps;   ///< of 32 bytes
  std::uint32_t across;  ///< matrices of 16 queries per warp; a work-group has 8 warps

  InRegisters(const spi::CollectStep& step, const Lines& lines)
      : steps(lines.pieces == 2 ? 1 : 2 * divide_up(row_bytes(step), 64)), across(1) {
    // More queries than there are would not help.
    while (across < 4 && 2 * across * steps <= steps_in_registers &&
           std::size_t{across} * spi::quantized_block_rows < step.values.rows)
      across *= 2;
  }
  bool fit() const { return steps <= steps_in_registers; }
};

}  // namespace kith::opencl
