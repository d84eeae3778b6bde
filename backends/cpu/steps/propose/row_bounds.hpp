// Computes the values from which products are subtracted, and the gaps to the upper bounds:
// docs/certificate.md, section 4. Only kernels_source.hpp includes this. Its loops have no branches, so that
// they vectorise.
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Returns a float that is at least `value`, or slightly more. The value is neither NaN nor below all floats.
inline float float_at_least(double value) {
  return static_cast<float>(value + (__builtin_fabs(value) * 0x1p-23 + 0x1p-149));
}

/// The factors of the error cover the rounding errors of its computation. A norm may be +infinity, but
/// nothing is multiplied by 0, so that `low` is -infinity then.
template <bool squares>
void bound_rows_by(const RowTerms& of, float* __restrict low, float* __restrict gap) {
  const float *const halves = of.half_norm, *const norms = of.norm;
  const float *const lengths = of.quantized_norm, *const residuals = of.residual;
  const double largest_norm = of.largest_norm, largest_error = of.largest_error, chain = of.chain;
  const double tiny = of.tiny, beside = 1 + of.largest_quantized_norm;
  const std::size_t count = of.count;
  for (std::size_t t = 0; t < count; ++t) {
    const auto norm = static_cast<double>(norms[t]), length = static_cast<double>(lengths[t]);
    const auto residual = static_cast<double>(residuals[t]);
    const double off = squares ? residual : residual + chain * norm;
    const double error =
        (largest_norm * off + largest_error * length + tiny * (beside + length)) * (1 + 0x1p-20);
    const float below = -float_at_least(squares ? error - static_cast<double>(halves[t]) : error);
    const double most = squares ? norm * norm / 2 + error : error;
    low[t] = below;
    gap[t] = float_at_least((most - static_cast<double>(below)) * (1 + 0x1p-20));
  }
}

void bound_rows(const RowTerms& of, float* low, float* gap) {
  of.squares ? bound_rows_by<true>(of, low, gap) : bound_rows_by<false>(of, low, gap);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
