// Declares the step that searches many groups of rows at once: docs/howto/many-small-searches.md.
#pragma once

#include <cstdint>

#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/spi/memory.hpp"

namespace kith::spi {

/// Finds the k nearest rows of each query among those of its group. Queries and rows have numbers in 32 bits.
/// Group g has the queries and the rows whose numbers are border g ... border g + 1 - 1 of the two lists of
/// borders, which ascend; a group may be empty. Every query of the step is in a group, and all rows of that
/// group are in `train`.
struct GroupsStep {
  static constexpr const char* name = "groups";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  std::uint32_t first_query;          ///< number of queries.first
  std::uint32_t first_row;            ///< number of train.first
  Grid<std::uint32_t> query_borders;  ///< [1, groups + 1], read only
  Grid<std::uint32_t> row_borders;    ///< [1, groups + 1], read only
  std::uint32_t k;
  bool from_group;   ///< keys have numbers counted from the first row of the group
  std::int64_t own;  ///< leave-one-out: query number i is row number own + i, which does not count; -1: none
  Grid<Key> out;     ///< [q, k]  ascending, padded with no_key
  Scratch scratch;   ///< a GPU with less than check() says computes all chains
};

/// Rows of a group, on average, between which GPUs read those of three columns twice. Measured on an H200: of
/// 100 rows one pass takes 0.9 of the time, of 256 two passes do; of 16384 one pass takes 0.9.
inline constexpr std::uint32_t fewest_rows_twice = 192, most_rows_twice = 8192;

/// Returns whether GPUs search groups of so many rows, on average, by products of 16-bit floats
/// (docs/certificate.md, section 8). Measured on an H200: with k = 20 of 192 rows products take 1.05 of the
/// time of chains in 16 columns, and 0.84 in 64.
constexpr bool products_pay(std::uint32_t rows_a_group, std::uint32_t dims, std::uint32_t k) {
  return dims >= 4 && rows_a_group >= 192 && std::uint64_t{rows_a_group} * (dims + (k > 16 ? 32 : 0)) >= 8192;
}

}  // namespace kith::spi
