// tighten: merges reranked candidates into the k best of each query; the k-th gives its new threshold.
//
// Only keys below the k-th of the best can change anything. The k smallest of these are found (nth_element),
// sorted, and merged with the best: O(candidates + s log s + k) for s such keys.
#include <algorithm>

#include "cpu/steps/propose/tighten.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// Merges `count` keys, in any order, into the k ascending keys of `best`.
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

/// Returns the threshold for candidates whose chain is at most `worst`: docs/certificate.md, section 4.
float threshold_of(const spi::TightenStep& step, float worst, std::size_t q) {
  const ThresholdTerms terms(step.proposer, step.metric, step.dims);
  if (!terms.squares) return worst;
  if (!terms.bounded) return std::numeric_limits<float>::infinity();
  const double half = (static_cast<double>(worst) + terms.tiny) / (1 - terms.g) / 2,
               half_norm = row_term_of(step.query_terms, spi::half_norm, q);
  return float_above(half - half_norm + (half + half_norm) * 0x1p-48);
}

std::size_t bytes_a_thread(const spi::TightenStep& step) {
  return (step.keys.cols + step.k) * sizeof(Key);
}

}  // namespace

std::string refusal_of_bound(Proposer proposer, const Resources& with) {
  const auto& has = with.proposers();
  if (proposer == Proposer::none || proposer == Proposer::gemm ||
      std::find(has.begin(), has.end(), proposer) != has.end())
    return "";
  return "there is no bound for proposer " + std::string(name(proposer)) +
         " on this CPU; choose none, gemm or dot";
}

spi::Support check(const spi::TightenStep& step, const Resources& with) {
  return {refusal_of_bound(step.proposer, with), with.team * bytes_a_thread(step)};
}

void run(const spi::TightenStep& step, const Resources& with) {
  const std::size_t m = step.best.rows, k = step.k, capacity = step.keys.cols;
  if (m == 0) return;
  const ScratchParts scratch(spi::TightenStep::name, step.scratch, bytes_a_thread(step), with.team);
  run_team(m, work_of_lists(step.counts, capacity), scratch.team(), [&](std::size_t q, std::size_t thread) {
    std::uint32_t& count = elements(step.counts)[q * step.counts.stride];
    Key* const best = elements(step.best) + q * step.best.stride;
    Key* const spare = scratch.of<Key>(thread);
    if (step.afresh) std::fill(best, best + k, no_key);
    if (count > 0)
      join(elements(step.keys) + q * step.keys.stride, std::min<std::size_t>(count, capacity), k, best, spare,
           spare + capacity);
    std::uint32_t& lost = elements(step.lost)[q * step.lost.stride];
    if (count > capacity) lost = 1;
    count = 0;
    float& limit = elements(step.threshold)[q * step.threshold.stride];
    const float threshold = threshold_of(step, value_of(best[k - 1]), q);
    if (step.guessed && threshold > limit) lost = 1;
    limit = threshold;
  });
}

}  // namespace kith::cpu
