// What the steps that tighten share: docs/certificate.md, section 4.
#pragma once

#include <algorithm>
#include <string>

#include "cpu/steps/propose/bounds.hpp"
#include "cpu/steps/steps.hpp"

namespace kith::cpu {

/// Terms of the threshold that depend on the number of columns.
struct ThresholdTerms {
  bool squares;  ///< distances are squared; otherwise the threshold is the value itself
  double g;      ///< error of a chain and of a norm
  double tiny;   ///< error of underflow
  bool bounded;  ///< false: the error has no bound, so that any row may be near

  ThresholdTerms(Proposer proposer, Metric metric, std::uint32_t dims)
      : squares(proposer != Proposer::none && from_products(metric) != FromProducts::as_they_are) {
    g = spi::chain_error(dims);
    tiny = spi::chain_underflow(dims);
    bounded = g > 0 && g < 1;
  }
};

inline double row_term_of(const spi::Grid<float>& row_terms, spi::RowTerm which, std::size_t q) {
  return static_cast<double>(elements(row_terms)[which * row_terms.stride + q]);
}

/// Estimates the operations on lists, of which only the first `capacity` entries exist.
inline std::size_t work_of_lists(const spi::Grid<std::uint32_t>& counts, std::size_t capacity) {
  std::size_t work = counts.rows;
  for (std::size_t q = 0; q < counts.rows; ++q)
    work += std::min<std::size_t>(elements(counts)[q * counts.stride], capacity);
  return work * 8;
}

/// Returns why this CPU has no bound for a proposer; empty if it has one, and for none.
std::string refusal_of_bound(Proposer proposer, const Resources& with);

}  // namespace kith::cpu
