// The threshold, from the k-th best value or bound: docs/certificate.md, section 4.
#pragma once

#include <cmath>

#include "common/common.cuh"
#include "kith/spi/product_error.hpp"

namespace kith::cuda {

/// What the threshold is made of.
enum class Limit {
  value,    ///< the k-th value
  squared,  ///< what a product of quantized rows is compared with, of squared distances
  // Keys are bounds of all that is listed; counts stay, and so does the threshold where it was smaller.
  bound,            ///< the k-th value
  bound_of_square,  ///< of squared distances
};

/// What the kernels of tighten are given; by bounds `best` is not used, and of a sample neither are lists.
struct Tightening {
  Limit limit;
  std::uint32_t dims;  ///< of squares, at most product_max_dims
  std::uint32_t rows;
  std::uint32_t k;
  Matrix<const Key> keys;  ///< [rows, capacity]
  std::uint32_t capacity;
  Matrix<std::uint32_t> counts;     ///< [rows, 1]
  Matrix<Key> best;                 ///< [rows, k]
  Matrix<const float> query_terms;  ///< [4, rows], of squares
  Matrix<float> threshold;          ///< [rows, 1]
  Matrix<std::uint32_t> lost;       ///< [rows, 1]
  bool afresh;                      ///< as if best had held nothing
  bool guessed;                     ///< a threshold of chains that grows means lost, too
};

/// Whether the threshold is that of half a squared distance.
template <class Step>
bool is_of_squares(const Step& step) {
  return step.proposer != Proposer::none && sums_squares(step.metric);
}

/// Of a step by bounds what is not listed.
template <class Step>
Tightening tightening_by_bounds(const Step& step) {
  Tightening tightening{};
  tightening.limit = is_of_squares(step) ? Limit::bound_of_square : Limit::bound;
  tightening.dims = step.dims;
  tightening.rows = count_of(step.threshold.rows);
  tightening.k = step.k;
  tightening.query_terms = input_of(step.query_terms);
  tightening.threshold = matrix_of(step.threshold);
  return tightening;
}

/// What the threshold takes from the number of columns, made on the host.
struct LimitTerms {
  double eta;         // at least the error of underflow
  double g;           // at least, and hardly more
  double one_less_g;  // at most 1 - g, and hardly less
};

/// The threshold from the k-th best: not below what the theorem asks for.
__device__ __forceinline__ float threshold_of(const Tightening& tightening, const LimitTerms& terms,
                                              std::size_t q, Key last) {
  const float value = bound_value(last);
  if (tightening.limit == Limit::value || tightening.limit == Limit::bound || last == no_key) return value;
  const auto row_term_of = [&](std::uint32_t which) {
    return static_cast<double>(tightening.query_terms.data[which * tightening.query_terms.stride + q]);
  };
  if (tightening.limit == Limit::squared) {
    const double delta = __ddiv_ru(__dadd_ru(static_cast<double>(value), terms.eta), terms.one_less_g);
    return __double2float_ru(__dadd_ru(0.5 * delta, -row_term_of(spi::half_norm)));
  }
  // (S (1 + g) + g |q'|^2 + eta) / (1 - g). Its roundings, and those of g, are far below 2^-48 of the same
  // with |S|.
  const double norm = row_term_of(spi::norm), s = static_cast<double>(value);
  const double of_norm = terms.g * (norm * norm) + terms.eta, more = 1.0 + terms.g;
  const double sum = s * more + of_norm, slack = (fabs(s) * more + of_norm) * 0x1p-48;
  return __double2float_ru(__dadd_ru(sum / terms.one_less_g, slack / terms.one_less_g));
}

inline LimitTerms limit_terms(std::uint32_t dims) {
  const double g = spi::chain_error(dims);
  return {spi::chain_underflow(dims), g, std::nextafter(1.0 - g, 0.0)};
}

/// Whether keys are bounds of all that is listed; then counts stay.
__host__ __device__ constexpr bool is_bound(Limit limit) {
  return limit == Limit::bound || limit == Limit::bound_of_square;
}

/// What remains of a query when its best are known. By one thread, when no other reads the count any more.
__device__ __forceinline__ void settle(const Tightening& tightening, const LimitTerms& terms, std::size_t q,
                                       std::uint32_t count, Key last) {
  float* const threshold = tightening.threshold.data + q * tightening.threshold.stride;
  const float found = threshold_of(tightening, terms, q, last);
  if (is_bound(tightening.limit)) {
    *threshold = fminf(*threshold, found);
  } else {
    if (tightening.guessed && found > *threshold) tightening.lost.data[q * tightening.lost.stride] = 1;
    *threshold = found;
    tightening.counts.data[q * tightening.counts.stride] = 0;
  }
  if (count > tightening.capacity) tightening.lost.data[q * tightening.lost.stride] = 1;
}

/// A key with this code; of no code at all there is none.
__device__ __forceinline__ Key key_with(std::uint32_t code) {
  return static_cast<Key>(code) << 32;
}

/// What is left to do where nothing is listed.
__device__ __forceinline__ void lower_threshold(const Tightening& tightening, const LimitTerms& terms,
                                                std::size_t q, std::uint32_t code) {
  float* const threshold = tightening.threshold.data + q * tightening.threshold.stride;
  *threshold = fminf(*threshold, threshold_of(tightening, terms, q, key_with(code)));
}

}  // namespace kith::cuda
