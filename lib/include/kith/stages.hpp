// Each stage of a search alone: host memory in, host memory out. For tests, for teaching, and for
// those who bring their own distances. Values here are raw (metrics.def); every stage
// refuses NaN, and the first also infinity, as Index does. One NaN is none: a masked pair, the bits
// 0x7FFFFFFF, which mask() makes, and select() and collect() take for what does not count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/plan.hpp"
#include "kith/rows_view.hpp"
#include "kith/selector.hpp"

namespace kith::stages {

/// Sorted lists of keys: `lists` of them a query, each of length k, padded with no_key.
struct KeyLists {
  std::int64_t rows = 0;
  std::int64_t lists = 1;
  std::int64_t k = 0;
  std::vector<Key> keys;  ///< [rows, lists, k]

  bool operator==(const KeyLists&) const = default;
};

/// Training rows that may be near, one list a query.
struct Candidates {
  std::int64_t rows = 0;
  std::int64_t capacity = 0;           ///< places of a list
  std::vector<std::uint32_t> counts;   ///< [rows]  of each list; above capacity: so many there would be
  std::vector<std::uint32_t> indices;  ///< [rows, capacity]  ascending, padded with no_row

  bool operator==(const Candidates&) const = default;
};

/// What tighten() returns.
struct Tightened {
  KeyLists best;                    ///< [rows, 1, k]
  std::vector<float> threshold;     ///< [rows]
  std::vector<std::uint32_t> lost;  ///< [rows]  1: the list of candidates was too short, else 0

  bool operator==(const Tightened&) const = default;
};

/// What a vote returns.
struct Votes {
  std::vector<std::uint32_t> winner;  ///< [rows], a class; no_row without a vote
  std::vector<std::uint32_t> counts;  ///< [rows, classes]

  bool operator==(const Votes&) const = default;
};

/// What accumulate() returns, for each query and class.
struct Accumulated {
  std::vector<float> smallest;   ///< [rows, classes]  +infinity for a class without a row
  std::vector<float> high, low;  ///< [rows, classes]  their sum, added in double, is that of the distances

  bool operator==(const Accumulated&) const = default;
};

/// One chain for each (query, row) pair.
///   queries  [m, dims]    train  [n, dims]
///   returns  [m, n]       raw values
KITH_API std::vector<float> distance(const Device& device, const RowsView& queries, const RowsView& train,
                                     Metric metric);

/// The k smallest of each of `groups` contiguous parts of each row. A part has ceil(n / groups)
/// columns; a part with fewer than k pads with no_key.
///   distances  [m, n]            no NaN but masked pairs
///   returns    [m, groups, k]    keys, ascending in each list; the row of a key is its column. Where fewer
///                                than k pairs of a part count, the rest of its list is no_key, or keys of
///                                masked pairs, whose upper half is no_value: which, is up to the selector
/// Throws unsupported: the device has no such selector, or not for this k (says why).
KITH_API KeyLists select(const Device& device, MatrixView<const float> distances, std::int64_t k,
                         Selector selector = Selector::automatic, std::int64_t groups = 1);

/// distance and select in one step, nothing written in between.
///   returns  [m, groups, k]
KITH_API KeyLists nearest(const Device& device, const RowsView& queries, const RowsView& train, Metric metric,
                          std::int64_t k, std::int64_t groups = 1);

/// The k smallest keys of all lists of a row.
///   lists    [m, lists, k]  each ascending
///   returns  [m, 1, k]
KITH_API KeyLists merge(const Device& device, const KeyLists& lists);

/// The rows whose value is at most the threshold: all within a radius, where the threshold is its raw value.
///   distances  [m, n]  no NaN but masked pairs, which are never kept
///   threshold  [m]     no NaN; +infinity keeps every row, and -0 is +0
///   capacity   places of a list, 1 <= capacity <= n. Of more rows than that, any are listed, not always
///              the same; their count is exact
KITH_API Candidates collect(const Device& device, MatrixView<const float> distances,
                            std::span<const float> threshold, std::int64_t capacity);

/// The chain of every candidate, as a key.
///   candidates  [m, capacity]  rows of train, in any order
///   returns     [m, capacity]  place j: the key of candidate j; no_key behind the last
KITH_API std::vector<Key> rerank(const Device& device, const RowsView& queries, const RowsView& train,
                                 Metric metric, const Candidates& candidates);

/// Join candidates into the k best so far.
///   candidates  [m, capacity]  only their counts matter
///   keys        [m, capacity]  as rerank() returns them
///   best        [m, 1, k]      ascending, padded with no_key
///   returns     [m, 1, k]      the k smallest of both; the threshold is the value of the k-th, +infinity
///                              before there are k
KITH_API Tightened tighten(const Device& device, const Candidates& candidates, std::span<const Key> keys,
                           const KeyLists& best);

/// One vote a neighbour; the largest count wins, of several as large the smallest class.
///   nearest  [m, 1, k]      labels  [n]  classes 0 .. classes-1
KITH_API Votes vote(const Device& device, const KeyLists& nearest, std::span<const std::uint32_t> labels,
                    std::uint32_t classes);

/// Strike out the pairs that do not count.
///   distances  [m, n]  no NaN but masked pairs
///   filter     [1 or m, ceil(n / 32)]  bit t % 32 of word t / 32 is 1 where row t counts: one row of bits
///                                      for all queries, or one each. RowFilter::view() is such
///   returns    [m, n]  distances, those that do not count masked
KITH_API std::vector<float> mask(const Device& device, MatrixView<const float> distances,
                                 MatrixView<const std::uint32_t> filter);

/// Weighted votes: the weights of the neighbours of each class, added in order of rank, beginning with 0,
/// each sum rounded once. A place without a neighbour (no_key) has no vote, whatever its weight.
///   nearest  [m, 1, k]    weights  [m, k]  finite, >= 0    labels  [n]  classes 0 .. classes-1
///   returns  [m, classes]
KITH_API std::vector<float> score(const Device& device, const KeyLists& nearest,
                                  MatrixView<const float> weights, std::span<const std::uint32_t> labels,
                                  std::uint32_t classes);

/// The smallest distance of each query to each class, and the sum of all, in columns' ascending order, as a
/// pair of floats (docs/contract.md, section 11).
///   distances  [m, n]  >= 0; +infinity may be, no pair is masked
///   labels     [n]     classes of the columns, 0 .. classes-1
///   returns    [m, classes]
KITH_API Accumulated accumulate(const Device& device, MatrixView<const float> distances,
                                std::span<const std::uint32_t> labels, std::uint32_t classes);

}  // namespace kith::stages
