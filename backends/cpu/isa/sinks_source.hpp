// Takes the tiles of values of a sweep, in sinks. kernels_source.hpp includes this after the lanes of an
// instruction set. The same restrictions hold as there.
#pragma once

#include "cpu/isa/kernels.hpp"
#include "cpu/steps/chain.hpp"
#include "cpu/steps/propose/propose.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Some queries of a block, which scan the training blocks of a slab.
struct Pass {
  const Operands& operands;
  const float* query;        ///< element (first query, dimension 0)
  std::size_t first_query;   ///< counted in rows of the memory
  std::size_t active_begin;  ///< the queries of the tile that count begin at first_query + active_begin ...
  std::size_t active_end;    ///< ... and end before first_query + active_end
  std::size_t block, end_block;
  // It prefetches part `share` of `shares` of the next slab, which is `ahead_blocks` blocks further.
  std::size_t ahead_blocks, share, shares;
};

/// Returns a mask of the lanes of a training block that are rows of the task.
inline std::uint32_t present(const Operands& o, std::size_t block) {
  const std::size_t first = block * train_block;
  std::uint32_t lanes = 0xFFFFu;
  if (first < o.train_begin) lanes &= 0xFFFFu << (o.train_begin - first);
  if (first + train_block > o.train_end) lanes &= 0xFFFFu >> (first + train_block - o.train_end);
  return lanes;
}

/// Appends the lanes in `passed`, which is not empty.
[[gnu::noinline]] void append(Shortlists& lists, std::size_t list, const float (&values)[train_block],
                              std::uint32_t passed, std::uint32_t first_row) {
  if (lists.counts[list] + train_block > lists.capacity) cut(lists, list);
  std::uint64_t* const entries = lists.entries + list * lists.capacity;
  std::size_t count = lists.counts[list];
  for (; passed; passed &= passed - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(passed));
    std::uint32_t value;
    __builtin_memcpy(&value, &values[lane], sizeof value);
    entries[count++] = static_cast<std::uint64_t>(value) << 32 | static_cast<std::uint32_t>(first_row + lane);
  }
  lists.counts[list] = count;
}

/// Stores a tile, for functions that are not inlined: it stays in registers only if nobody takes its address.
template <int queries, int blocks>
[[gnu::always_inline]] inline void store_tile(float (&values)[queries][blocks][train_block],
                                              const Lanes (&acc)[queries][blocks]) {
#pragma GCC unroll 8
  for (int q = 0; q < queries; ++q)
#pragma GCC unroll 4
    for (int b = 0; b < blocks; ++b) store(values[q][b], acc[q][b]);
}

/// Returns one bit for each query of a tile: whether any of its values passed.
template <int queries>
[[gnu::always_inline]] inline std::uint32_t queries_of(const Mask (&passed_by)[queries]) {
  std::uint32_t some = 0;
#pragma GCC unroll 8
  for (int q = 0; q < queries; ++q) some |= static_cast<std::uint32_t>(any(passed_by[q])) << q;
  return some;
}

/// A sink that appends tiles of values to the short lists of their queries.
struct ToLists {
  static constexpr bool bound_by_memory = false, of_products = false;
  static constexpr Terms terms = Terms::differences;
  Shortlists& lists;
  std::uint32_t row_offset;

  template <int queries, int blocks>
  [[gnu::always_inline]] void take(const Pass& pass, std::size_t block, Lanes (&acc)[queries][blocks]) {
    const auto first_list = static_cast<std::ptrdiff_t>(pass.first_query - pass.operands.query_begin);
    const float* const thresholds = lists.thresholds + first_list;
    Mask passed_by[queries], some = {};
#pragma GCC unroll 8
    for (int q = 0; q < queries; ++q) {
      passed_by[q] = passes(nearest_of(acc[q]), thresholds[q]);
      some = either(some, passed_by[q]);
    }
    if (__builtin_expect(!any(some), 1)) return;
    alignas(64) float values[queries][blocks][train_block];
    store_tile(values, acc);
    append_tile(pass, block, values, thresholds, queries_of(passed_by));
  }

  /// Few tiles have rows for the lists. What is done with them is compiled once for all metrics.
  template <int queries, int blocks>
  [[gnu::noinline]] void append_tile(const Pass& pass, std::size_t block,
                                     const float (&values)[queries][blocks][train_block],
                                     const float* thresholds, std::uint32_t passed_by) {
    for (; passed_by; passed_by &= passed_by - 1) {
      const int q = __builtin_ctz(passed_by);
      const auto lane = static_cast<std::size_t>(q);
      if (lane < pass.active_begin || lane >= pass.active_end) continue;
      for (int b = 0; b < blocks; ++b) {
        const std::size_t at = block + static_cast<std::size_t>(b);
        const std::uint32_t passed =
            bits(passes(load(values[q][b]), thresholds[q])) & present(pass.operands, at);
        if (passed)
          append(lists, pass.first_query + lane - pass.operands.query_begin, values[q][b], passed,
                 static_cast<std::uint32_t>(at * train_block) + row_offset);
      }
    }
  }

  template <int blocks>
  [[gnu::always_inline]] static Lanes nearest_of(const Lanes (&acc)[blocks]) {
    Lanes nearest = acc[0];
#pragma GCC unroll 4
    for (int b = 1; b < blocks; ++b) nearest = fmin(nearest, acc[b]);
    return nearest;
  }
};

/// Copies those of 16 values that are in `lanes` to `to` + at, ... Few blocks need it.
[[gnu::noinline]] void copy_some(float* to, std::size_t at, const float (&values)[train_block],
                                 std::uint32_t lanes) {
  for (std::uint32_t t = 0; t < train_block; ++t)
    if (lanes >> t & 1u) to[at + t] = values[t];
}

/// A sink that writes tiles of values to a row-major matrix.
struct ToMatrix {
  static constexpr bool bound_by_memory = true;  // memory limits it if dims is small
  static constexpr bool of_products = false;
  static constexpr Terms terms = Terms::differences;
  float* out;  ///< element (query_begin, train_begin)
  std::size_t stride;

  template <int queries, int blocks>
  [[gnu::always_inline]] void take(const Pass& pass, std::size_t block, Lanes (&acc)[queries][blocks]) {
    const Operands& o = pass.operands;
#pragma GCC unroll 8
    for (int q = 0; q < queries; ++q) {
      const auto lane = static_cast<std::size_t>(q);
      if (lane < pass.active_begin || lane >= pass.active_end) continue;
      float* const row = out + (pass.first_query + lane - o.query_begin) * stride;
#pragma GCC unroll 4
      for (int b = 0; b < blocks; ++b) {
        const std::size_t at = block + static_cast<std::size_t>(b), first = at * train_block;
        const std::uint32_t lanes = present(o, at);
        if (lanes == 0xFFFFu) {
          store(row + (first - o.train_begin), acc[q][b]);
          continue;
        }
        alignas(64) float values[train_block];
        store(values, acc[q][b]);
        copy_some(row, first - o.train_begin, values, lanes);
      }
    }
  }
};

/// Does the same with terms in place of differences.
template <Terms kind>
struct ToMatrixOfTerms : ToMatrix {
  static constexpr Terms terms = kind;
};

/// A sink that tests tiles of negative inner products, and appends to the lists of candidates.
struct ToCandidates {
  static constexpr bool bound_by_memory = false, of_products = true;
  static constexpr Terms terms = Terms::differences;
  const Products& products;

  template <int queries, int blocks>
  [[gnu::always_inline]] void take(const Pass& pass, std::size_t block, Lanes (&acc)[queries][blocks]) {
    float thresholds[queries];  // NaN for queries that do not count: nothing passes
    Mask passed_by[queries], some = {};
#pragma GCC unroll 8
    for (int q = 0; q < queries; ++q) {
      const auto lane = static_cast<std::size_t>(q);
      const bool meant = lane >= pass.active_begin && lane < pass.active_end;
      thresholds[q] = meant ? products.threshold[(pass.first_query + lane) * products.threshold_stride]
                            : __builtin_nanf("");
    }
#pragma GCC unroll 4
    for (int b = 0; b < blocks; ++b) {
      const Lanes low = load(products.low + (block + static_cast<std::size_t>(b)) * train_block);
#pragma GCC unroll 8
      for (int q = 0; q < queries; ++q) acc[q][b] = acc[q][b] + low;
    }
#pragma GCC unroll 8
    for (int q = 0; q < queries; ++q) {
      passed_by[q] = at_most(acc[q][0], thresholds[q]);  // the smallest value may be NaN if any is NaN
#pragma GCC unroll 4
      for (int b = 1; b < blocks; ++b) passed_by[q] = either(passed_by[q], at_most(acc[q][b], thresholds[q]));
      some = either(some, passed_by[q]);
    }
    if (__builtin_expect(!any(some), 1)) return;
    alignas(64) float lows[queries][blocks][train_block];
    store_tile(lows, acc);
    float most[queries];  // `thresholds` stay in registers only if nobody takes their address
#pragma GCC unroll 8
    for (int q = 0; q < queries; ++q) most[q] = thresholds[q];
    append_tile(pass, block, lows, most, queries_of(passed_by));
  }

  template <int queries, int blocks>
  [[gnu::noinline]] void append_tile(const Pass& pass, std::size_t block,
                                     const float (&lows)[queries][blocks][train_block],
                                     const float (&most)[queries], std::uint32_t passed_by) {
    for (; passed_by; passed_by &= passed_by - 1)
      for (int q = __builtin_ctz(passed_by), b = 0; b < blocks; ++b) {
        const std::size_t at = block + static_cast<std::size_t>(b);
        const std::uint32_t passed = bits(at_most(load(lows[q][b]), most[q])) & present(pass.operands, at);
        if (passed)
          append_candidates(products, pass.first_query + static_cast<std::size_t>(q), at * train_block,
                            passed, lows[q][b]);
      }
  }
};

}  // namespace
}  // namespace kith::cpu::KITH_ISA
