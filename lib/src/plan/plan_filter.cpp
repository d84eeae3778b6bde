#include "plan/plan_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kith {
namespace {

constexpr std::int64_t word_bits = 32;
constexpr std::int64_t sampled_filters = 16;
constexpr std::int64_t one_in = 4;  // longer lists than four times as many are no small addition
/// So few may all be near one query, as rows are that were removed for being there twice.
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
