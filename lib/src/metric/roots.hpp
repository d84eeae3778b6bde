// Correctly rounded roots of sums of powers (docs/contract.md, section 1).
#pragma once

#include <cmath>

namespace kith {

/// Returns whether minkowski has such a p: a number of halves, of which kernels have 16 powers.
inline bool is_power(double p) {
  return p > 0 && p <= 8 && 2 * p == std::floor(2 * p);
}

/// Returns s to the power 2 / halves, rounded once to nearest: the root of a sum of powers of halves / 2.
/// Must run under FloatGuard.
///   s       0 or more; +infinity and NaN stay
///   halves  1 ... 16
float rounded_root(float s, int halves);
double rounded_root(double s, int halves);

}  // namespace kith
