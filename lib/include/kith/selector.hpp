// How candidates are selected, and how they are proposed. All ways return the same bits.
#pragma once

#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

/// A selection strategy. docs/methods.md says what each is, who published it and what it costs.
enum class Selector {
  automatic,       ///< the plan chooses
  threshold,       ///< running k-th key as a filter, survivors buffered, buffer sorted when full
  radix,           ///< radix select by digits of the key, then a sort of k; any k up to n
  bubble,          ///< K bubbles a group (PBKNN: He, Pu, Li, Yan 2016)
  insertion,       ///< one sorted list a query and group (Garcia, Debreuve, Barlaud 2008)
  local_sort,      ///< blocks of 256 sorted whole, k of each kept (CUKNN: Liang, Liu, Wang, Jian 2009)
  k_min,           ///< a tournament for the smallest, k times (GS_KNN: Liu, Zheng, Liu 2019)
  bitonic,         ///< padded to a power of two and sorted whole (GS_KNN; Batcher 1968)
  odd_even,        ///< odd-even transposition sort, the slow parallel bubble (Habermann 1972)
  rank_sort,       ///< count the smaller ones: that is the place (enumeration sort)
  merge_sort,      ///< merge sort of (value, row) pairs
  selection_sort,  ///< take the smallest, k times
  quick_sort,      ///< quicksort of (value, row) pairs
};

/// A way to find candidates that the exact chain then ranks. `none` is the chain itself.
enum class Proposer {
  automatic,
  none,
  gemm,  ///< inner products by a matrix library, in single precision
  dot,   ///< the same by kernels of ours, tested as they come
  bf16,  ///< products of 16-bit floats with 8 binary places, on the matrix units of a CPU
  fp16,  ///< products of 16-bit floats with 11 binary places, on tensor cores
  int8,  ///< products of signed bytes, on tensor cores for few queries, or on a CPU (AVX-512 VNNI, AVX2)
};

KITH_API std::string_view name(Selector selector);
KITH_API std::string_view name(Proposer proposer);

/// Every selector but `automatic`.
KITH_API const std::vector<Selector>& all_selectors();

/// Throws invalid_argument: there is none called `text`; the message lists those there are.
KITH_API Selector parse_selector(std::string_view text);
KITH_API Proposer parse_proposer(std::string_view text);

}  // namespace kith
