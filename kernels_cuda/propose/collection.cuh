// The arguments of the collect kernels: docs/certificate.md, section 4.
// No twin in kernels_cl: kernels of OpenCL take memory and places as arguments.
#pragma once

#include "common/common.cuh"
#include "prepare/half_shape.hpp"
#include "propose/collect.hpp"

namespace kith::cuda {

/// Where the training rows of a step are, in tiles of 128 (spi::Visits): visit v reads block v * stride %
/// blocks, which is `a_visit` tiles long. Rows that are read in order are one visit to the only block.
struct Tiles {
  std::uint32_t a_visit;  ///< number of tiles of a visit
  std::uint32_t first;    ///< number of the first visit
  std::uint32_t blocks;
  std::uint32_t stride;
};

inline Tiles tiles_of(const spi::CollectStep& step) {
  const spi::Visits& visits = step.visits;
  if (visits.rows == 0) return {0xFFFFFFFFu, 0, 1, 1};
  return {visits.rows / tile_of_halves, visits.first, visits.blocks, visits.stride};
}

/// The terms that bounds of products are computed from.
struct ProductBound {
  bool squared;                     ///< the metric has squared distances; otherwise it has inner products
  Matrix<const float> query_terms;  ///< [4, queries]
  Matrix<const float> train_terms;  ///< [4, rows]
  std::uint32_t queries;
  std::uint32_t rows;     ///< number of rows that have row terms
  std::uint32_t columns;  ///< places of the step, one for each row; with visits rounded up to whole tiles
  std::uint32_t dims;     ///< at most product_max_dims
  double b;               ///< error of a product, relative to the product of both norms
  Tiles tiles;
  bool exact;  ///< products and half norms are exact: E is 0
  float gap_share;
};

inline ProductBound bound_of(const spi::CollectStep& step) {
  return {sums_squares(step.metric),
          input_of(step.queries.row_terms),
          input_of(step.train.row_terms),
          count_of(step.values.rows),
          count_of(step.train.rows.rows),
          places_of(step),
          count_of(step.train.rows.cols),
          step.b,
          tiles_of(step),
          spi::is_exact(step),
          step.gap_share};
}

/// Points at what collect_low() writes to scratch for each place of a step: the values from which products
/// are subtracted, and the gap between lower and upper bounds.
struct ProductLow {
  const float* low;  ///< [columns]  NaN if there is no row
  const float* gap;  ///< [columns]  null: not needed
  const int* lift;   ///< [columns]  for int8 (lifted.cuh); else null
};

/// Returns where collect_low() writes these values.
ProductLow low_of(const spi::CollectStep& step);

/// Lists of candidates with the bounds of each.
struct BoundedLists {
  Lists<std::uint32_t> lists;
  Matrix<float> low;  ///< [queries, capacity]  data null: no bounds
  Matrix<Key> high;   ///< [queries, capacity]
};

inline BoundedLists bounded_lists_of(const spi::CandidateLists& lists, const spi::Bounds& bounds) {
  return {lists_of<std::uint32_t>(lists), matrix_of(bounds.low), matrix_of(bounds.high)};
}

/// The arguments of kernels that never write products.
struct HalfCollection {
  const void* queries;  ///< quantized rows [rows, dims], as prepare_fp16() or prepare_bytes() makes them
  const void* train;    ///< quantized rows of all training rows
  std::uint32_t rows;
  std::uint32_t columns;  ///< places of the step, in whole tiles; some may be behind `train_rows`
  std::uint32_t train_rows;
  Tiles tiles;
  std::uint32_t dims;
  float unscale;  ///< turns products of quantized rows into those of the rows; for fp16 a power of two
  ProductLow from;
  Matrix<const float> threshold;  ///< [rows, 1]
  std::uint32_t first_row;        ///< training row of row 0 of `train`
  BoundedLists out;
  Matrix<std::uint32_t> sample;  ///< [rows, columns / sample_rows]  data null: candidates are listed instead
};

/// Returns the arguments of a step. `from` is empty if kernels compute `low` themselves.
inline HalfCollection collection_of(const spi::CollectStep& step, const ProductLow& from = {}) {
  return {quantized_of(spi::proposer_of_queries(step.proposer), step.queries.rows),
          quantized_of(step.proposer, step.train.rows),
          count_of(step.values.rows),
          places_of(step),
          count_of(step.train.rows.rows),
          tiles_of(step),
          count_of(step.train.rows.cols),
          step.unscale,
          from,
          input_of(step.threshold),
          step.first_row,
          bounded_lists_of(step.out, step.bounds),
          step.sample.cols > 0 ? matrix_of(step.sample) : Matrix<std::uint32_t>{}};
}

}  // namespace kith::cuda
