// Sums the distances between classes over samples, on the host in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kith/structure.hpp"

namespace kith {

/// Holds a sum as a pair of doubles: the second keeps the rounding errors of the first. It uses TwoSum
/// (Knuth), as spi::AccumulateStep does. Needs a FloatGuard.
struct PairSum {
  double high = 0, low = 0;

  void add(double x) {
    const double sum = high + x, part = sum - high;
    if (std::isfinite(sum)) low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  double value() const { return high + low; }
};

/// Adds the sums of samples to those of pairs of classes A <= B. docs/contract.md, section 11.
class ClassPairs {
 public:
  ///   sizes       [classes]  samples of each class
  ///   arithmetic  of the distances
  ClassPairs(std::vector<std::int64_t> sizes, Arithmetic arithmetic);

  /// Adds samples. Those of each class must ascend, within a call and from call to call.
  ///   codes      [count]           the class of each
  ///   high, low  [count, classes]  sums of its distances, of float or double
  template <class Real>
  void add(std::span<const std::uint32_t> codes, const Real* high, const Real* low, std::uint32_t threads);

  ClassMatrix matrix() const;

 private:
  std::vector<std::int64_t> sizes_;
  Arithmetic arithmetic_;
  std::vector<PairSum> sums_;  ///< [classes, classes], A <= B only
};

}  // namespace kith
