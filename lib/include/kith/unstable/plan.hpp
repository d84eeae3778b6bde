// Holds all decisions about one search, as data: they can be printed, compared, and fixed by a test.
//
// Unstable: this may change in any release. kith.hpp has it all the same, since a Trace holds a Plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "kith/selector.hpp"
#include "kith/source.hpp"

namespace kith {

/// Holds the sizes of a search: the k nearest of n training rows for each of m queries.
struct Problem {
  Metric metric = default_metric;
  std::int64_t n = 0;
  std::int64_t m = 0;
  std::int64_t dims = 0;  ///< columns that count
  std::int64_t k = 0;
  Terms terms = Terms::differences;  ///< what the chain takes: IndexOptions::box, or by the metric

  bool operator==(const Problem&) const = default;
};

/// Is Feedback::scans where rows pass through a device, so that nothing made of them is kept.
inline constexpr std::int64_t scans_of_passing_rows = -1;

/// Holds what earlier searches showed about proposers and boxes: Index::feedback().
struct Feedback {
  struct Lesson {
    Proposer proposer = Proposer::none;
    /// Says that guesses from the first blocks were wrong for many queries, since neighbours lie in
    /// few blocks.
    bool misleads = false;
    /// A search for this many neighbours left most queries to the chain, because more rows were within
    /// the bounds than a list holds. The proposer is not chosen for as many or more again. 0: this did
    /// not happen.
    std::int64_t overwhelmed_from = 0;

    bool operator==(const Lesson&) const = default;
  };
  std::vector<Lesson> lessons = {};  ///< at most one per proposer
  bool boxes_made = false;           ///< boxes have been made
  /// In a sample of queries for this many neighbours, boxes cost more than they saved. 0: this did
  /// not happen.
  std::int64_t boxes_lose_from = 0;
  /// Queries answered without boxes, although boxes would have been faster. On a host one that was asked
  /// alone counts as three, since it reads all rows for itself.
  std::int64_t queries = 0;
  bool bytes_made = false;  ///< the quantized rows of int8 have been made
  /// Scans of all rows by the chain, for few queries, that would have been shorter with the rows of int8; or
  /// scans_of_passing_rows.
  std::int64_t scans = 0;
  /// Says how far apart the bounds of int8 are, in standard deviations of a row's squared distances, from a
  /// sample. 0: the rows lie on a grid of bytes, for which products are exact. An Index computes this from
  /// its rows, and byte_speed from its device.
  double byte_blur = std::numeric_limits<double>::infinity();
  /// The same of int4.
  double half_byte_blur = std::numeric_limits<double>::infinity();
  /// Says how many times as fast products of int8 are as those of fp16. 0: not measured.
  double byte_speed = 0;

  bool operator==(const Feedback&) const = default;
};

/// Describes one attempt to answer the queries that earlier attempts left open: docs/certificate.md,
/// section 5.
struct Attempt {
  enum class Way {
    guess,    ///< first, with thresholds from fewer than k bounds; the k-th chain certifies them
    careful,  ///< in smaller steps, with thresholds from k bounds: only ties make lists overflow
    longer,   ///< lists `lists` times as long; finally in steps so short that only lists of ties overflow
    exact,    ///< by the chain alone
  };
  /// Says how many queries of a tile must be open; at first all are.
  enum class When {
    many,  ///< more than one in many_open: then all queries of the tile are searched
    few,   ///< at most one in many_open
    any,
  };
  static constexpr std::int64_t many_open = 4;

  Way way = Way::exact;
  When when = When::any;
  std::int64_t seed_rows = 0;  ///< training rows of the first step that lists; 0 for `exact`
  std::int64_t growth = 0;     ///< rows of a later step for each row before it
  std::int64_t step_rows = 0;  ///< most rows of a step
  std::int64_t lists = 0;      ///< length of a list in Plan::candidates

  bool operator==(const Attempt&) const = default;
};

/// Returns `guess`, `careful`, `longer` or `exact`.
KITH_API std::string_view name(Attempt::Way way);

/// Says what a search will do. Equal plans do the same.
struct Plan {
  Problem problem;     ///< k as searched: one more with `self`, more with `struck`; 0: all within a radius
  std::string device;  ///< DeviceInfo::spec
  Selector selector = Selector::threshold;
  Proposer proposer = Proposer::none;
  /// Training rows of the first step by a proposer, for first bounds, if no sample comes first.
  std::int64_t seed_rows = 0;
  /// Training rows whose bounds a first step only samples, for a first guess: it lists nothing, and the next
  /// step sees these rows again. 0: there is no such step.
  std::int64_t sample_rows = 0;
  /// Rows of the blocks that a proposer visits, in mixed order so that the order of the rows does not matter.
  /// Bounds thin the candidates, and the chain ranks what is left at the end; for gemm, whose library only
  /// writes products, it ranks after each step. 0 without a proposer.
  std::int64_t visit_rows = 0;
  /// Training rows of a later step of a proposer for each row before it, or for each row sampled.
  std::int64_t growth = 0;
  /// The attempts of a tile of queries, in this order, until none of its queries is open. The last is
  /// `exact`. There is no `guess` in an index of parts, nor after guesses have failed.
  std::vector<Attempt> attempts = {};
  /// Bytes of a copy of the rows that the index keeps beside the quantized rows, if single rows are then read
  /// faster and the limit has room for it. The first search that ranks rows, or prepare(), makes it.
  std::size_t row_copy_bytes = 0;
  std::int64_t candidates = 0;  ///< length of the list of candidates of a query
  /// Says that rows and queries lie on one grid of bytes, so that products of whole numbers give the chain,
  /// and no chain needs to be computed. With more columns than those for which all chains are exact (258 for
  /// squared distances), this holds only if the chain is below 2^24 steps, and on the CPU. It is known only
  /// from the queries: a plan made without them has false.
  bool exact_products = false;
  /// Says that rows are stored on the device as bytes: one per column, padded, and four more per row.
  bool rows_are_bytes = false;
  bool boxes = false;  ///< searches through boxes instead of `distance` and `select`
  /// With boxes: the most leaves that a query reads before it is left to the chain.
  std::int64_t most_leaves = 0;
  /// With boxes: queries of a sample that is searched first, to decide whether boxes pay. 0: no sample.
  std::int64_t tried_queries = 0;
  bool fused = false;        ///< `nearest` instead of `distance` and `select`
  std::int64_t filters = 0;  ///< rows of SearchOptions::filter: 0, 1 or m
  /// With a filter for all queries and a proposer: computes no bounds for rows that do not count, so that
  /// they do not become candidates.
  bool masked = false;
  /// With a filter: searches without it for more neighbours, and drops those that do not count. Queries that
  /// then have too few are searched by the chain with the filter.
  bool struck = false;
  /// With a filter: copies the rows that count, problem.n of them, on the device, and searches only these.
  bool gathered = false;
  std::optional<std::int64_t> self = {};  ///< as in SearchOptions
  std::int64_t groups = 0;                ///< groups of rows: IndexOptions::groups; 0: there are none
  /// With groups: those with queries that are searched one after another, each as an Index of its own. All
  /// others are searched together.
  std::int64_t groups_apart = 0;
  std::int64_t lists = 1;       ///< lists per query and training tile
  std::int64_t query_tile = 0;  ///< queries per step
  std::int64_t train_tile = 0;  ///< training rows per step
  std::uint32_t threads = 0;
  std::size_t workspace_bytes = 0;            ///< device memory besides the Index, with scratch
  Residence residence = Residence::resident;  ///< where the rows are kept; never automatic
  std::int64_t chunk_rows = 0;                ///< with `stream`: rows of a chunk; the plan is for one chunk
  /// In double precision: who computes the chains of candidates, "by the device" or "by the host, since ...".
  /// Empty in single precision, and in a plan that was made without an Index.
  std::string double_chains = {};
  /// The metric by which the Index shows distances. Absent: it is that of the problem, or the plan was made
  /// without an Index.
  std::optional<Metric> shown = {};
  std::string reason;  ///< why this selector and path were chosen, as a sentence

  /// Returns whether a guess is the first attempt.
  bool guesses() const { return !attempts.empty() && attempts.front().way == Attempt::Way::guess; }

  bool operator==(const Plan&) const = default;
};

/// Decides everything that can be decided without data. It is a pure function.
///   device    a device's DeviceInfo
///   problem   1 <= k <= n (n - 1 with SearchOptions::self), m >= 0, dims >= 1
///   feedback  what earlier searches of the Index have shown
/// Throws invalid_argument: a size is out of range.
///        unsupported:      the device lacks what `options` demand.
///        out_of_memory:    one query and one training row do not fit the memory limit.
KITH_API Plan make_plan(const DeviceInfo& device, const Problem& problem, const SearchOptions& options = {},
                        const Feedback& feedback = {});

/// Describes the plan, one decision per line.
KITH_API std::string explain(const Plan& plan);

}  // namespace kith
