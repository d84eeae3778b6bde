// tighten: reranked candidates join the k best so far; the k-th of these bounds what is still near.
//
// Only keys before the k-th of the best can change anything. They are cut to the k smallest
// (nth_element), sorted, and merged with the best: O(candidates + s log s + k) for s such keys.
#include <algorithm>

#include "cpu/steps/propose/bounds.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// Merge `count` keys, in no order, into the k ascending keys of `best`.
///   nearer  [count]   merged  [k]
void join(const Key* keys, std::size_t count, std::size_t k, Key* best, Key* nearer, Key* merged) {
  const Key bound = best[k - 1];
  Key* end = std::copy_if(keys, keys + count, nearer, [bound](Key key) { return key < bound; });
  if (end == nearer) return;
  if (static_cast<std::size_t>(end - nearer) > k) {
    std::nth_element(nearer, nearer + k, end);
    end = nearer + k;
  }
  std::sort(nearer, end);
  const Key *left = best, *right = nearer;
  for (std::size_t j = 0; j < k; ++j) merged[j] = right == end || *left <= *right ? *left++ : *right++;
  std::copy(merged, merged + k, best);
}

/// What the shadow of a row may reach while its chain is not behind the row of which `worst` is known: its
/// chain, or a bound. docs/certificate.md, section 4.
float theta_of(const spi::TightenStep& step, float worst, std::size_t q) {
  if (step.proposer == Proposer::none || from_products(step.metric) == FromProducts::as_they_are)
    return worst;
  const double g = spi::chain_error(step.dims);
  if (!(g > 0 && g < 1)) return std::numeric_limits<float>::infinity();
  const auto fact = [&](spi::Fact which) {
    return static_cast<double>(elements(step.query_facts)[which * step.query_facts.stride + q]);
  };
  const double reach = static_cast<double>(worst), tiny = spi::chain_underflow(step.dims);
  // A dozen roundings in double precision are far below 2^-48 of the largest operand.
  if (step.of == spi::TightenStep::Of::bounds) {
    const double square = fact(spi::norm) * fact(spi::norm);
    return float_above((reach * (1 + g) + g * square + tiny) / (1 - g) +
                       (std::fabs(reach) + square) * 0x1p-48);
  }
  const double half = (reach + tiny) / (1 - g) / 2, half_norm = fact(spi::half_norm);
  return float_above(half - half_norm + (half + half_norm) * 0x1p-48);
}

std::size_t bytes_a_thread(const spi::TightenStep& step) {
  return (step.keys.cols + step.k) * sizeof(Key);
}

}  // namespace

spi::Support check(const spi::TightenStep& step, const Resources& with) {
  const auto& has = with.proposers();
  if (step.proposer != Proposer::none && step.proposer != Proposer::gemm &&
      std::find(has.begin(), has.end(), step.proposer) == has.end())
    return {"there is no bound for proposer " + std::string(name(step.proposer)) +
                " on this CPU; choose none, gemm or dot",
            0};
  if (step.proposer != Proposer::none && from_products(step.metric) == FromProducts::not_at_all)
    return {"metric " + std::string(name(step.metric)) +
                " does not follow from inner products; choose proposer none",
            0};
  if (step.of == spi::TightenStep::Of::sample) return {"it takes no samples", 0};
  return {{}, with.team * bytes_a_thread(step)};
}

void run(const spi::TightenStep& step, const Resources& with) {
  const std::size_t m = step.best.rows, k = step.k, capacity = step.keys.cols;
  if (m == 0) return;
  const bool bounds = step.of == spi::TightenStep::Of::bounds;
  const ScratchParts scratch(spi::TightenStep::name, step.scratch, bytes_a_thread(step), with.team);
  std::uint32_t* const counts = elements(step.counts);
  std::size_t work = m;
  for (std::size_t q = 0; q < m; ++q) work += std::min<std::size_t>(counts[q * step.counts.stride], capacity);
  run_team(m, work * 8, scratch.team(), [&](std::size_t q, std::size_t thread) {
    std::uint32_t& count = counts[q * step.counts.stride];
    Key* const best = elements(step.best) + q * step.best.stride;
    Key* const spare = scratch.of<Key>(thread);
    if (step.afresh || bounds) std::fill(best, best + k, no_key);
    if (count > 0)
      join(elements(step.keys) + q * step.keys.stride, std::min<std::size_t>(count, capacity), k, best, spare,
           spare + capacity);
    if (count > capacity) elements(step.lost)[q * step.lost.stride] = 1;
    if (!bounds) count = 0;
    const float theta = theta_of(step, value_of(best[k - 1]), q);
    float& limit = elements(step.theta)[q * step.theta.stride];
    if (step.guessed && !bounds && theta > limit) elements(step.lost)[q * step.lost.stride] = 1;
    limit = bounds ? std::min(limit, theta) : theta;
  });
}

}  // namespace kith::cpu
