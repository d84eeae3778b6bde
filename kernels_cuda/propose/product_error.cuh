// Computes the error bound E of docs/certificate.md, section 4, and from it `low` and `gap` of a training
// row, each rounded to the safe side.
#pragma once

#include "kith/spi/product_error.hpp"
#include "propose/collection.cuh"

namespace kith::cuda {

/// Terms of E that depend on the number of columns, and the factor of `gap`. The host computes them.
struct ErrorTerms {
  double chain;  // for inner products: the error of the chain itself, relative to the product of both norms
  double tiny;   // what underflow may take from a product of rows of norm 0
  float gap_share;
};

inline ErrorTerms error_terms(const ProductBound& bound) {
  return {bound.squared ? 0 : spi::chain_error(bound.dims), spi::product_underflow(bound.dims, bound.squared),
          bound.gap_share};
}

/// The largest terms of the queries that E needs.
struct LargestOfQueries {
  float norm;            // A
  float error;           // B
  float quantized_norm;  // S
};

/// Returns residual + b quantized_norm of a query, rounded up.
__device__ __forceinline__ float query_error(float residual, double b, float quantized_norm) {
  const double of_product = __dmul_ru(b, static_cast<double>(quantized_norm));
  return __double2float_ru(__dadd_ru(static_cast<double>(residual), of_product));
}

/// Returns E of a training row. Its last factor covers the rounding errors.
__device__ __forceinline__ double row_error(const ErrorTerms& terms, const LargestOfQueries& largest,
                                            float residual, float norm, float quantized_norm) {
  const auto wide = [](float number) { return static_cast<double>(number); };
  const double apart = wide(residual) + terms.chain * wide(norm), length = wide(quantized_norm);
  return (wide(largest.norm) * apart + wide(largest.error) * length +
          terms.tiny * (1.0 + wide(largest.quantized_norm) + length)) *
         (1.0 + 0x1p-20);
}

/// Returns half_norm - E. For inner products pass half_norm as 0.
__device__ __forceinline__ float row_low(float half_norm, double error) {
  return __double2float_rd(__dsub_rd(static_cast<double>(half_norm), error));
}

/// Returns norm^2 / 2 + E - low, times gap_share. For inner products pass norm as 0.
__device__ __forceinline__ float row_gap(const ErrorTerms& terms, float norm, double error, double low) {
  const double above = __dmul_ru(0.5 * static_cast<double>(norm), static_cast<double>(norm));
  return __double2float_ru(__dmul_ru(__dsub_ru(__dadd_ru(above, error), low), terms.gap_share));
}

}  // namespace kith::cuda
