#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/split_mix.hpp"
#include "kith/error.hpp"
#include "kith/evaluation.hpp"

namespace kith {
namespace {

/// Shuffles by Fisher and Yates (1938), from the last place down.
void shuffle(std::vector<std::size_t>& rows, SplitMix64& random) {
  for (std::size_t left = rows.size(); left > 1; --left) std::swap(rows[left - 1], rows[random.below(left)]);
}

}  // namespace

std::vector<std::int64_t> stratified_folds(std::span<const std::int64_t> labels, std::int64_t folds,
                                           std::uint64_t seed) try {
  const auto n = static_cast<std::int64_t>(labels.size());
  if (n < 2)
    throw Error(Errc::invalid_argument, "stratified_folds: the number of labels is " + std::to_string(n) +
                                            "; folds need two or more");
  if (folds < 2 || folds > n)
    throw Error(Errc::invalid_argument, "stratified_folds: " + std::to_string(folds) + " folds of " +
                                            std::to_string(n) + " rows; choose folds from 2 to " +
                                            std::to_string(n));
  std::map<std::int64_t, std::vector<std::size_t>> rows_of;
  for (std::size_t row = 0; row < labels.size(); ++row) rows_of[labels[row]].push_back(row);
  SplitMix64 random(seed);
  std::vector<std::int64_t> fold(labels.size());
  std::int64_t next = 0;  // continues from class to class, so that folds differ by at most one row
  for (auto& [label, rows] : rows_of) {
    shuffle(rows, random);
    for (const std::size_t row : rows) {
      fold[row] = next;
      next = (next + 1) % folds;
    }
  }
  return fold;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
