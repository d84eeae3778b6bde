// The additions of `accumulate`, with one query per lane. Only kernels_source.hpp includes this, after
// its lanes.
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Adds one column by scalar arithmetic: a lane whose sum is infinite keeps its low part.
[[gnu::noinline]] inline void accumulate_column(const float* distances, ClassSums& sums) {
  for (int i = 0; i < 16; ++i) {
    const float x = distances[i] + 0.0f, before = sums.high[i];  // -0 becomes +0
    const float sum = before + x;
    if (x < sums.smallest[i]) sums.smallest[i] = x;
    sums.high[i] = sum;
    if (!__builtin_isfinite(sum)) continue;
    const float part = sum - before;
    sums.low[i] = sums.low[i] + ((before - (sum - part)) + (x - part));
  }
}

inline void accumulate(const float* distances, std::size_t columns, ClassSums& sums) {
  Lanes smallest = load(sums.smallest), high = load(sums.high), low = load(sums.low);
  for (std::size_t t = 0; t < columns; ++t, distances += 16) {
    const Lanes x = load(distances) + all(0.0f), sum = high + x;
    if (__builtin_expect(bits(at_most(fabs(sum), __FLT_MAX__)) != 0xFFFFu, 0)) {
      store(sums.smallest, smallest);
      store(sums.high, high);
      store(sums.low, low);
      accumulate_column(distances, sums);
      smallest = load(sums.smallest);
      high = load(sums.high);
      low = load(sums.low);
      continue;
    }
    const Lanes part = sum - high;
    low = low + ((high - (sum - part)) + (x - part));
    smallest = fmin(smallest, x);
    high = sum;
  }
  store(sums.smallest, smallest);
  store(sums.high, high);
  store(sums.low, low);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
