// tighten by bounds: computes the threshold from the k-th smallest bound of the listed candidates
// (nth_element), O(candidates).
#include <limits>

#include "cpu/steps/propose/tighten.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// Returns the threshold for rows whose chain is at most that of a row with upper bound `high`.
float threshold_of(const spi::TightenByBoundsStep& step, float high, std::size_t q) {
  const ThresholdTerms terms(step.proposer, step.metric, step.dims);
  if (!terms.squares) return high;
  if (!terms.bounded) return std::numeric_limits<float>::infinity();
  const double reach = static_cast<double>(high), norm = row_term_of(step.query_terms, spi::norm, q),
               square = norm * norm;
  // A dozen roundings in double precision are far below 2^-48 of the largest operand.
  return float_above((reach * (1 + terms.g) + terms.g * square + terms.tiny) / (1 - terms.g) +
                     (std::fabs(reach) + square) * 0x1p-48);
}

std::size_t bytes_a_thread(const spi::TightenByBoundsStep& step) {
  return std::max<std::size_t>(step.highs.cols, 1) * sizeof(Key);
}

}  // namespace

spi::Support check(const spi::TightenByBoundsStep& step, const Resources& with) {
  return {refusal_of_bound(step.proposer, with), with.team * bytes_a_thread(step)};
}

void run(const spi::TightenByBoundsStep& step, const Resources& with) {
  const std::size_t m = step.threshold.rows, capacity = step.highs.cols;
  if (m == 0) return;
  const ScratchParts scratch(spi::TightenByBoundsStep::name, step.scratch, bytes_a_thread(step), with.team);
  run_team(m, work_of_lists(step.counts, capacity), scratch.team(), [&](std::size_t q, std::size_t thread) {
    const std::uint32_t count = elements(step.counts)[q * step.counts.stride];
    if (count > capacity) elements(step.lost)[q * step.lost.stride] = 1;
    const std::size_t listed = std::min<std::size_t>(count, capacity);
    if (listed < step.k) return;
    Key* const keys = scratch.of<Key>(thread);
    std::copy_n(elements(step.highs) + q * step.highs.stride, listed, keys);
    std::nth_element(keys, keys + step.k - 1, keys + listed);
    float& threshold = elements(step.threshold)[q * step.threshold.stride];
    threshold = std::min(threshold, threshold_of(step, value_of(keys[step.k - 1]), q));
  });
}

spi::Support check(const spi::TightenBySampleStep&, const Resources&) {
  return {"it takes no samples", 0};
}

void run(const spi::TightenBySampleStep& step, const Resources& with) {
  const std::string refusal = check(step, with).refusal;
  if (!refusal.empty()) throw Error(Errc::unsupported, "cpu: " + refusal);
}

}  // namespace kith::cpu
