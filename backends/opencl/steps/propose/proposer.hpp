// What the steps of a proposer have in common: docs/certificate.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"
#include "kith/spi/refusals.hpp"

namespace kith::opencl {

/// Why there is no bound for the products of rows of `dims` columns by a device that has `proposers`; empty
/// when there is one. Roundings are few beside 1 / u as long as columns are.
inline std::string refuse_proposer(const std::vector<Proposer>& proposers, Proposer proposer,
                                   std::uint32_t dims) {
  if (std::find(proposers.begin(), proposers.end(), proposer) == proposers.end()) {
    std::string has = "none";
    for (std::size_t i = 0; i < proposers.size(); ++i)
      has += (i + 1 < proposers.size() ? ", " : " or ") + std::string(name(proposers[i]));
    return "it has no proposer " + std::string(name(proposer)) + "; choose " + has;
  }
  return spi::refusal_of_columns(proposer, dims, spi::most_dims);
}

/// Places for numbers of the training rows of a step: for dot and fp16 whole tiles of them (visits.cl).
inline std::size_t places_of(const spi::CollectStep& step) {
  if (step.proposer != Proposer::dot && step.proposer != Proposer::fp16) return step.values.cols;
  return std::size_t{divide_up(step.values.cols, spi::quantized_block_rows)} * spi::quantized_block_rows;
}

/// As visits.cl takes them; rows in their order are one visit to the only block.
inline cl_uint4 visits_of(const spi::CollectStep& step) {
  const spi::Visits& visits = step.visits;
  if (visits.rows == 0) return {{divide_up(step.values.cols, spi::quantized_block_rows), 0, 1, 1}};
  return {{visits.rows / spi::quantized_block_rows, visits.first, visits.blocks, visits.stride}};
}

/// How many parts the tiles of a step are cut into, a group each for every block of queries, such that the
/// last of them end soon after the others.
///   at_once  groups that run at the same time
///   start    what a group takes to start, in halves of a tile
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

/// Products of candidates.cl, an argument by value. Firsts are in pieces of 16 bytes, for
/// collect_small_batch.cl in bytes. Of collect_fp16_tiles.cl steps are of 32 dimensions, and a_block is the
/// pieces of 128 rows; of collect_small_batch.cl tiles are chunks, and steps are slabs; fused_test_rows.cl
/// takes K unscale.
struct Products {
  cl_ulong queries_first, train_first;
  cl_uint q_rows, t_rows;
  cl_uint tiles, query_blocks, a_part;
  cl_uint steps, a_block;
  cl_uint first_row;
  cl_float unscale;
};

/// TermPlaces of candidates.cl.
struct TermPlaces {
  Place queries, train;
};

/// What a kernel takes from the number of columns, b, and the share of gaps: docs/certificate.md, sections 1
/// to 4.
///   with_chain  whether the error of an inner product's chain is counted with the product's, being as large,
///               since quantized rows are the rows
struct ErrorNumbers {
  float b, chain, under, gap_share;

  explicit ErrorNumbers(const spi::CollectStep& step, bool with_chain = false) {
    const std::size_t dims = step.train.rows.cols;
    const bool squares = sums_squares(step.metric);
    b = spi::float_above(step.b) * (with_chain && !squares ? 2.0f : 1.0f);
    chain = with_chain || squares ? 0.0f : spi::float_above(spi::chain_error(dims));
    under = static_cast<float>(spi::product_underflow(dims, squares));  // exactly
    gap_share = step.gap_share;
  }
};

}  // namespace kith::opencl
