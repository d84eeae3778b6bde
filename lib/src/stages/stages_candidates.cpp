// Implements the stages that work on lists of candidates: collect, rerank, tighten.
#include <algorithm>
#include <cmath>

#include "base/border.hpp"
#include "stages/stage_support.hpp"

namespace kith::stages {
namespace {

/// Returns how many rows list q holds.
std::size_t length(const Candidates& candidates, std::size_t q) {
  return std::min<std::size_t>(candidates.counts[q], size(candidates.capacity));
}

void check_candidates(const char* stage, const Candidates& candidates) {
  const bool fits = candidates.rows >= 0 && candidates.capacity >= 1 &&
                    candidates.counts.size() == size(candidates.rows) &&
                    candidates.indices.size() == size(candidates.rows) * size(candidates.capacity);
  if (!fits)
    refuse(std::string(stage) + ": " + std::to_string(candidates.counts.size()) + " counts and " +
           std::to_string(candidates.indices.size()) + " candidates for lists of shape [" +
           std::to_string(candidates.rows) + ", " + std::to_string(candidates.capacity) +
           "]; give a count for each list and a candidate for each place");
}

void check_threshold(std::span<const float> threshold, std::int64_t m) {
  if (threshold.size() != size(m))
    refuse("collect: " + std::to_string(threshold.size()) + " thresholds for " + std::to_string(m) +
           " queries; give one for each");
  for (std::size_t q = 0; q < threshold.size(); ++q)
    if (std::isnan(threshold[q]))
      refuse("collect: the threshold of query " + std::to_string(q) +
             " is NaN; every value must be a number");
}

/// Sorts the lists, since devices append in the order of their atomic additions. The result then depends on
/// that order only if a list overflows.
void put_in_order(Candidates& candidates) {
  for (std::size_t q = 0; q < candidates.counts.size(); ++q) {
    const auto list = candidates.indices.begin() + static_cast<std::ptrdiff_t>(q) * candidates.capacity;
    const auto end = list + static_cast<std::ptrdiff_t>(length(candidates, q));
    std::sort(list, end);
    std::fill(end, list + candidates.capacity, no_row);
  }
}

}  // namespace

Candidates collect(const Device& device, MatrixView<const float> distances, std::span<const float> threshold,
                   std::int64_t capacity) try {
  const FloatGuard guard;
  if (capacity < 1 || capacity > distances.cols())
    refuse("collect: capacity = " + std::to_string(capacity) + " but there are " +
           std::to_string(distances.cols()) + " rows; choose capacity from 1 to " +
           std::to_string(distances.cols()));
  check_threshold(threshold, distances.rows());
  const std::vector<float> dense = dense_values("collect", distances, Masked::accepted);
  const std::size_t m = size(distances.rows()), n = size(distances.cols()), places = size(capacity);
  Candidates found{distances.rows(), capacity, std::vector<std::uint32_t>(m),
                   std::vector<std::uint32_t>(m * places)};
  if (m == 0) return found;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::CollectStep{
            Proposer::none,
            Metric::squared_l2,
            {},
            {},
            there.input(dense, m, n),
            there.input(threshold, m, 1),
            0,
            {there.output<std::uint32_t>(m, places), there.in_and_out(found.counts, m, 1)},
            {}};
      },
      [&](spi::StepRunner& there, const auto& step) {
        found.counts = there.read(step.out.counts);
        found.indices = there.read(step.out.rows);
      });
  put_in_order(found);
  return found;
} catch (...) {
  rethrow_as_error();
}

std::vector<Key> rerank(const Device& device, const RowsView& queries, const RowsView& train, Metric metric,
                        const Candidates& candidates) try {
  check_candidates("rerank", candidates);
  if (candidates.rows != queries.rows)
    refuse("rerank: " + std::to_string(candidates.rows) + " lists for " + std::to_string(queries.rows) +
           " queries; give one for each");
  const RowPair pair = row_pair(queries, train, metric);
  const std::size_t m = size(queries.rows), places = size(candidates.capacity);
  for (std::size_t q = 0; q < m; ++q)
    for (std::size_t j = 0; j < length(candidates, q); ++j)
      if (candidates.indices[q * places + j] >= train.rows)
        refuse("rerank: candidate " + std::to_string(j) + " of query " + std::to_string(q) + " is row " +
               std::to_string(candidates.indices[q * places + j]) + " but there are " +
               std::to_string(train.rows) + " rows; name rows from 0 to " + std::to_string(train.rows - 1));
  std::vector<Key> keys(m * places, no_key);
  if (m == 0) return keys;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::RerankStep{
            metric,
            there.queries(pair.queries.view),
            there.train(pair.train.view),
            0,
            {there.input(candidates.indices, m, places), there.input(candidates.counts, m, 1)},
            there.in_and_out(keys, m, places)};
      },
      [&](spi::StepRunner& there, const auto& step) { keys = there.read(step.out); });
  return keys;
} catch (...) {
  rethrow_as_error();
}

Tightened tighten(const Device& device, const Candidates& candidates, std::span<const Key> keys,
                  const KeyLists& best) try {
  check_candidates("tighten", candidates);
  check_lists("tighten", best);
  if (best.lists != 1)
    refuse("tighten: " + std::to_string(best.lists) + " lists a row of best; merge them first");
  if (best.rows != candidates.rows || keys.size() != candidates.indices.size())
    refuse("tighten: " + std::to_string(keys.size()) + " keys and " + std::to_string(best.rows) +
           " best lists for candidates of shape [" + std::to_string(candidates.rows) + ", " +
           std::to_string(candidates.capacity) + "]; give a key for each place and a list for each query");
  const std::size_t m = size(best.rows), k = size(best.k), places = size(candidates.capacity);
  Tightened result{best, std::vector<float>(m), std::vector<std::uint32_t>(m)};
  if (m == 0) return result;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::TightenStep{Proposer::none,
                                Metric::squared_l2,
                                1,
                                static_cast<std::uint32_t>(k),
                                there.input(keys, m, places),
                                there.in_and_out(candidates.counts, m, 1),
                                there.in_and_out(best.keys, m, k),
                                {},
                                there.output<float>(m, 1),
                                there.in_and_out(result.lost, m, 1),
                                {}};
      },
      [&](spi::StepRunner& there, const auto& step) {
        result.best.keys = there.read(step.best);
        result.threshold = there.read(step.threshold);
        result.lost = there.read(step.lost);
      });
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith::stages
