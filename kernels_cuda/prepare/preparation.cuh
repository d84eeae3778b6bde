// The arguments of the prepare kernels.
// No twin in kernels_cl: kernels of OpenCL take memory and places as arguments.
#pragma once

#include "common/common.cuh"
#include "prepare/half_shape.hpp"

namespace kith::cuda {

struct Preparation {
  Rows rows;
  const float* centre;      ///< [dims]
  Matrix<float> quantized;  ///< [rows.rows, rows.dims]
  Matrix<float> row_terms;  ///< [4, rows.rows]
  bool half_norms_only;     ///< only half norms are written to row_terms
  Matrix<float> copy;       ///< [rows.rows, rows.dims], a copy of the rows; data is null if none is made
};

/// Returns the arguments for quantized rows that are written row by row.
inline Preparation preparation_of(const spi::PrepareStep& step) {
  return {rows_of(step.rows),           input_of(step.centre).data,
          matrix_of(step.out.rows),     matrix_of(step.out.row_terms),
          step.out.row_terms.rows == 1, matrix_of(step.copy)};
}

/// Returns the arguments for quantized rows for tensor cores, from their first place on. They have no stride.
inline Preparation preparation_of_lines(const spi::PrepareStep& step) {
  Preparation preparation = preparation_of(step);
  preparation.quantized = {static_cast<float*>(quantized_of(step.proposer, step.out.rows)), 0};
  return preparation;
}

}  // namespace kith::cuda
