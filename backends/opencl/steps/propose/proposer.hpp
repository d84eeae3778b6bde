// What the steps of a proposer share: docs/certificate.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"
#include "kith/spi/refusals.hpp"
#include "propose/shapes.hpp"

namespace kith::opencl {

/// Returns why a device with `proposers` has no bound for the products of rows of `dims` columns; empty if it
/// has one. The bound holds as long as the number of columns is small compared with 1 / u.
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

/// Returns the argument `visits` of visits.cl. Rows that are read in order are one visit to the only block.
inline cl_uint4 visits_of(const spi::CollectStep& step) {
  const spi::Visits& visits = step.visits;
  if (visits.rows == 0) return {{divide_up(step.values.cols, spi::quantized_block_rows), 0, 1, 1}};
  return {{visits.rows / spi::quantized_block_rows, visits.first, visits.blocks, visits.stride}};
}

/// Products of visits.cl, an argument by value. Firsts are in pieces of 16 bytes, for collect_small_batch.cl
/// in bytes. For collect_tiles.cl steps have 64 bytes, and a_block is the number of pieces of 128 rows. For
/// collect_small_batch.cl tiles are chunks, steps are slabs, a_block are slabs of a query, and query_blocks
/// and a_part are what is between two chunks of a warp.
/// fused_test_rows.cl gets K unscale.
struct Products {
  cl_ulong queries_first, train_first;
  cl_uint q_rows, t_rows;
  cl_uint tiles, query_blocks, a_part;
  cl_uint steps, a_block;
  cl_uint first_row;
  cl_float unscale;
};

/// TermPlaces of visits.cl.
struct TermPlaces {
  Place queries, train;
};

/// The terms of bounds that depend on the number of columns, and the share of gaps: docs/certificate.md,
/// sections 1 to 4.
///   with_chain  b also counts the error of an inner product's chain, which is as large as that of the
///               product, because quantized rows are equal to the rows
struct ErrorNumbers {
  float b, chain, under, gap_share;

  explicit ErrorNumbers(const spi::CollectStep& step, bool with_chain = false) {
    const std::size_t dims = step.train.rows.cols;
    const bool squares = sums_squares(step.metric);
    b = spi::float_above(step.b) * (with_chain && !squares ? 2.0f : 1.0f);
    chain = with_chain || squares ? 0.0f : spi::float_above(spi::chain_error(dims));
    under = static_cast<float>(spi::product_underflow(dims, squares));  // the conversion is exact
    gap_share = step.gap_share;
  }
};

}  // namespace kith::opencl
