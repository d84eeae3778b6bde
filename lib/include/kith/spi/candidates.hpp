// Declares the steps of a search by a proposer, in their order: prepare, collect, tighten, prune, rerank, and
// tighten again. docs/certificate.md, section 5.
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

/// Names the rows of QuantizedRows::row_terms. x' = x - c, exactly, and x~ is the quantized row.
enum RowTerm : std::uint32_t {
  half_norm,       ///< at most |x'|^2 / 2
  norm,            ///< at least |x'|
  quantized_norm,  ///< at least |x~|; for fp16 of sizes, each of which is at least least_aligned_half
  residual,        ///< at least |x' - x~|
};
inline constexpr std::uint32_t terms_a_row = 4;

/// Returns whether a proposer multiplies scaled numbers, whose lines are made for tensor cores.
constexpr bool is_scaled(Proposer proposer) {
  return proposer == Proposer::fp16 || proposer == Proposer::int8 || proposer == Proposer::int4;
}

/// Returns the form of the queries that a proposer multiplies its rows with.
constexpr Proposer proposer_of_queries(Proposer proposer) {
  return proposer == Proposer::int4 ? Proposer::int8 : proposer;
}

/// Returns the bits of an element of quantized rows.
constexpr std::size_t quantized_bits(Proposer proposer) {
  switch (proposer) {
    case Proposer::int4:
      return 4;
    case Proposer::int8:
      return 8;
    case Proposer::bf16:
    case Proposer::fp16:
      return 16;
    default:
      return 32;
  }
}

/// Returns the columns of quantized rows in a device's own order. They are padded to quantized_block_dims;
/// for scaled proposers to whole lines of 128 bytes, or one line of 32 or 64 (int4: 64).
constexpr std::size_t quantized_columns(Proposer proposer, std::size_t dims) {
  if (!is_scaled(proposer))
    return (dims + quantized_block_dims - 1) / quantized_block_dims * quantized_block_dims;
  const std::size_t line = 1024 / quantized_bits(proposer);
  if (dims <= line / 2) return dims <= line / 4 && proposer != Proposer::int4 ? line / 4 : line / 2;
  return (dims + line - 1) / line * line;
}

/// Returns the bytes that a quantized row takes in a device's own order.
constexpr std::size_t quantized_bytes_a_row(Proposer proposer, std::size_t dims) {
  return quantized_columns(proposer, dims) * quantized_bits(proposer) / 8;
}

/// Holds rows in the form in which a proposer uses them, and how far they are from the true rows.
/// docs/certificate.md. For gemm rows are floats. For dot (floats), bf16 (16-bit floats), fp16 (scaled 16-bit
/// floats), int8 (scaled signed bytes) and int4 (half bytes, at a byte's upper end) they are in an order of
/// the device's own, which may depend on the block of the rows they are prepared from; memory is padded to a
/// multiple of quantized_block_rows rows, and to quantized_columns() columns. `first` of the grid then counts
/// rows, and is such a multiple; `stride` has no meaning.
struct QuantizedRows {
  Grid<float> rows;  ///< [rows, dims]  each row minus the centre c, rounded
  /// [terms_a_row, rows]  by RowTerm. If all are NaN, CollectStep ignores the row. Training rows that all
  /// lie exactly on their grid may have [1, rows]: only half_norm, since steps of exact products read no
  /// other term.
  Grid<float> row_terms;
  /// Is for int8. If a row lies exactly on its grid, residual is 0 and half_norm is exactly |x'|^2 / 2, up to
  /// most_exact_dims columns.
  OnGrid on_grid = OnGrid::no;
};

/// Quantizes rows, once for an Index and once for each query tile. Row terms may differ between devices,
/// since they are bounds, and every valid bound gives the same answer.
struct PrepareStep {
  static constexpr const char* name = "prepare";
  Proposer proposer;  ///< gemm, dot, bf16, fp16, int8; int4 for training rows
  RowBlocks rows;
  Grid<float> centre;  ///< [1, dims], read only
  QuantizedRows out;
  /// The factor of rows. For fp16 it is a power of two by which all elements stay below 2^14. For int8, what
  /// exceeds 127 becomes 127; a device may halve the factor for queries if it makes up for that in the
  /// products, but not on a grid, where the factor is 1 / b, and c is the same for all columns. For int4 the
  /// scaled row becomes the nearest multiple of 16 from -112 to 112.
  float scale = 1;
  bool queries = false;   ///< else training rows; they differ where fp16 splits numbers
  Grid<float> copy = {};  ///< [rows, dims]  the rows themselves, row-major, for RerankStep; empty: no copy
};

/// Recovers training rows from quantized rows of int8 that all lie exactly on their grid: c + x~ are the
/// values that were prepared.
struct RecoverStep {
  static constexpr const char* name = "recover";
  QuantizedRows rows;  ///< read only; row terms are not read
  Grid<float> centre;  ///< [1, dims], read only
  float scale;         ///< the scale of PrepareStep
  RowBlocks out;       ///< written, including all of the last block; `first` is a multiple of `block`
};

/// Holds lists of candidates with counts. List q holds training rows in its first min(counts[q], capacity)
/// places, in any order; a count above the capacity means that rows were lost.
struct CandidateLists {
  Grid<std::uint32_t> rows;    ///< [q, capacity]
  Grid<std::uint32_t> counts;  ///< [q, 1]
};

/// Holds bounds of listed candidates from products, before any chain is computed: docs/certificate.md,
/// section 4.
struct Bounds {
  Grid<float> low;  ///< [q, capacity]  for place j of list q: the value that was compared with the threshold
  /// [q, capacity]  make_key(h, row). h gives a threshold (TightenByBoundsStep) such that a row whose `low`
  /// is above it has a chain after this row's.
  Grid<Key> high;
};

/// Visits blocks of training rows in an order unrelated to their content, so that the first blocks are a
/// sample of all: visit v takes block v * stride % blocks. Blocks have `rows` rows; the last may be shorter.
struct Visits {
  /// Rows of a block, a multiple of quantized_block_rows; 0: all rows in order, without visits.
  std::uint32_t rows = 0;
  std::uint32_t first = 0;  ///< visits first ... first + count - 1
  std::uint32_t count = 0;
  std::uint32_t blocks = 1;  ///< number of blocks in `train`
  std::uint32_t stride = 1;  ///< below `blocks` unless both are 1; they have no common divisor
};

/// Appends every row t of a tile that may be within the threshold to the lists of candidates. A training row
/// whose terms are NaN, as MaskStep sets them for rows that do not count, is never listed nor sampled.
///   none  keeps values[q, t] <= threshold[q]; values are given (radius search, any matrix of distances)
///   gemm  first writes the inner products of the quantized rows to `values`, p = q~ x~, and keeps low(t) - p
///         <= threshold[q], where low(t) is such that no row is lost: docs/certificate.md
///   dot, bf16, fp16, int8, int4  the same, testing products as they come; only the sizes of `values` are
///         used. With int4, queries are those of int8 (proposer_of_queries())
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
  float unscale = 1;   ///< for scaled proposers: factor that turns products of scaled rows into those of rows
  Bounds bounds = {};  ///< written with the lists; without columns: not wanted; with a proposer
  Visits visits = {};  ///< visits to `train`; `values` is then [q, visits.count * visits.rows]; with
                       ///< a proposer
  /// [q, visits.count * visits.rows / sample_rows]; without columns: not wanted. It is for scaled proposers
  /// on GPUs, with visits and bounds. Then nothing is listed. The device divides the places of the visits
  /// into groups of sample_rows as it likes, and writes the smallest h (Bounds) of each group, as ordered(h);
  /// for a group without rows ordered(+infinity) or more.
  Grid<std::uint32_t> sample = {};
  /// Is a hint that the threshold may be +infinity, so that all rows pass and only their bounds differ.
  bool open = false;
  /// product_error() of the step, which devices use; with a proposer
  double b = 0;
  /// Says where `high` (Bounds, sample) is between `low`, 0, and the bound that no chain exceeds, 1: 0.5 ...
  /// 1. Below 1 `high` is a guess. It is for a proposer.
  float gap_share = 1;
};

/// Returns whether steps like this may test within their product, in later visits.
constexpr bool may_fuse_test(const CollectStep& step) {
  return step.proposer == Proposer::fp16 && step.values.rows > small_batch &&
         step.train.rows.cols <= most_fused_test_dims && step.visits.rows > 0;
}

/// Returns the kind of kernels that a device uses for a step with a proposer; b depends on it.
constexpr ProductKind products_of(const CollectStep& step) {
  if (multiplies_bytes(step.proposer)) return ProductKind::bytes;
  if (step.proposer != Proposer::fp16) return ProductKind::sums;
  if (step.values.rows <= small_batch) return ProductKind::halves_small_batch;
  const bool fuses_test = may_fuse_test(step) && step.sample.cols == 0 && !step.open;
  return fuses_test ? ProductKind::halves_fused_test : ProductKind::halves;
}

/// Returns whether products and half norms are exact: then E is 0, and only the sum that is compared with the
/// threshold is rounded. docs/certificate.md, section 4.
constexpr bool is_exact(const CollectStep& step) {
  return step.proposer == Proposer::int8 && step.queries.on_grid == OnGrid::exactly &&
         step.train.on_grid == OnGrid::exactly && step.train.rows.cols <= most_exact_dims;
}

/// Returns b of a step with a proposer.
inline double product_error(const CollectStep& step) {
  return product_error(products_of(step), step.train.rows.cols);
}

/// Keeps those candidates of each list whose `low` is at most the threshold, in any order.
struct PruneStep {
  static constexpr const char* name = "prune";
  Grid<float> threshold;   ///< [q, 1], read only
  CandidateLists lists;    ///< in and out; a count above the capacity counts as the capacity
  Bounds bounds;           ///< in and out
  bool only_rows = false;  ///< nobody reads `bounds` afterwards; a device need not write them
};

/// Gives the chains of candidates by exact products (is_exact()). For squared distances the chain is 2 (low +
/// half_norm) if this is below the limit; else it is not below the limit. For inner products it is `low`.
struct ExactProducts {
  Grid<float> low;          ///< [q, capacity]  of Bounds; without columns: products are not exact
  Grid<float> query_terms;  ///< [terms_a_row, q]
  float limit = 0;          ///< for squared distances: most_exact in steps of the grid
};

/// Computes the chain of every listed candidate, as a key. Training rows may be packed with block 1, which
/// makes single rows faster to read. A device may take chains from exact products instead.
struct RerankStep {
  static constexpr const char* name = "rerank";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  std::uint32_t first_row;    ///< training row of train.first
  CandidateLists candidates;  ///< read only; rows first_row ... first_row + train.rows - 1
  Grid<Key> out;  ///< [q, capacity]  place j: the key of candidate j; later places are not written
  ExactProducts products = {};
};

/// Merges reranked candidates into the k best so far, and sets the thresholds. Afterwards counts are 0.
/// threshold[q] is such that a row whose chain is at most the k-th best value passes the test of CollectStep:
/// docs/certificate.md. For proposer none it is that value.
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
  Grid<float> threshold;       ///< [q, 1]  out; in and out if it was guessed
  Grid<std::uint32_t> lost;    ///< [q, 1]  becomes 1 if counts[q] > capacity or a guess failed
  Scratch scratch;
  bool afresh = false;  ///< ignores the content of `best`
  /// Says that the threshold was a guess, and is in and out. If it grows, near rows may have been refused,
  /// and lost[q] becomes 1.
  bool guessed = false;
};

/// Lowers thresholds by the bounds of all listed candidates, before any chain is computed. The new threshold
/// is the smaller of two: the former one, and one that every row passes whose chain is not after the k-th
/// smallest. With fewer than k candidates it does not change.
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
  Grid<std::uint32_t> lost;    ///< [q, 1]  becomes 1 if counts[q] > capacity, else unchanged
  Scratch scratch;
};

/// Does the same by a sample, whose numbers belong to no candidates. Only devices that take samples do it.
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
