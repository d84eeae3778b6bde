// Computes metrics of two sums again from docs/contract.md, section 1. A row of bits is one of zeros
// and ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "kith/metric.hpp"
#include "kith/spi.hpp"

namespace kith::tests {

/// Returns the quotient of whole numbers below 2^24: the double nearest to it is no middle of two floats
/// unless the quotient is, so that rounding twice is rounding once.
inline float whole_share(double over, double under) {
  return over == 0 ? 0.0f : static_cast<float>(over / under);
}

/// Returns the raw value of wide rows of bits. In long double the product is exact, and no quotient is so
/// near to a whole number from below that it becomes one.
inline float code_of_share(long double apart, long double all) {
  const long double code = apart == 0 ? 0 : std::floor(apart * 2139095038.0L / all);
  return std::bit_cast<float>(0xFF7FFFFFu - static_cast<std::uint32_t>(code));
}

/// Returns the raw value of a pair of rows of bits.
inline float share_of_bits(Metric metric, std::span<const float> query, std::span<const float> row) {
  double both = 0, apart = 0;
  const auto columns = static_cast<double>(query.size());
  for (std::size_t d = 0; d < query.size(); ++d) {
    if (query[d] == 1 && row[d] == 1) ++both;
    if (query[d] != row[d]) ++apart;
  }
  if (columns > (metric == Metric::sokalsneath ? 2896 : 4096) && metric != Metric::rogerstanimoto &&
      metric != Metric::russellrao)
    return code_of_share(apart, both + apart);
  switch (metric) {
    case Metric::jaccard:
      return whole_share(apart, both + apart);
    case Metric::dice:
      return whole_share(apart, 2 * both + apart);
    case Metric::sokalsneath:
      return whole_share(2 * apart, both + 2 * apart);
    case Metric::rogerstanimoto:
      return whole_share(2 * apart, columns + apart);
    case Metric::russellrao:
      return whole_share(columns - both, columns);
    default:
      return std::nanf("");
  }
}

/// Returns the raw value of a sum over the columns that two rows have in common; NaN if there are none. The
/// product of a float and a whole number below 2^24 is a long double, and its quotient is so near that
/// rounding it again rounds once.
inline float rescaled_sum(float s, long double common, std::size_t columns) {
  if (common == 0) return std::bit_cast<float>(spi::masked_bits);
  return static_cast<float>(static_cast<long double>(s) * static_cast<long double>(columns) / common);
}

/// Returns the raw value of a pair of rows of numbers with gaps.
inline float rescaled_of_pair(Metric metric, std::span<const float> query, std::span<const float> row) {
  float s = 0;
  long double common = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    if (std::isnan(query[d]) || std::isnan(row[d])) continue;
    const float t = query[d] - row[d];
    s = metric == Metric::nan_euclidean ? std::fma(t, t, s) : s + std::fabs(t);
    ++common;
  }
  return rescaled_sum(s, common, query.size());
}

/// Returns the raw value of a pair of rows of bits or of numbers.
inline float share_of_pair(Metric metric, std::span<const float> query, std::span<const float> row) {
  if (takes_gaps(metric)) return rescaled_of_pair(metric, query, row);
  if (metric != Metric::braycurtis) return share_of_bits(metric, query, row);
  float apart = 0, together = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    apart += std::fabs(query[d] - row[d]);
    together += std::fabs(query[d] + row[d]);
  }
  if (apart == 0) return 0;
  return together == 0 || std::isinf(apart) ? std::numeric_limits<float>::infinity() : apart / together;
}

}  // namespace kith::tests
