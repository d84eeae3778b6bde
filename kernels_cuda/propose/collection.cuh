// A step of collect as its kernels take it: docs/certificate.md, section 4.
// No twin in kernels_cl: kernels of OpenCL take memory and places as arguments.
#pragma once

#include "common/common.cuh"
#include "prepare/half_shape.hpp"
#include "propose/collect.hpp"

namespace kith::cuda {

/// Where the training rows of a step lie, 128 at a time (spi::Visits): visit v is of block v * stride %
/// blocks, `a_visit` tiles long. Rows in their order are one visit to the only block.
struct Tiles {
  std::uint32_t a_visit;  ///< tiles of a visit
  std::uint32_t first;    ///< number of the first visit
  std::uint32_t blocks;
  std::uint32_t stride;
};

inline Tiles tiles_of(const spi::CollectStep& step) {
  const spi::Visits& visits = step.visits;
  if (visits.rows == 0) return {0xFFFFFFFFu, 0, 1, 1};
  return {visits.rows / tile_of_halves, visits.first, visits.blocks, visits.stride};
}

/// What the bound of a product is made of.
struct ProductBound {
  bool squared;                     ///< squared distances; else inner products
  Matrix<const float> query_terms;  ///< [4, queries]
  Matrix<const float> train_terms;  ///< [4, rows]
  std::uint32_t queries;
  std::uint32_t rows;     ///< that row terms are of
  std::uint32_t columns;  ///< places: rows of the step, one for each column; of whole tiles with visits
  std::uint32_t dims;     ///< at most product_max_dims
  double b;               ///< error of a product, a unit of both norms
  Tiles tiles;
  bool exact;  ///< products and half norms are: E is 0
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
/// are subtracted, and how far the lower and the upper bound are apart.
struct ProductLow {
  const float* low;  ///< [columns]  NaN where there is no row
  const float* gap;  ///< [columns]  null: not wanted
  const int* lift;   ///< [columns]  of int8, for lifted.cuh; else null
};

/// Where collect_low() puts them.
ProductLow low_of(const spi::CollectStep& step);

/// Lists with what bounds say of each candidate.
struct BoundedLists {
  Lists<std::uint32_t> lists;
  Matrix<float> low;  ///< [queries, capacity]  data null: no bounds
  Matrix<Key> high;   ///< [queries, capacity]
};

inline BoundedLists bounded_lists_of(const spi::CandidateLists& lists, const spi::Bounds& bounds) {
  return {lists_of<std::uint32_t>(lists), matrix_of(bounds.low), matrix_of(bounds.high)};
}

/// Where products are never written.
struct HalfCollection {
  const void* queries;  ///< quantized rows [rows, dims], as of prepare_fp16() or prepare_int8()
  const void* train;    ///< quantized rows of all training rows
  std::uint32_t rows;
  std::uint32_t columns;  ///< places of the step, whole tiles; tiles behind `train_rows` are not in memory
  std::uint32_t train_rows;
  Tiles tiles;
  std::uint32_t dims;
  float unscale;  ///< makes products of the quantized rows those of the rows; of fp16 a power of two
  ProductLow from;
  Matrix<const float> threshold;  ///< [rows, 1]
  std::uint32_t first_row;        ///< training row of row 0 of `train`
  BoundedLists out;
  Matrix<std::uint32_t> sample;  ///< [rows, columns / sample_rows]  data null: candidates are listed
};

/// `from`: empty where kernels make `low` on the way.
inline HalfCollection collection_of(const spi::CollectStep& step, const ProductLow& from = {}) {
  return {quantized_of(step.proposer, step.queries.rows),
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
