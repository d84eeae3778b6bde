// Lists the choices of a call. Written by tools/options from choices.def; do not edit.
#pragma once

#include "kith/cxx20.hpp"

namespace kith {

/// Names the method that selects the nearest. docs/methods.md says what each does, who published it and what
/// it costs.
enum class Selector {
  /// The plan chooses.
  automatic,
  /// Filters by the k-th key so far, and sorts the buffer of what passes when it is full.
  threshold,
  /// Selects by digits of the key (radix select), then sorts k keys; any k up to n.
  radix,
  /// Makes k bubble passes over each list (PBKNN: He, Pu, Li, Yan 2016).
  bubble,
  /// Keeps one sorted list per query (Garcia, Debreuve, Barlaud 2008).
  insertion,
  /// Sorts blocks of 256, and keeps k of each (CUKNN: Liang, Liu, Wang, Jian 2009).
  local_sort,
  /// Finds the smallest by a tournament, k times (GS_KNN: Liu, Zheng, Liu 2019).
  k_min,
  /// Pads to a power of two, and sorts all (GS_KNN; Batcher 1968).
  bitonic,
  /// Sorts by odd-even transposition, a parallel bubble sort (Habermann 1972).
  odd_even,
  /// Counts the keys below each: that is its place (enumeration sort).
  rank_sort,
  /// Sorts (value, row) pairs by merge sort.
  merge_sort,
  /// Takes the smallest, k times.
  selection_sort,
  /// Sorts (value, row) pairs by quicksort.
  quick_sort,
};

/// Names the method that finds candidates, which the exact chain then ranks.
enum class Proposer {
  /// The plan chooses.
  automatic,
  /// Uses the exact chain alone.
  none,
  /// Computes inner products by a matrix library, in single precision.
  gemm,
  /// Computes inner products by kernels of kith, in single precision.
  dot,
  /// Multiplies 16-bit floats with 8 binary places, on the matrix units of a CPU.
  bf16,
  /// Multiplies 16-bit floats with 11 binary places, on tensor cores.
  fp16,
  /// Multiplies signed bytes, on tensor cores or on a CPU (AMX, AVX-512 VNNI, AVX2, NEON).
  int8,
  /// Multiplies rows of 4-bit numbers with queries of bytes, on tensor cores, up to 64 queries at a time.
  int4,
};

/// Says how an index computes, and how wide its distances are. All answers of an index have the same
/// arithmetic.
enum class Arithmetic {
  /// F64 for rows of f64 without a centre, else f32.
  automatic,
  /// Single precision: rows of f64 need a centre, and are rounded once.
  f32,
  /// Double precision: every element goes in as it is, and distances are doubles.
  f64,
};

/// Says which rows each device of a set holds. It changes no answer. A single device holds all rows.
enum class Placement {
  /// Replicates if there are few rows (docs/howto/device-sets.md), else splits.
  automatic,
  /// Each device holds a part of the rows; all search for each query.
  split,
  /// Each device holds all rows; they share the queries.
  replicate,
};

/// Says where the rows of a source are kept.
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

/// Says how much the vote of a neighbour weighs.
enum class Weights {
  /// 1.
  uniform,
  /// 1 / distance; if distances are 0, those neighbours weigh 1 and all others 0.
  distance,
  /// The number that `rank_weights` has for its rank.
  rank,
};

/// Says which class wins if several lead with the same score.
enum class TieRule {
  /// The smallest label.
  smallest_label,
  /// The class of the nearest neighbour among them.
  nearest,
  /// The class whose neighbours have the smallest sum of distances.
  smallest_distance,
  /// Asks one neighbour fewer, until one class leads.
  fewer_neighbors,
  /// No class: the answer is `no_label`.
  abstain,
};

/// Names a step that changes numeric columns, or rows.
enum class Scaling {
  /// Subtracts the mean, since float32 is finer near 0; columns of categories stay.
  centre,
  /// (x - mean) / standard deviation (of the population); divides by 1 if that is 0.
  standardize,
  /// (x - least) / (largest - least); a column of equal values becomes 0.
  min_max,
  /// Divides each row by its norm; a row of zeros stays.
  l2_rows,
};

/// Says how a column of categories (codes 0, 1, ...) becomes numbers.
enum class Categories {
  /// The code itself.
  ordinal,
  /// One column for each category of the training rows, ascending: 1 for that one, else 0.
  one_hot,
};

/// Says what happens to a missing value, which is a NaN.
enum class Missing {
  /// It is refused.
  refuse,
  /// It is refused here too: the caller keeps only the complete_rows().
  drop,
  /// The mean of its column; in a column of categories as most_frequent.
  mean,
  /// The median of its column; in a column of categories as most_frequent.
  median,
  /// The most frequent value of its column; the smallest if there are several.
  most_frequent,
  /// It stays, for a metric that takes gaps: nan_euclidean, nan_manhattan, nan_gower.
  pairwise,
};

/// Says how good a set of features is.
enum class Criterion {
  /// Q of the class matrix (structure.hpp).
  informativeness,
  /// The share of the rows that their k nearest others classify right.
  leave_one_out,
};

/// Says how sets of features are tried (Whitney 1971; Marill, Green 1963; Pudil, Novovicova, Kittler 1994).
enum class SelectionMethod {
  /// Begins with none, and adds the best one, again and again.
  forward,
  /// Begins with all, and drops the one that is missed least, again and again.
  backward,
  /// As forward, but after each addition drops while that beats the best set of that size.
  floating,
};

}  // namespace kith
