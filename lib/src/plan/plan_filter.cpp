#include "plan/plan_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kith/spi/kernel_limits.hpp"
#include "plan/guess.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

constexpr std::int64_t word_bits = 32;
constexpr std::int64_t sampled_filters = 16;
constexpr std::int64_t one_in = 4;  // a smaller share would need lists more than four times as long
/// On an H100 a proposer scans 10^6 rows of 128 columns for 10^4 queries in 6 ms, and 3 % of the rows again
/// for a sample. If 1 % of the rows count, other plans take 22 ms, because they use the host. A CPU reads
/// those rows in place; with a quarter of the rows it is faster than with all.
constexpr std::int64_t one_in_on_gpu = 64;
/// So few excluded rows, such as removed duplicates, may all be near one query.
constexpr std::int64_t few_struck = 8;

std::int64_t kept_by(const std::uint32_t* words, std::int64_t n) {
  std::int64_t rows = 0;
  for (std::int64_t w = 0; w < n / word_bits; ++w) rows += std::popcount(words[w]);
  if (const auto rest = static_cast<std::uint32_t>(n % word_bits); rest != 0)
    rows += std::popcount(words[n / word_bits] & ((1u << rest) - 1));
  return rows;
}

}  // namespace

std::int64_t fewest_kept(MatrixView<const std::uint32_t> filters, std::int64_t n) {
  std::int64_t fewest = n;
  const std::int64_t samples = std::min(filters.rows(), sampled_filters);
  for (std::int64_t i = 0; i < samples; ++i)
    fewest = std::min(fewest, kept_by(filters.row(i * filters.rows() / samples), n));
  return fewest;
}

bool keeps_most(std::int64_t kept, std::int64_t n) {
  return kept >= n / one_in;
}

bool keeps_enough_to_mask(DeviceKind kind, std::int64_t kept, const Problem& problem) {
  const bool enough =
      kind == DeviceKind::gpu ? kept >= problem.n / one_in_on_gpu : keeps_most(kept, problem.n);
  return enough && kept >= careful_seed(problem.k, 0);
}

/// Lengthens the first step and the sample. The number of sampled rows that are nearer than the k-th row that
/// counts does not depend on how many rows count. But a sample has one bound per group, and only for groups
/// with rows that count. If these rows are stored together, such groups are as few as in a sample of these
/// rows alone.
void see_enough_that_count(std::int64_t kept, Plan& plan) {
  constexpr std::int64_t groups_a_rank = 4;  // with this many, few more rows pass (rank_of_all())
  const Problem& p = plan.problem;
  const double rows_a_row = static_cast<double>(p.n) / static_cast<double>(kept);
  const double seed = rows_a_row * static_cast<double>(careful_seed(p.k, plan.seed_rows));
  const auto whole = static_cast<std::int64_t>(std::min(std::ceil(seed), static_cast<double>(p.n)));
  plan.seed_rows = std::min(whole_quantized_blocks(whole), plan.train_tile);
  const auto is_enough = [&](std::int64_t sample) {
    const double groups = static_cast<double>(sample) / rows_a_row / spi::sample_rows;
    return static_cast<double>(groups_a_rank * guessed_rank(p.k, sample, p.n)) <= groups;
  };
  while (plan.sample_rows > 0 && !is_enough(plan.sample_rows))
    plan.sample_rows = 4 * plan.sample_rows <= p.n ? 2 * plan.sample_rows : 0;
}

std::int64_t places_to_search(std::int64_t k, std::int64_t kept, std::int64_t n) {
  constexpr double deviations = 3;
  const std::int64_t struck = n - kept;
  if (struck <= few_struck) return k + struck;
  const double share = static_cast<double>(std::max(kept, n / one_in + 1)) / static_cast<double>(n);
  const auto wanted = static_cast<double>(k);
  const double places = (wanted + deviations * std::sqrt(wanted * (1 - share))) / share;
  return std::min({n, k + struck, k + static_cast<std::int64_t>(places - wanted) + 2});
}

}  // namespace kith
