// Inner products of signed bytes. A file kernels_bytes_X.cpp defines KITH_ISA, includes lanes for it, and
// then this file.
//
// Quantized rows are stored in groups of four dimensions, 32 bits per row: 16 training rows, or 4 queries,
// side by side (quantized_order.hpp). x86-64 multiplies unsigned bytes by signed ones. So 128
// (added_to_rows) is added to training rows when they are loaded there, and sums start at minus what this
// adds. Training rows are read in slabs, which stay in the second-level cache while all queries of the task
// scan them. Sums are exact, and are tested when they leave the registers: docs/certificate.md, sections 3
// and 4.
//
// Functions of the standard library and inline functions of other headers may not be used here: see
// kernels.hpp.
#pragma once

#include "cpu/steps/propose/propose.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

constexpr std::size_t block_rows = byte_train_block, block_queries = byte_query_block, four = byte_dims;
constexpr std::size_t row_bytes = block_rows * four,
                      query_bytes = block_queries * four;  // bytes of four dimensions
constexpr std::size_t slab_bytes = std::size_t{1} << 18;   // a quarter of a second-level cache of 1 MiB
constexpr std::size_t queries_at_once = 128;

/// Values that stay the same while queries scan a slab.
struct Slab {
  const Products& p;
  std::size_t fours;             ///< number of groups of four dimensions
  std::size_t first_query;       ///< the first of queries_at_once queries, a multiple of block_queries
  const std::int32_t* too_much;  ///< [queries_at_once]  what added_to_rows adds to products
  std::size_t begin, end;        ///< blocks of training rows
};

inline const std::int8_t* queries_of(const Products& p, std::size_t q) {
  return static_cast<const std::int8_t*>(p.queries) + q * p.pitch;
}
inline const std::int8_t* rows_of(const Products& p, std::size_t block) {
  return static_cast<const std::int8_t*>(p.train) + block * block_rows * p.pitch;
}

/// Multiplies `queries` queries from `q` on with `blocks` blocks of training rows.
template <std::size_t queries, std::size_t blocks>
[[gnu::always_inline]] inline void run_tile(const Slab& slab, std::size_t q, std::size_t block) {
  const Products& p = slab.p;
  const std::int8_t *const query = queries_of(p, q), *const row = rows_of(p, block);
  const std::size_t next_group = block_queries * p.pitch, next_block = block_rows * p.pitch;
  Sums sums[queries][blocks];
#pragma GCC unroll 12
  for (std::size_t i = 0; i < queries; ++i)
#pragma GCC unroll 4
    for (std::size_t b = 0; b < blocks; ++b) sums[i][b] = all_sums(-slab.too_much[q - slab.first_query + i]);
  for (std::size_t s = 0; s < slab.fours; ++s) {
    Bytes rows[blocks];
#pragma GCC unroll 4
    for (std::size_t b = 0; b < blocks; ++b)
      rows[b] = without_sign(load_bytes(row + b * next_block + s * row_bytes));
#pragma GCC unroll 12
    for (std::size_t i = 0; i < queries; ++i) {
      const Bytes value =
          repeat_four(query + i / block_queries * next_group + s * query_bytes + i % block_queries * four);
#pragma GCC unroll 4
      for (std::size_t b = 0; b < blocks; ++b) add_products(sums[i][b], rows[b], value);
    }
  }
#pragma GCC unroll 12
  for (std::size_t i = 0; i < queries; ++i)
#pragma GCC unroll 4
    for (std::size_t b = 0; b < blocks; ++b) test(p, q + i, (block + b) * block_rows, sums[i][b]);
}

template <std::size_t queries, std::size_t blocks>
void run_queries(const Slab& slab, std::size_t q) {
  std::size_t block = slab.begin;
  for (; block + blocks <= slab.end; block += blocks) run_tile<queries, blocks>(slab, q, block);
  for (; block < slab.end; ++block) run_tile<queries, 1>(slab, q, block);
}

template <std::size_t groups>
void run_whole_groups(const Slab& slab, std::size_t q) {
  run_queries<groups * block_queries, blocks_beside(groups)>(slab, q);
}

/// Tests the rows of a slab with `groups` groups of 4 queries, from query `q` on: 1 to most_groups, whose
/// sums fill the registers. One or two queries do not pay for the places behind them.
inline void run_groups(const Slab& slab, std::size_t q, std::size_t groups) {
  if constexpr (most_groups > 2)
    if (groups == 3) return run_whole_groups<3>(slab, q);
  if constexpr (most_groups > 1)
    if (groups == 2) return run_whole_groups<2>(slab, q);
  if (q + 1 == slab.p.query_end) return run_queries<1, blocks_beside(1)>(slab, q);
  if (q + 2 == slab.p.query_end) return run_queries<2, blocks_beside(1)>(slab, q);
  run_whole_groups<1>(slab, q);
}

/// Computes how much products with 4 queries from `q` on grow if added_to_rows is added to every byte of
/// training rows.
inline void count_too_much(const Products& p, std::size_t q, std::int32_t* too_much) {
  const std::int8_t* const query = queries_of(p, q);
  Sums sums = all_sums(0);  // the sums of four groups of four dimensions, for four queries
  for (std::size_t at = 0; at < (p.dims + four - 1) / four * query_bytes; at += row_bytes)
    add_products(sums, repeat_byte(1), load_bytes(query + at));  // padding is 0
  alignas(64) std::int32_t parts[block_rows];
  store_sums(parts, sums);
  for (std::size_t i = 0; i < block_queries; ++i)
    too_much[i] = added_to_rows * (parts[i] + parts[4 + i] + parts[8 + i] + parts[12 + i]);
}

/// Multiplies the queries from `begin` on, at most queries_at_once, with all training rows of the task.
void run_some(const Products& p, std::size_t begin, std::size_t end) {
  const std::size_t fours = (p.dims + four - 1) / four;
  std::int32_t too_much[queries_at_once];
  for (std::size_t q = begin; q < end; q += block_queries) count_too_much(p, q, too_much + (q - begin));
  const std::size_t fitting = slab_bytes / (fours * row_bytes), blocks = fitting < 4 ? 4 : fitting;
  const std::size_t end_block = (p.train_end + block_rows - 1) / block_rows;
  for (std::size_t first = p.train_begin / block_rows; first < end_block; first += blocks) {
    const Slab slab{p,        fours, begin,
                    too_much, first, end_block - first < blocks ? end_block : first + blocks};
    for (std::size_t q = begin; q < end;) {
      const std::size_t left = (end - q) / block_queries;
      const std::size_t groups = left < most_groups ? left : most_groups;
      run_groups(slab, q, groups);
      q += groups * block_queries;
    }
  }
}

void propose_bytes(const Products& p) {
  const std::size_t end = (p.query_end + block_queries - 1) / block_queries * block_queries;
  for (std::size_t q = p.query_begin / block_queries * block_queries; q < end; q += queries_at_once)
    run_some(p, q, end - q < queries_at_once ? end : q + queries_at_once);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
