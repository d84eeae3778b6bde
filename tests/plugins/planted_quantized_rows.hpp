// Computes the proposers gemm and fp16 of `planted` in plain loops, with bounds in long
// double: docs/certificate.md.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kith/spi.hpp"
#include "planted_cores.hpp"
#include "planted_memory.hpp"

namespace {

using Real = long double;

inline float not_below(Real value) {
  const auto nearest = static_cast<float>(value);
  return nearest < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity()) : nearest;
}

inline float not_above(Real value) {
  return -not_below(-value);
}

/// Returns the error of dims + 2 successive roundings: (dims + 2) u / (1 - (dims + 2) u).
inline Real relative_error(std::size_t dims) {
  const Real steps = (static_cast<Real>(dims) + 2) * 0x1p-24L;
  return steps / (1 - steps);
}

/// Returns the size of a quantized element, of which row terms are bounds.
inline Real size_of(const kith::spi::PrepareStep& s, float kept) {
  return s.proposer == kith::Proposer::gemm
             ? Real{kept}
             : static_cast<Real>(kith::tests::aligned_size(static_cast<double>(kept) * s.scale)) / s.scale;
}

/// Stores an element in the quantized rows, and returns its rounded value.
inline float keep(const kith::spi::PrepareStep& s, std::uint32_t r, std::uint32_t d, float moved) {
  if (s.proposer == kith::Proposer::gemm) return row_of_grid(s.out.rows, r)[d] = moved;
  std::uint16_t& half = half_row(s.out.rows, r)[d];
  half = to_half(s.scale * moved);
  return from_half(half) / s.scale;
}

inline void prepare(const kith::spi::PrepareStep& s) {
  namespace spi = kith::spi;
  for (std::uint32_t r = 0; r < s.rows.rows; ++r) {
    Real moved = 0, quantized = 0, residual = 0;
    for (std::uint32_t d = 0; d < s.rows.dims; ++d) {
      const float x = element(s.rows, r, d), c = row_of_grid(s.centre, 0)[d], rounded = x - c;
      const float taken = x - rounded;
      const Real error = (x - (rounded + taken)) - (c - taken);  // the error of the subtraction (TwoSum)
      const float kept = keep(s, r, d, rounded);
      moved += (rounded + error) * (rounded + error);
      quantized += size_of(s, kept) * size_of(s, kept);
      const Real off = Real{rounded} - kept + error;
      residual += off * off;
      if (s.copy.rows > 0) row_of_grid(s.copy, r)[d] = x;
    }
    const Real above = 1 + 0x1p-40L;
    row_of_grid(s.out.row_terms, spi::half_norm)[r] = not_above(moved / 2 / above);
    row_of_grid(s.out.row_terms, spi::norm)[r] = not_below(std::sqrt(moved) * above);
    row_of_grid(s.out.row_terms, spi::quantized_norm)[r] = not_below(std::sqrt(quantized) * above);
    row_of_grid(s.out.row_terms, spi::residual)[r] = not_below(std::sqrt(residual) * above);
  }
}

/// Multiplies the quantized rows, with operands cut to `kept_bits` of 24 bits.
inline void multiply(const kith::spi::CollectStep& s, int kept_bits) {
  const std::uint32_t mask = ~0u << (24 - kept_bits);
  const auto cut = [mask](float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & mask); };
  for (std::size_t q = 0; q < s.values.rows; ++q)
    for (std::size_t t = 0; t < s.values.cols; ++t) {
      float sum = 0;
      for (std::size_t d = s.train.rows.cols; d-- > 0;)
        sum = std::fma(cut(row_of_grid(s.queries.rows, q)[d]), cut(row_of_grid(s.train.rows, t)[d]), sum);
      row_of_grid(s.values, q)[t] = sum;
    }
}

/// The product is subtracted from `low`; `gap` is how far the upper bound lies above the lower one.
struct Bounding {
  float low, gap;
};

inline Bounding bounding_of(const kith::spi::CollectStep& s, std::size_t t) {
  namespace spi = kith::spi;
  const std::size_t dims = s.train.rows.cols;
  const bool squares = kith::sums_squares(s.metric);
  Real norm = 0, error = 0, quantized_norm = 0;
  for (std::size_t q = 0; q < s.values.rows; ++q) {
    const Real quantized = row_of_grid(s.queries.row_terms, spi::quantized_norm)[q];
    const Real residual = row_of_grid(s.queries.row_terms, spi::residual)[q];
    norm = std::max(norm, Real{row_of_grid(s.queries.row_terms, spi::norm)[q]});
    error = std::max(error, residual + s.b * quantized);
    quantized_norm = std::max(quantized_norm, quantized);
  }
  const Real quantized = row_of_grid(s.train.row_terms, spi::quantized_norm)[t];
  const Real own = row_of_grid(s.train.row_terms, spi::norm)[t];
  const Real chain = squares ? 0 : relative_error(dims) * own;
  const Real residual = row_of_grid(s.train.row_terms, spi::residual)[t] + chain;
  const Real underflow =
      static_cast<Real>(dims) * 0x1p-120L * (1 + quantized_norm + quantized) * (squares ? 1 : 2);
  const Real all = (norm * residual + error * quantized + underflow) * (1 + 0x1p-20L);
  const Real low = squares ? row_of_grid(s.train.row_terms, spi::half_norm)[t] - all : -all;
  const float rounded = not_above(low);
  return {rounded, not_below(((squares ? own * own / 2 : 0) + all - rounded) * (1 + 0x1p-20L))};
}

/// Returns the upper bound of a candidate, from the value that was compared with the threshold.
inline kith::Key high_of(float low, float gap, std::uint32_t row) {
  return kith::make_key(not_below((Real{low} + gap) + std::fabs(low) * 0x1p-22L), row);
}

inline float threshold_of(const kith::spi::TightenStep& s, std::size_t q, float worst) {
  if (s.proposer == kith::Proposer::none || !kith::sums_squares(s.metric)) return worst;
  const Real half = (worst + s.dims * 0x1p-149L) / (1 - relative_error(s.dims)) / 2;
  return not_below((half - row_of_grid(s.query_terms, kith::spi::half_norm)[q]) * (1 + 0x1p-60L) +
                   half * 0x1p-60L);
}

inline float threshold_of(const kith::spi::TightenByBoundsStep& s, std::size_t q, float high) {
  if (!kith::sums_squares(s.metric)) return high;
  const Real g = relative_error(s.dims), own = row_of_grid(s.query_terms, kith::spi::norm)[q];
  return not_below((high * (1 + g) + g * own * own + s.dims * 0x1p-149L) / (1 - g) +
                   std::fabs(high) * 0x1p-60L);
}

}  // namespace
