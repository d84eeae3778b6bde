// The interface of the inner loops of the CPU back end. These are compiled once for each instruction set
// (kernels_source.hpp). This header has only plain data and function pointers: the linker must never choose
// an inline function that was compiled for a newer processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/steps/shortlist.hpp"
#include "kith/metric.hpp"

namespace kith::cpu {

/// The number of rows in a block of queries and of training rows (spi/memory.hpp, RowBlocks).
inline constexpr std::size_t query_block = 8, train_block = 16;

/// The number of rows in a leaf, and of boxes in a box (spi/boxes.hpp).
inline constexpr std::size_t leaf_rows = 32;

/// The number of rows in a block of quantized rows of bytes (quantized_order.hpp), and of dimensions side
/// by side.
inline constexpr std::size_t byte_query_block = 4, byte_train_block = 16, byte_dims = 4;

/// The number of rows in a tile of matrix units, and of bytes of a row side by side: of queries and of
/// training rows.
inline constexpr std::size_t tile_rows = 16, tile_line = 64, tile_pack = 4;

/// The queries and training rows of a task, both in RowBlocks layout.
struct Operands {
  Metric metric;
  const float* queries;  ///< row 0 of the memory
  const float* train;
  std::size_t dims;
  std::size_t query_begin, query_end;  ///< rows of the memory
  std::size_t train_begin, train_end;
  const float* terms = nullptr;  ///< [dims] parameters, for `distance` alone; null: chains take differences
  bool mixed = false;            ///< terms may be others than periodic
  std::uint32_t summed = 0;      ///< DistanceStep::summed(), for `distance` alone
};

/// The query of a walk through boxes.
struct Walker {
  Metric metric;
  const float* query;  ///< [dims]
  const float* terms;  ///< [dims] parameters of columns; null: chains take differences
  bool mixed;          ///< terms may be others than periodic
  std::size_t dims;
};

/// The training rows that are listed for one query.
struct Candidates {
  Metric metric;
  const float* query;  ///< value of the query in column 0; columns are query_block apart
  const float* train;  ///< row 0 of the memory
  std::size_t block;   ///< block size of its rows: train_block, or 1 for contiguous rows
  std::size_t dims;
  const std::uint32_t* rows;
  std::uint32_t row_offset;  ///< added to a listed row, modulo 2^32, it gives the row of the memory
  std::size_t count;
};

/// The row terms of training rows (spi::RowTerm), and the largest terms of all queries of a step.
struct RowTerms {
  const float *half_norm, *norm, *quantized_norm, *residual;
  std::size_t count;
  double largest_norm, largest_error, largest_quantized_norm;  ///< neither 0 nor infinite
  double chain;  ///< for inner products: the error of a chain of rows of norm 1
  double tiny;   ///< error of underflow
  bool squares;  ///< distances are squared; otherwise they are inner products
};

/// A block of training rows that become bytes, and sums of squares, one for each row.
struct RowsToBytes {
  const float* rows;  ///< dimension 0 of the first row of a block of train_block rows
  const float* centre;
  std::size_t dims;
  std::int8_t* out;          ///< a block of byte_train_block rows
  float scale, least, most;  ///< a byte is a value times `scale`, rounded to a whole number in this range
  double unscale;            ///< one over the scale
  // [train_block]  Sums of squares, to which those of these rows are added:
  double* moved;      ///< of x' = x - c
  double* quantized;  ///< of the values that the bytes represent
  double* residual;   ///< of the difference of the two
};

/// The quantized rows that one task multiplies and tests, in the order of the step prepare. Rows are numbered
/// by their places in the grids of the step, or from a multiple of train_block on.
/// docs/certificate.md, section 4.
struct Products {
  const void* queries;  ///< row 0 of the grid
  const void* train;
  std::size_t dims;
  std::size_t query_begin, query_end;
  std::size_t train_begin, train_end;
  const float* low;        ///< `low` of the training rows; whole blocks may be read
  const float* threshold;  ///< thresholds of the queries, threshold_stride apart
  std::size_t threshold_stride;
  std::uint32_t first_row;  ///< number of training row 0
  std::uint32_t* rows;      ///< lists of the queries, rows_stride apart
  std::size_t rows_stride, capacity;
  std::uint32_t* counts;  ///< lengths of the lists, counts_stride apart; other tasks also add to them
  std::size_t counts_stride;
  // Bounds of the listed rows, spi::Bounds; null if they are not needed.
  float* lows;
  std::size_t lows_stride;
  std::uint64_t* highs;
  std::size_t highs_stride;
  const float* gap;   ///< upper bounds of the training rows, less the lower ones
  std::size_t pitch;  ///< number of elements of a quantized row
  float unscale;      ///< int8: turns products of scaled rows into those of rows
};

/// The smallest distance and the sum of distances, as a pair of floats, of 16 queries to one class
/// (spi.hpp, AccumulateStep).
struct ClassSums {
  float smallest[16], high[16], low[16];
};

/// The training rows in double precision that are listed for one query.
struct DoubleCandidates {
  Metric metric;
  const double* query;  ///< [dims]
  const double* train;  ///< row `first_row`; rows are `stride` apart
  std::size_t stride, dims;
  const std::uint32_t* rows;
  std::uint32_t first_row, train_rows;  ///< rows that are not among these are left out
  std::size_t count;
  const double* terms = nullptr;  ///< [dims] parameters of columns; null: chains take differences
  bool mixed = false;             ///< terms may be others than periodic
};

struct Kernels {
  /// Writes the raw value of each pair.
  ///   out  element (query_begin, train_begin); rows are `stride` apart
  void (*distance)(const Operands&, float* out, std::size_t stride);

  /// Appends the pairs that may be among the k nearest to the list of their query.
  ///   row_offset  added to a row of the memory, modulo 2^32, it gives the training row
  ///   lists       one per query; list 0 belongs to query_begin
  void (*nearest)(const Operands&, std::uint32_t row_offset, Shortlists& lists);

  /// Appends those of `count` values that may be among the k smallest.
  void (*filter)(const float* values, std::size_t count, std::uint32_t first_row, Shortlists& lists,
                 std::size_t list);

  /// Writes the row numbers of those of `count` values that are at most `threshold`, ascending. Returns
  /// their number.
  ///   first_row  row of the first value
  ///   kept       [count]
  std::size_t (*collect)(const float* values, std::size_t count, float threshold, std::uint32_t first_row,
                         std::uint32_t* kept);

  /// Writes the raw value of each candidate.
  ///   values  [count]
  void (*rerank)(const Candidates&, float* values);

  /// Computes the values from which products are subtracted, and the gaps from there to the upper bounds.
  ///   low, gap  [count]
  void (*bound_rows)(const RowTerms&, float* low, float* gap);

  /// Writes the bytes of a block of rows, and adds to its sums.
  void (*rows_to_bytes)(const RowsToBytes&);

  /// Appends the pairs with low - product <= threshold, and their bounds. Quantized rows have
  /// single precision.
  void (*propose)(const Products&);

  /// Adds columns of distances to the sums of 16 queries.
  ///   distances  [columns, 16]
  void (*accumulate)(const float* distances, std::size_t columns, ClassSums& sums);

  /// Computes the raw values of a query and the rows of a leaf. Returns a mask of those that are at
  /// most `most`.
  ///   rows    [dims, leaf_rows]
  ///   values  [leaf_rows]
  std::uint32_t (*leaf)(const Walker& walker, const float* rows, float most, float* values);

  /// Does the same with the gaps between a query and boxes: spi::Boxes.
  ///   bounds  [2, dims, leaf_rows]
  ///   values  [leaf_rows]
  std::uint32_t (*gaps)(const Walker& walker, const float* bounds, float most, float* values);

  /// Does the same with the far sides of boxes.
  std::uint32_t (*far_sides)(const Walker& walker, const float* bounds, float most, float* values);

  /// Returns a mask of the values that are at most `most`.
  ///   values  [leaf_rows]
  std::uint32_t (*values_at_most)(const float* values, float most);

  /// Writes the raw value, in double precision, of each candidate among the training rows.
  ///   values  [count]
  void (*double_chains)(const DoubleCandidates&, double* values);

  /// Does the same for several queries with one list.
  ///   queries, query_stride  their number; they are `query_stride` apart, from c.query on
  ///   values                 [queries, count], rows `stride` apart
  void (*shared_double_chains)(const DoubleCandidates& c, std::size_t queries, std::size_t query_stride,
                               double* values, std::size_t stride);

  /// Sorts different keys. Returns false, and does nothing, if they are so many, or the instruction set is
  /// such, that another sort takes less time.
  bool (*sort_few)(std::uint64_t* keys, std::size_t count);
};

const Kernels& kernels_baseline();
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
const Kernels& kernels_neon();

/// Are `propose` on matrix units, for quantized rows of 16-bit floats and of bytes. They exist only if the
/// compiler supports these, and only processors with them may run them.
void propose_bf16(const Products& products);
void propose_int8_amx(const Products& products);

/// Are `propose` for quantized rows of bytes: with dot products of bytes (AVX-512 VNNI); with AVX2, for
/// queries whose bytes are at most most_byte_avx2; and with 16-bit numbers, for queries with any bytes; with
/// dot products of bytes (Armv8.2).
void propose_int8_vnni(const Products& products);
void propose_int8_avx2(const Products& products);
void propose_int8_wide_avx2(const Products& products);
void propose_int8_neon(const Products& products);
inline constexpr int most_byte = 127, most_byte_avx2 = 63;

}  // namespace kith::cpu
