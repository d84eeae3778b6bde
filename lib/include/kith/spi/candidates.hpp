// The steps of a search whose candidates are proposed, in the order in which they are done: prepare, collect,
// tighten, prune, rerank, and tighten again. docs/certificate.md, section 5.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/selector.hpp"
#include "kith/spi/byte_grid.hpp"
#include "kith/spi/kernel_limits.hpp"
#include "kith/spi/memory.hpp"
#include "kith/spi/product_error.hpp"

namespace kith::spi {

/// Rows of QuantizedRows::row_terms. With x' = x - c, exactly, and x~ the quantized row:
enum RowTerm : std::uint32_t {
  half_norm,       ///< at most |x'|^2 / 2
  norm,            ///< at least |x'|
  quantized_norm,  ///< at least |x~|
  residual,        ///< at least |x' - x~|
};
inline constexpr std::uint32_t terms_a_row = 4;

/// Columns of quantized rows in an order of the device's own: padded to quantized_block_dims, of fp16 and
/// int8 to whole lines of 128 bytes, or one line of 32 or 64.
constexpr std::size_t quantized_columns(Proposer proposer, std::size_t dims) {
  if (proposer != Proposer::fp16 && proposer != Proposer::int8)
    return (dims + quantized_block_dims - 1) / quantized_block_dims * quantized_block_dims;
  const std::size_t line = proposer == Proposer::fp16 ? 64 : 128;
  if (dims <= line / 2) return dims <= line / 4 ? line / 4 : line / 2;
  return (dims + line - 1) / line * line;
}

/// What a proposer works on instead of the rows, and how far that is from them. docs/certificate.md.
/// Rows are floats for gemm. For dot (floats), bf16 (16-bit floats), fp16 (scaled 16-bit floats) and int8
/// (signed bytes, scaled) they are in an order of the device's own, which may depend on the block of the rows
/// they are prepared from, in memory for whole multiples of quantized_block_rows rows and for
/// quantized_columns() columns; `first` of the grid then counts rows, and is such a multiple, and `stride`
/// means nothing.
struct QuantizedRows {
  Grid<float> rows;  ///< [rows, dims]  each row moved by the centre c and rounded
  /// [terms_a_row, rows]  by RowTerm. All NaN: to CollectStep there is no such row. Training rows that all
  /// lie on their grid exactly may have [1, rows]: half_norm, which is all that steps of exact products read.
  Grid<float> row_terms;
  /// int8. Of a row that lies on its grid exactly, residual is 0 and half_norm is |x'|^2 / 2 itself, up to
  /// most_exact_dims columns.
  OnGrid on_grid = OnGrid::no;
};

/// Quantized rows, once for an Index and once for each query tile. Bits of row terms may differ
/// between devices: they are bounds, and every bound gives the same answer.
struct PrepareStep {
  static constexpr const char* name = "prepare";
  Proposer proposer;  ///< gemm, dot, bf16, fp16, int8
  RowBlocks rows;
  Grid<float> centre;  ///< [1, dims], read only
  QuantizedRows out;
  float scale = 1;       ///< fp16: the power of two that rows are multiplied by, so that all stay below 2^14;
                         ///< int8: what rows are multiplied by; what is then beyond 127 becomes 127. A device
                         ///< may take half of it for queries, if its products mean the same; not on a grid,
                         ///< where it is 1 / b, and c is the same for all columns
  bool queries = false;  ///< else training rows; where fp16 splits numbers the two are unlike
  Grid<float> copy = {};  ///< [rows, dims]  the rows themselves, row-major, for RerankStep; empty: no copy
};

/// Training rows back from quantized rows of int8, all of which lie on their grid exactly: c + x~, the very
/// values that were prepared.
struct RecoverStep {
  static constexpr const char* name = "recover";
  QuantizedRows rows;  ///< read only; row terms are not looked at
  Grid<float> centre;  ///< [1, dims], read only
  float scale;         ///< as they were prepared with
  RowBlocks out;       ///< written, the last block to its end; `first` is a multiple of `block`
};

/// Counted lists of candidates. List q holds training rows in its first min(counts[q], capacity)
/// places, in any order; a count above the capacity says that rows were lost.
struct CandidateLists {
  Grid<std::uint32_t> rows;    ///< [q, capacity]
  Grid<std::uint32_t> counts;  ///< [q, 1]
};

/// What the products say of listed candidates before any chain is computed: docs/certificate.md, section 4.
struct Bounds {
  Grid<float> low;  ///< [q, capacity]  of place j of list q: what the test compared with the threshold
  Grid<Key> high;   ///< [q, capacity]  make_key(h, row), h such that a row whose `low` is above
                    ///< the threshold that comes of h (TightenByBoundsStep) has a chain behind this row's
};

/// Blocks of training rows in an order that has nothing to do with what they hold, so that the first of them
/// are a sample of all: visit v is of block v * stride % blocks. Blocks are of `rows` rows, the last may be
/// shorter.
struct Visits {
  std::uint32_t rows =
      0;  ///< of a block, a multiple of quantized_block_rows; 0: all rows in order, and no visits
  std::uint32_t first = 0;  ///< visits first ... first + count - 1
  std::uint32_t count = 0;
  std::uint32_t blocks = 1;  ///< of all `train`
  std::uint32_t stride = 1;  ///< less than `blocks` unless both are 1, with no divisor in common
};

/// Append every row t of a tile that may be as near as the threshold to the lists of candidates. A training
/// row whose terms are NaN, as MaskStep makes those of rows that do not count, is not listed whatever the
/// threshold, nor in a sample.
///   none  keeps values[q, t] <= threshold[q]: values are given (radius search, any matrix of distances)
///   gemm  writes the inner products of the quantized rows to `values` first, p = q~ x~, and keeps
///         low(t) - p <= threshold[q], where low(t) is such that no row is lost: docs/certificate.md
///   dot, bf16, fp16, int8  the same, tested as products come; of `values` only the sizes are used
struct CollectStep {
  static constexpr const char* name = "collect";
  Proposer proposer;
  Metric metric;
  QuantizedRows queries, train;  ///< with a proposer; read only
  Grid<float> values;            ///< [q, t]  none: read only; gemm: written; else not used
  Grid<float> threshold;         ///< [q, 1], read only
  std::uint32_t first_row;       ///< training row of column 0
  CandidateLists out;
  Scratch scratch;
  float unscale = 1;   ///< fp16, int8: makes products of scaled rows those of rows
  Bounds bounds = {};  ///< written beside the lists; of no columns: not wanted. With a proposer
  Visits visits = {};  ///< of `train`; `values` is then [q, visits.count * visits.rows]. With a proposer
  /// [q, visits.count * visits.rows / sample_rows]; of no columns: not wanted. On GPUs with fp16 and int8,
  /// with visits and bounds. Then nothing is listed. The places of the visits are put into groups of
  /// sample_rows, in what way is the device's own affair, and of each group the smallest h (Bounds) is
  /// written, as ordered() has it; that of +infinity, or more, where there is no row.
  Grid<std::uint32_t> sample = {};
  /// A hint: the threshold may be +infinity, so that all rows pass and only bounds tell them apart.
  bool open = false;
  /// product_error() of the step, from which a device takes it. With a proposer
  double b = 0;
};

/// Whether the test of steps like this can be part of their product, in later visits.
constexpr bool may_fuse_test(const CollectStep& step) {
  return step.proposer == Proposer::fp16 && step.values.rows > small_batch &&
         step.train.rows.cols <= most_fused_test_dims && step.visits.rows > 0;
}

/// Which kernels a device takes for a step with a proposer: b is of these.
constexpr ProductKind products_of(const CollectStep& step) {
  if (step.proposer == Proposer::int8) return ProductKind::bytes;
  if (step.proposer != Proposer::fp16) return ProductKind::sums;
  if (step.values.rows <= small_batch) return ProductKind::halves_small_batch;
  const bool fuses_test = may_fuse_test(step) && step.sample.cols == 0 && !step.open;
  return fuses_test ? ProductKind::halves_fused_test : ProductKind::halves;
}

/// Whether products are exact, and so are the half norms that they are taken from: E is 0, and of what the
/// test compares with the threshold only the sum is rounded. docs/certificate.md, section 4.
constexpr bool is_exact(const CollectStep& step) {
  return step.proposer == Proposer::int8 && step.queries.on_grid == OnGrid::exactly &&
         step.train.on_grid == OnGrid::exactly && step.train.rows.cols <= most_exact_dims;
}

/// b of a step with a proposer.
inline double product_error(const CollectStep& step) {
  return product_error(products_of(step), step.train.rows.cols);
}

/// Keep of each list the candidates whose `low` is at most the threshold, in any order.
struct PruneStep {
  static constexpr const char* name = "prune";
  Grid<float> threshold;  ///< [q, 1], read only
  CandidateLists lists;   ///< in and out; a count above the capacity counts as the capacity
  Bounds bounds;          ///< in and out
};

/// What exact products (is_exact()) say of the chains of candidates: of squared distances that the chain is
/// 2 (low + half_norm), where this is below the limit, and not below the limit elsewhere; of inner products
/// that it is `low`.
struct ExactProducts {
  Grid<float> low;          ///< [q, capacity]  of Bounds; of no columns: products are not exact
  Grid<float> query_terms;  ///< [terms_a_row, q]
  float limit = 0;          ///< of squared distances; most_exact in steps of the grid
};

/// The chain of every listed candidate, as a key. Training rows may be packed with block 1: single rows are
/// read faster so. Where products say what the chain is, a device may take it from these.
struct RerankStep {
  static constexpr const char* name = "rerank";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  std::uint32_t first_row;    ///< training row of train.first
  CandidateLists candidates;  ///< read only; rows first_row ... first_row + train.rows - 1
  Grid<Key> out;              ///< [q, capacity]  place j: the key of candidate j; none behind the last
  ExactProducts products = {};
};

/// Join reranked candidates into the k best so far, and tell what still counts as near.
/// Afterwards counts are 0. threshold[q] is such that a row whose chain is at most the k-th best value
/// passes the test of CollectStep: docs/certificate.md. For proposer none it is that value.
struct TightenStep {
  static constexpr const char* name = "tighten";
  Proposer proposer;
  Metric metric;
  std::uint32_t dims;
  std::uint32_t k;
  Grid<Key> keys;              ///< [q, capacity]  the first min(counts[q], capacity) of each row; read only
  Grid<std::uint32_t> counts;  ///< [q, 1]
  Grid<Key> best;              ///< [q, k]  in and out: ascending, padded with no_key
  Grid<float> query_terms;     ///< [terms_a_row, q], with a proposer; read only
  Grid<float> threshold;       ///< [q, 1]  out; in and out where it was guessed
  Grid<std::uint32_t> lost;    ///< [q, 1]  becomes 1 where counts[q] > capacity or a guess failed, else stays
  Scratch scratch;
  bool afresh = false;  ///< as if `best` had held nothing
  /// The threshold was a guess, and is in and out. Where it becomes larger than it was, rows have been
  /// refused that were near, and lost[q] becomes 1.
  bool guessed = false;
};

/// What the bounds of all listed candidates say of the threshold, before any chain is computed: it becomes
/// the smaller of what it was and of a number such that a row whose chain is not behind the k-th smallest
/// passes. Where fewer than k are listed it stays.
struct TightenByBoundsStep {
  static constexpr const char* name = "tighten_by_bounds";
  Proposer proposer;
  Metric metric;
  std::uint32_t dims;
  std::uint32_t k;
  Grid<Key> highs;             ///< [q, capacity]  of CollectStep::bounds; read only
  Grid<std::uint32_t> counts;  ///< [q, 1], read only
  Grid<float> query_terms;     ///< [terms_a_row, q], read only
  Grid<float> threshold;       ///< [q, 1]  in and out
  Grid<std::uint32_t> lost;    ///< [q, 1]  becomes 1 where counts[q] > capacity, else stays
  Scratch scratch;
};

/// The same of a sample, whose numbers are of no candidates. By devices that take samples.
struct TightenBySampleStep {
  static constexpr const char* name = "tighten_by_sample";
  Proposer proposer;
  Metric metric;
  std::uint32_t dims;
  std::uint32_t k;
  Grid<std::uint32_t> sample;  ///< [q, groups]  CollectStep::sample; read only
  Grid<float> query_terms;     ///< [terms_a_row, q], read only
  Grid<float> threshold;       ///< [q, 1]  in and out
};

}  // namespace kith::spi
