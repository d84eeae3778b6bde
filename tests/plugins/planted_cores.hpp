// Computes the proposer fp16 of `planted` in plain loops: quantized rows of 16-bit floats, stored row by row,
// and products by a simulated tensor core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/quantized/tensor_core.hpp"
#include "kith/spi.hpp"
#include "planted_memory.hpp"

namespace {

/// Returns the bits of the 16-bit float nearest to a number below 2^15.
inline std::uint16_t to_half(float value) {
  constexpr int least_exponent = -14, places = 10;
  const int exponent = value == 0 ? least_exponent : std::max(std::ilogb(value), least_exponent);
  // The significand is at least 2^places, or less if subnormal.
  const long whole = std::lrint(std::ldexp(std::fabs(value), places - exponent));
  const long bits = static_cast<long>(exponent - least_exponent) * (1 << places) + whole;
  return static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000 : 0));
}

inline float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, places = bits & 1023;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(places), -24)
                                   : std::ldexp(static_cast<float>(places + 1024), exponent - 25);
  return bits & 0x8000 ? -size : size;
}

/// Returns row r of the quantized rows.
inline std::uint16_t* half_row(const kith::spi::Grid<float>& rows, std::size_t r) {
  const std::size_t pitch = kith::spi::quantized_columns(kith::Proposer::fp16, rows.cols);
  return reinterpret_cast<std::uint16_t*>(static_cast<HostMemory*>(rows.memory)->cells.data()) +
         (rows.first + r) * pitch;
}

/// Returns the product of a quantized query and a quantized training row.
inline float core_product(const kith::tests::TensorCore& core, const kith::spi::CollectStep& s, std::size_t q,
                          std::size_t t) {
  const std::uint16_t *const a = half_row(s.queries.rows, q), *const b = half_row(s.train.rows, t);
  return s.unscale * core.product([a](std::size_t d) { return from_half(a[d]); },
                                  [b](std::size_t d) { return from_half(b[d]); }, s.train.rows.cols);
}

/// Returns the training row at a place of a step. If there is none, the result is not below the number
/// of rows.
inline std::size_t row_of_place(const kith::spi::Visits& visits, std::size_t place) {
  if (visits.rows == 0) return place;
  const std::uint64_t visit = visits.first + place / visits.rows;
  return visit * visits.stride % visits.blocks * visits.rows + place % visits.rows;
}

}  // namespace
