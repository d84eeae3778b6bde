// The inner loops of the CPU back end, as the rest of it sees them. They are compiled once for each
// instruction set (kernels_source.hpp). Only plain data and function pointers stand here: an inline
// function compiled for a newer processor must never be picked by the linker for an older one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/steps/shortlist.hpp"
#include "kith/metric.hpp"

namespace kith::cpu {

/// Rows a block of queries and of training rows (spi/memory.hpp, RowBlocks).
inline constexpr std::size_t query_block = 8, train_block = 16;

/// Rows of a leaf, and boxes of a box (spi/boxes.hpp).
inline constexpr std::size_t leaf_rows = 32;

/// Rows a block of quantized rows of bytes (quantized_order.hpp), and dimensions that stand side by side.
inline constexpr std::size_t byte_query_block = 4, byte_train_block = 16, byte_dims = 4;

/// What one task compares, both sides in RowBlocks layout.
struct Operands {
  Metric metric;
  const float* queries;  ///< row 0 of the memory
  const float* train;
  std::size_t dims;
  std::size_t query_begin, query_end;  ///< rows of the memory
  std::size_t train_begin, train_end;
};

/// Training rows listed for one query.
struct Candidates {
  Metric metric;
  const float* query;  ///< its value in column 0; the next column is query_block further
  const float* train;  ///< row 0 of the memory
  std::size_t block;   ///< of its rows: train_block, or 1 where they lie one behind the other
  std::size_t dims;
  const std::uint32_t* rows;
  std::uint32_t row_offset;  ///< what makes a row of the memory of a listed one, modulo 2^32
  std::size_t count;
};

/// Terms of training rows (spi::RowTerm), and the largest of all queries of a step.
struct RowTerms {
  const float *half_norm, *norm, *quantized_norm, *residual;
  std::size_t count;
  double largest_norm, largest_error, largest_quantized_norm;  ///< neither 0 nor infinite
  double chain;  ///< of inner products: what a chain may be off, for norms of 1
  double tiny;   ///< what underflow may add
  bool squares;  ///< distances are squared, else inner products
};

/// Quantized rows that one task multiplies and tests, in the order that prepare gave them; rows by their
/// places in the grids of the step, which begin at a multiple of spi::quantized_block_rows.
/// docs/certificate.md, section 4.
struct Products {
  const void* queries;  ///< row 0 of the grid
  const void* train;
  std::size_t dims;
  std::size_t query_begin, query_end;
  std::size_t train_begin, train_end;
  const float* low;        ///< of the training rows; those of whole blocks may be read
  const float* threshold;  ///< of the queries, threshold_stride apart
  std::size_t threshold_stride;
  std::uint32_t first_row;  ///< the number of training row 0
  std::uint32_t* rows;      ///< lists of the queries, rows_stride apart
  std::size_t rows_stride, capacity;
  std::uint32_t* counts;  ///< of the queries, counts_stride apart; other tasks add to them, too
  std::size_t counts_stride;
  // Bounds of what is listed, spi::Bounds, beside it; null: not wanted.
  float* lows;
  std::size_t lows_stride;
  std::uint64_t* highs;
  std::size_t highs_stride;
  const float* gap;   ///< of the training rows: from low to what is above
  std::size_t pitch;  ///< elements of a quantized row
  float unscale;      ///< int8: makes products of scaled rows those of rows
};

/// Smallest distance and sum, as a pair, of 16 queries to one class (spi.hpp, AccumulateStep).
struct ClassSums {
  float smallest[16], high[16], low[16];
};

struct Kernels {
  /// Write the raw value of each pair.
  ///   out  element (query_begin, train_begin); rows are `stride` apart
  void (*distance)(const Operands&, float* out, std::size_t stride);

  /// Append the pairs that may be among the k nearest to their query's list.
  ///   row_offset  what makes a training row of a row of the memory, modulo 2^32
  ///   lists       one a query; list 0 belongs to query_begin
  void (*nearest)(const Operands&, std::uint32_t row_offset, Shortlists& lists);

  /// Append those of `count` values that may be among the k smallest.
  void (*filter)(const float* values, std::size_t count, std::uint32_t first_row, Shortlists& lists,
                 std::size_t list);

  /// Write the row numbers of those of `count` values that are at most `threshold`, ascending.
  ///   first_row  of the first value
  ///   kept       [count]
  /// Returns how many there are.
  std::size_t (*collect)(const float* values, std::size_t count, float threshold, std::uint32_t first_row,
                         std::uint32_t* kept);

  /// Write the raw value of each candidate.
  ///   values  [count]
  void (*rerank)(const Candidates&, float* values);

  /// What products of rows are taken from, and how far what is above lies from that.
  ///   low, gap  [count]
  void (*bound_rows)(const RowTerms&, float* low, float* gap);

  /// Append the pairs with low - product <= threshold, of quantized rows in single precision, and what bounds
  /// them.
  void (*propose)(const Products&);

  /// Add columns of distances to the sums of 16 queries.
  ///   distances  [columns, 16]
  void (*accumulate)(const float* distances, std::size_t columns, ClassSums& sums);

  /// The raw values of a query and the rows of a leaf; returns bits of those that are at most `most`.
  ///   query   [dims]
  ///   rows    [dims, leaf_rows]
  ///   values  [leaf_rows]
  std::uint32_t (*leaf)(Metric metric, const float* query, const float* rows, std::size_t dims, float most,
                        float* values);

  /// The same of the gaps between a query and boxes: spi::Boxes.
  ///   bounds  [2, dims, leaf_rows]
  ///   values  [leaf_rows]
  std::uint32_t (*gaps)(Metric metric, const float* query, const float* bounds, std::size_t dims, float most,
                        float* values);
};

const Kernels& kernels_baseline();
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();

/// `propose` of quantized rows of 16-bit floats, by matrix units; only where the compiler and the processor
/// have them.
void propose_bf16(const Products& products);

/// `propose` of quantized rows of bytes, by dot products of bytes (AVX-512 VNNI), where there are such, or by
/// AVX2, for which those of queries are at most most_byte_avx2, or by 16 bits, for which they are any.
void propose_int8_vnni(const Products& products);
void propose_int8_avx2(const Products& products);
void propose_int8_wide_avx2(const Products& products);
inline constexpr int most_byte = 127, most_byte_avx2 = 63;

}  // namespace kith::cpu
