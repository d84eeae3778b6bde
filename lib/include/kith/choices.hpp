// The choices of a call. Written by tools/options from choices.def; do not edit.
#pragma once

#include "kith/cxx20.hpp"

namespace kith {

/// A selection strategy. docs/methods.md says what each is, who published it and what it costs.
enum class Selector {
  /// The plan chooses.
  automatic,
  /// Running k-th key as a filter, survivors buffered, buffer sorted when full.
  threshold,
  /// Radix select by digits of the key, then a sort of k; any k up to n.
  radix,
  /// K bubbles a list (PBKNN: He, Pu, Li, Yan 2016).
  bubble,
  /// One sorted list a query (Garcia, Debreuve, Barlaud 2008).
  insertion,
  /// Blocks of 256 sorted whole, k of each kept (CUKNN: Liang, Liu, Wang, Jian 2009).
  local_sort,
  /// A tournament for the smallest, k times (GS_KNN: Liu, Zheng, Liu 2019).
  k_min,
  /// Padded to a power of two and sorted whole (GS_KNN; Batcher 1968).
  bitonic,
  /// Odd-even transposition sort, the slow parallel bubble (Habermann 1972).
  odd_even,
  /// Count the smaller ones: that is the place (enumeration sort).
  rank_sort,
  /// Merge sort of (value, row) pairs.
  merge_sort,
  /// Take the smallest, k times.
  selection_sort,
  /// Quicksort of (value, row) pairs.
  quick_sort,
};

/// A way to find candidates that the exact chain then ranks.
enum class Proposer {
  /// The plan chooses.
  automatic,
  /// The exact chain alone.
  none,
  /// Inner products by a matrix library, in single precision.
  gemm,
  /// Inner products by kernels of kith, in single precision.
  dot,
  /// Products of 16-bit floats with 8 binary places, on the matrix units of a CPU.
  bf16,
  /// Products of 16-bit floats with 11 binary places, on tensor cores.
  fp16,
  /// Products of signed bytes, on tensor cores or on a CPU (AVX-512 VNNI, AVX2).
  int8,
};

/// What each device of a set holds. It changes no answer. A single device holds all rows.
enum class Placement {
  /// Replicate where the rows are few (docs/howto/device-sets.md), else split.
  automatic,
  /// Each device holds a part of the rows; all search for each query.
  split,
  /// Each device holds all rows; they share the queries.
  replicate,
};

/// Where the rows of a source are kept.
enum class Residence {
  /// On the device if the rows fit, else in their source.
  automatic,
  /// On the device.
  resident,
  /// In their source: each search passes them through the device in chunks.
  stream,
  /// In their source: the device holds quantized rows, and proposes by them.
  quantized,
};

/// What the vote of a neighbour weighs.
enum class Weights {
  /// 1.
  uniform,
  /// 1 / distance; where distances are 0, those neighbours weigh 1 and all others 0.
  distance,
  /// The number that `rank_weights` has for its rank.
  rank,
};

/// Who wins of several classes that lead with the same score.
enum class TieRule {
  /// The smallest label.
  smallest_label,
  /// The class of the nearest neighbour among them.
  nearest,
  /// The class whose neighbours have the smallest sum of distances.
  smallest_distance,
  /// Ask one neighbour fewer, until one class leads.
  fewer_neighbors,
  /// No class: the answer is `no_label`.
  abstain,
};

/// A step that changes numeric columns, or rows.
enum class Scaling {
  /// X - mean: what float32 cannot tell apart far from 0 it can near it; categories stay.
  centre,
  /// (x - mean) / standard deviation (of the population); by 1 where that is 0.
  standardize,
  /// (x - least) / (largest - least); a column of equal values becomes 0.
  min_max,
  /// Each row divided by its norm; a row of zeros stays.
  l2_rows,
};

/// How a column of categories (codes 0, 1, ...) becomes numbers.
enum class Categories {
  /// Its code.
  ordinal,
  /// One column for each category of the training rows, ascending: 1 where it is that.
  one_hot,
};

/// What becomes of a missing value, which is a NaN.
enum class Missing {
  /// It is refused.
  refuse,
  /// It is refused here too: the caller leaves such rows out, as complete_rows() names them.
  drop,
  /// The mean of its column; in a column of categories as most_frequent.
  mean,
  /// The middle of its column, of two the mean; of categories as most_frequent.
  median,
  /// The value that its column holds most often, of several the smallest.
  most_frequent,
};

/// What makes a set of features good.
enum class Criterion {
  /// Q of the class matrix (structure.hpp).
  informativeness,
  /// Share of the rows that their k nearest others classify right.
  leave_one_out,
};

/// How sets of features are tried (Whitney 1971; Marill, Green 1963; Pudil, Novovicova, Kittler 1994).
enum class SelectionMethod {
  /// Begin with none, add the best one, again and again.
  forward,
  /// Begin with all, drop the one that is missed least.
  backward,
  /// Forward, and after each addition drop while that beats the best of that size.
  floating,
};

}  // namespace kith
