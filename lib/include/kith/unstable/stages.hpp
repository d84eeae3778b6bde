// Runs each stage of a search by itself, with input and output in host memory: for tests, for teaching, and
// for programs with their own distances. Values are raw (metrics.def); every stage refuses NaN, and the first
// also infinity, as Index does. Only one NaN is allowed, with the bits 0x7FFFFFFF, which marks a masked pair.
// mask() makes it, and select() and collect() do not count such a pair.
//
// Unstable: this may change in any release, and kith.hpp does not have it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/selector.hpp"
#include "kith/unstable/plan.hpp"

namespace kith::stages {

/// Holds sorted lists of keys: `lists` for each query, of length k, padded with no_key.
struct KeyLists {
  std::int64_t rows = 0;
  std::int64_t lists = 1;
  std::int64_t k = 0;
  std::vector<Key> keys;  ///< [rows, lists, k]

  bool operator==(const KeyLists&) const = default;
};

/// Holds training rows that may be near, one list per query.
struct Candidates {
  std::int64_t rows = 0;
  std::int64_t capacity = 0;           ///< length of a list
  std::vector<std::uint32_t> counts;   ///< [rows]  length of each list; above capacity if it overflowed
  std::vector<std::uint32_t> indices;  ///< [rows, capacity]  ascending, padded with no_row

  bool operator==(const Candidates&) const = default;
};

/// Holds the result of tighten().
struct Tightened {
  KeyLists best;                    ///< [rows, 1, k]
  std::vector<float> threshold;     ///< [rows]
  std::vector<std::uint32_t> lost;  ///< [rows]  1: the list of candidates overflowed, else 0

  bool operator==(const Tightened&) const = default;
};

/// Holds the result of a vote.
struct Votes {
  std::vector<std::uint32_t> winner;  ///< [rows], a class; no_row without a vote
  std::vector<std::uint32_t> counts;  ///< [rows, classes]

  bool operator==(const Votes&) const = default;
};

/// Holds the result of accumulate(), for each query and class.
struct Accumulated {
  std::vector<float> smallest;   ///< [rows, classes]  +infinity for a class without a row
  std::vector<float> high, low;  ///< [rows, classes]  their sum, added in double, is that of the distances

  bool operator==(const Accumulated&) const = default;
};

/// Computes one chain for each (query, row) pair.
///   queries  [m, dims]
///   train    [n, dims]
///   returns  [m, n]     raw values
KITH_API std::vector<float> distance(const Device& device, const RowsView& queries, const RowsView& train,
                                     Metric metric);

/// Selects the k smallest of each of `lists` contiguous parts of each row. A part has ceil(n / lists)
/// columns; a list of a part with fewer than k is padded with no_key.
///   distances  [m, n]          no NaN except masked pairs
///   returns    [m, lists, k]   keys, ascending in each list; the row of a key is its column. If fewer than k
///              pairs of a part count, the rest of its list is no_key or keys of masked pairs, whose upper
///              half is no_value: which of these depends on the selector
/// Throws unsupported: the device lacks the selector, or lacks it for this k (says why).
KITH_API KeyLists select(const Device& device, MatrixView<const float> distances, std::int64_t k,
                         Selector selector = Selector::automatic, std::int64_t lists = 1);

/// Does distance and select in one step, without writing distances.
///   returns  [m, lists, k]
KITH_API KeyLists nearest(const Device& device, const RowsView& queries, const RowsView& train, Metric metric,
                          std::int64_t k, std::int64_t lists = 1);

/// Merges the lists of each row: its k smallest keys.
///   lists    [m, lists, k]  each ascending
///   returns  [m, 1, k]
KITH_API KeyLists merge(const Device& device, const KeyLists& lists);

/// Collects the rows whose value is at most the threshold. If the threshold is the raw value of a radius,
/// these are all rows within it.
///   distances  [m, n]  no NaN except masked pairs, which are never kept
///   threshold  [m]     no NaN; +infinity keeps every row, and -0 is +0
///   capacity   length of a list, 1 <= capacity <= n. If more rows pass, an arbitrary choice of them is
///              listed; their count is exact
KITH_API Candidates collect(const Device& device, MatrixView<const float> distances,
                            std::span<const float> threshold, std::int64_t capacity);

/// Computes the chain of every candidate, as a key.
///   candidates  [m, capacity]  rows of train, in any order
///   returns     [m, capacity]  place j: the key of candidate j; no_key after the last
KITH_API std::vector<Key> rerank(const Device& device, const RowsView& queries, const RowsView& train,
                                 Metric metric, const Candidates& candidates);

/// Merges candidates into the k best so far.
///   candidates  [m, capacity]  only their counts matter
///   keys        [m, capacity]  as rerank() returns them
///   best        [m, 1, k]      ascending, padded with no_key
///   returns     [m, 1, k]      the k smallest of both; the threshold is the value of the k-th, or +infinity
///               if there are fewer than k
KITH_API Tightened tighten(const Device& device, const Candidates& candidates, std::span<const Key> keys,
                           const KeyLists& best);

/// Counts one vote for each neighbour; the largest count wins, and the smallest class among equal counts.
///   nearest  [m, 1, k]
///   labels   [n]        classes 0 .. classes-1
KITH_API Votes vote(const Device& device, const KeyLists& nearest, std::span<const std::uint32_t> labels,
                    std::uint32_t classes);

/// Masks the pairs that do not count.
///   distances  [m, n]  no NaN but masked pairs
///   filter     [1 or m, ceil(n / 32)]  bit t % 32 of word t / 32 is 1 if row t counts: one row of words for
///              all queries, or one for each. RowFilter::view() has this form
///   returns    [m, n]  distances, those that do not count masked
KITH_API std::vector<float> mask(const Device& device, MatrixView<const float> distances,
                                 MatrixView<const std::uint32_t> filter);

/// Counts weighted votes: adds the weights of the neighbours of each class in order of rank, beginning with
/// 0, and rounds each sum once. A place without a neighbour (no_key) has no vote, whatever its weight.
///   nearest  [m, 1, k]
///   weights  [m, k]      finite, >= 0
///   labels   [n]         classes 0 .. classes-1
///   returns  [m, classes]
KITH_API std::vector<float> score(const Device& device, const KeyLists& nearest,
                                  MatrixView<const float> weights, std::span<const std::uint32_t> labels,
                                  std::uint32_t classes);

/// Returns the smallest distance of each query to each class, and the sum of all distances, added in
/// ascending order of columns, as a pair of floats (docs/contract.md, section 11).
///   distances  [m, n]  >= 0; +infinity is allowed, masked pairs are not
///   labels     [n]     classes of the columns, 0 .. classes-1
///   returns    [m, classes]
KITH_API Accumulated accumulate(const Device& device, MatrixView<const float> distances,
                                std::span<const std::uint32_t> labels, std::uint32_t classes);

}  // namespace kith::stages
