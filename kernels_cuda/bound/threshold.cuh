// Computes the threshold of a query from its k-th best value or bound: docs/certificate.md, section 4.
#pragma once

#include <cmath>

#include "common/common.cuh"
#include "kith/spi/product_error.hpp"

namespace kith::cuda {

/// What the threshold is computed from.
enum class Limit {
  value,    ///< the k-th raw value, which the chain computed
  squared,  ///< the k-th squared distance; the threshold is then compared with products of quantized rows
  // In the next two, keys are upper bounds of all listed rows. Counts do not change, and the threshold
  // never grows.
  bound,            ///< the k-th bound
  bound_of_square,  ///< the k-th bound of a squared distance
};

/// Arguments of the tighten kernels. With bounds `best` is not used; with a sample, lists are not
/// used either.
struct Tightening {
  Limit limit;
  std::uint32_t dims;  ///< at most product_max_dims for squared distances
  std::uint32_t rows;
  std::uint32_t k;
  Matrix<const Key> keys;  ///< [rows, capacity]
  std::uint32_t capacity;
  Matrix<std::uint32_t> counts;     ///< [rows, 1]
  Matrix<Key> best;                 ///< [rows, k]
  Matrix<const float> query_terms;  ///< [4, rows], only for squared distances
  Matrix<float> threshold;          ///< [rows, 1]
  Matrix<std::uint32_t> lost;       ///< [rows, 1]
  bool afresh;                      ///< ignores what `best` holds
  bool guessed;                     ///< a guessed threshold that grows marks its query as lost
};

/// Returns whether the threshold limits half of a squared distance.
template <class Step>
bool is_of_squares(const Step& step) {
  return step.proposer != Proposer::none && sums_squares(step.metric);
}

/// Fills in everything except the lists, for a step that uses bounds.
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

/// Terms of the threshold that depend only on the number of columns. The host computes them.
struct LimitTerms {
  double eta;         // an upper bound of the underflow error
  double g;           // an upper bound of g, and nearly equal to it
  double one_less_g;  // a lower bound of 1 - g, and nearly equal to it
};

/// Returns the threshold for the k-th best key `last`. It is never below what the theorem requires.
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
  // This is (S (1 + g) + g |q'|^2 + eta) / (1 - g). Its rounding errors, and those of g, are far below 2^-48
  // of the same expression with |S|.
  const double norm = row_term_of(spi::norm), s = static_cast<double>(value);
  const double of_norm = terms.g * (norm * norm) + terms.eta, more = 1.0 + terms.g;
  const double sum = s * more + of_norm, slack = (fabs(s) * more + of_norm) * 0x1p-48;
  return __double2float_ru(__dadd_ru(sum / terms.one_less_g, slack / terms.one_less_g));
}

inline LimitTerms limit_terms(std::uint32_t dims) {
  const double g = spi::chain_error(dims);
  return {spi::chain_underflow(dims), g, std::nextafter(1.0 - g, 0.0)};
}

/// Returns whether keys are bounds of all listed rows; counts then do not change.
__host__ __device__ constexpr bool is_bound(Limit limit) {
  return limit == Limit::bound || limit == Limit::bound_of_square;
}

/// Updates the query's threshold, count and mark `lost` once its k best are known. One thread calls this,
/// after the last read of the count.
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

/// Returns a key with this code. The code no_value makes no_key.
__device__ __forceinline__ Key key_with(std::uint32_t code) {
  return static_cast<Key>(code) << 32;
}

/// Lowers the threshold to that of the k-th code, where nothing is listed.
__device__ __forceinline__ void lower_threshold(const Tightening& tightening, const LimitTerms& terms,
                                                std::size_t q, std::uint32_t code) {
  float* const threshold = tightening.threshold.data + q * tightening.threshold.stride;
  *threshold = fminf(*threshold, threshold_of(tightening, terms, q, key_with(code)));
}

}  // namespace kith::cuda
