// Every decision of one search, as data: printable, comparable, pinnable in a test.
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

/// What is asked: k nearest of n training rows for each of m queries.
struct Problem {
  Metric metric = default_metric;
  std::int64_t n = 0;
  std::int64_t m = 0;
  std::int64_t dims = 0;  ///< columns that count
  std::int64_t k = 0;

  bool operator==(const Problem&) const = default;
};

/// What earlier searches taught an Index about its proposers: Index::feedback().
struct Feedback {
  struct Lesson {
    Proposer proposer = Proposer::none;
    /// Guesses from the first blocks were wrong for many queries: neighbours lie in few blocks.
    bool misleads = false;
    /// A search for so many neighbours left most queries to the chain: more rows were as near as bounds can
    /// tell than a list holds. Not chosen for as many, or more. 0: there was none.
    std::int64_t overwhelmed_from = 0;

    bool operator==(const Lesson&) const = default;
  };
  std::vector<Lesson> lessons = {};  ///< at most one a proposer
  bool boxes_made = false;           ///< the rows lie in boxes, too
  /// A sample of queries for so many neighbours read more leaves than boxes are worth. 0: there was none.
  std::int64_t boxes_lose_from = 0;
  std::int64_t queries = 0;  ///< answered without boxes, for which it would have paid to make them
  /// By how many standard deviations of a row's squared distances the bounds of int8 are apart, in a sample.
  /// 0: the rows lie on a grid of bytes, of which its products are exact. An Index says this of its rows
  /// itself, and of its device what follows.
  double byte_blur = std::numeric_limits<double>::infinity();
  /// How many times as fast products of bytes are as those of 16-bit floats. 0: that was not measured.
  double byte_speed = 0;

  bool operator==(const Feedback&) const = default;
};

/// One way to answer the queries that the attempts before it left open: docs/certificate.md, section 5.
struct Attempt {
  enum class Way {
    guess,    ///< the threshold from fewer bounds than k while few rows have been seen, certified by the k-th
              ///< chain
    careful,  ///< in smaller steps, the threshold from k bounds: only rows that are equally near overfill a
              ///< list
    longer,  ///< lists `lists` times as long; at last in steps so short that none overflows where rows differ
    exact,   ///< by the chain alone
  };
  /// How many queries of a tile must be open; at its beginning all are.
  enum class When {
    many,  ///< more than one in many_open: then all of the tile are asked
    few,   ///< at most one in many_open
    any,
  };
  static constexpr std::int64_t many_open = 4;

  Way way = Way::exact;
  When when = When::any;
  std::int64_t seed_rows = 0;  ///< training rows of the first step that lists; 0 in `exact`, as what follows
  std::int64_t growth = 0;     ///< rows of a later step for each row before it
  std::int64_t step_rows = 0;  ///< of a step, at most
  std::int64_t lists = 0;      ///< how many times Plan::candidates a list holds

  bool operator==(const Attempt&) const = default;
};

/// `guess`, `careful`, `longer`, `exact`.
KITH_API std::string_view name(Attempt::Way way);

/// What will be done. Two plans that compare equal do the same.
struct Plan {
  Problem problem;     ///< k as searched: one more with `self`, and with `struck`; 0: all within a radius
  std::string device;  ///< DeviceInfo::spec
  Selector selector = Selector::threshold;
  Proposer proposer = Proposer::none;
  /// Training rows of the first step by a proposer, for first bounds, where no sample comes first.
  std::int64_t seed_rows = 0;
  /// Training rows of which a first step only takes a sample of the bounds, for a first guess, and lists
  /// nothing: the next step sees them again. 0: there is no such step.
  std::int64_t sample_rows = 0;
  /// Rows of the blocks that a proposer visits in a mixed order, so that the order of the rows does not
  /// matter. Candidates are thinned by bounds, and the chain ranks what is left at the end; of gemm, whose
  /// library writes products alone, it ranks what each step finds. 0 without a proposer.
  std::int64_t visit_rows = 0;
  /// Training rows of a later step of a proposer for each row before it, or sampled.
  std::int64_t growth = 0;
  /// What a tile of queries goes through, in this order, until none of its queries is open. The last is
  /// `exact`. No `guess` in an index of parts, nor in one that has misled guesses.
  std::vector<Attempt> attempts = {};
  /// Bytes of a copy of the rows that the index keeps beside the quantized rows, where single rows are read
  /// faster so and the limit has room for it; it keeps what the first search that proposes decides.
  std::size_t row_copy_bytes = 0;
  std::int64_t candidates = 0;  ///< places in the list of candidates of a query
  /// Rows and queries lie on one grid of bytes, so that products of whole numbers are the chain, and no chain
  /// is computed of a candidate; of rows of more columns than those whose chains are exact (258 for squared
  /// distances), only where the chain is below 2^24 steps, and on the CPU. A search finds out from the
  /// queries: a plan that is made without these leaves it false.
  bool exact_products = false;
  /// Rows are bytes that stay as they are on the device: a byte a column, padded, and four more a row.
  bool rows_are_bytes = false;
  bool boxes = false;  ///< a walk through boxes instead of `distance` and `select`
  /// With boxes: leaves that a query reads at most, before it is left to the chain.
  std::int64_t most_leaves = 0;
  /// With boxes: queries of a sample that are searched first, and tell whether it goes on by boxes. 0: none
  std::int64_t tried_queries = 0;
  bool fused = false;        ///< `nearest` instead of `distance` and `select`
  std::int64_t filters = 0;  ///< rows of PlanOptions::filter: 0, 1 or m
  /// With a filter for all queries and a proposer: of rows that do not count there are no bounds, so that
  /// they are no candidates.
  bool masked = false;
  /// With a filter: the search goes without it for more neighbours, and those that do not count are struck
  /// out of its lists. Queries that then have too few are searched by the chain with the filter.
  bool struck = false;
  /// With a filter: the rows that count, problem.n of them, are put on the device once more and searched
  /// alone.
  bool gathered = false;
  std::optional<std::int64_t> self = {};  ///< as in PlanOptions
  std::int64_t lists = 1;                 ///< lists a query and training tile
  std::int64_t query_tile = 0;            ///< queries a step
  std::int64_t train_tile = 0;            ///< training rows a step
  std::uint32_t threads = 0;
  std::size_t workspace_bytes = 0;            ///< device memory beside the Index, scratch included
  Residence residence = Residence::resident;  ///< where the rows stay; never automatic
  std::int64_t chunk_rows = 0;  ///< with `stream`: of each chunk; what is planned is one of them
  std::string reason;           ///< why this selector and this path, as a sentence

  /// Whether a guess is the first attempt.
  bool guesses() const { return !attempts.empty() && attempts.front().way == Attempt::Way::guess; }

  bool operator==(const Plan&) const = default;
};

/// Decide everything that can be decided without data. A pure function.
///   device       a device's DeviceInfo
///   problem      1 <= k <= n (n - 1 with PlanOptions::self), m >= 0, dims >= 1
///   feedback     what earlier searches of the Index taught
/// Throws invalid_argument: a size is outside its range.
///        unsupported:      the device lacks what `options` insist on.
///        out_of_memory:    not even one query and one training row fit the memory limit.
KITH_API Plan make_plan(const DeviceInfo& device, const Problem& problem, const PlanOptions& options = {},
                        const Feedback& feedback = {});

/// The plan in one line a decision, for people.
KITH_API std::string explain(const Plan& plan);

}  // namespace kith
