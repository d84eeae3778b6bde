#include "kith/unstable/stages.hpp"

#include <string>
#include <utility>

#include "base/border.hpp"
#include "plan/rules/plan_rules.hpp"
#include "stages/stage_support.hpp"

namespace kith::stages {
namespace {

void check_k(const char* stage, std::int64_t k, std::int64_t n, std::int64_t lists) {
  if (k < 1 || k > n)
    refuse(std::string(stage) + ": k = " + std::to_string(k) + " but there are " + std::to_string(n) +
           " candidates; choose k from 1 to " + std::to_string(n));
  if (lists < 1 || lists > n)
    refuse(std::string(stage) + ": lists = " + std::to_string(lists) + " but there are " + std::to_string(n) +
           " candidates; choose lists from 1 to " + std::to_string(n));
}

Selector choose(const DeviceInfo& device, std::int64_t m, std::int64_t n, std::int64_t k, Selector selector) {
  SearchOptions options;
  options.selector = selector;
  options.fused = selector == Selector::automatic ? std::optional(false) : std::nullopt;
  return plan_problem(device, {Metric::squared_l2, n, m, 1, k}, options).selector;
}

}  // namespace

std::vector<float> distance(const Device& device, const RowsView& queries, const RowsView& train,
                            Metric metric) try {
  const RowPair pair = row_pair(queries, train, metric);
  const std::size_t m = size(queries.rows), n = size(train.rows);
  std::vector<float> values;
  if (m == 0) return values;
  run(
      device,
      [&](spi::StepRunner& there) {
        spi::DistanceStep step{metric, there.queries(pair.queries.view), there.train(pair.train.view),
                               there.output<float>(m, n)};
        if (compares_bits(metric)) step.train.bits = static_cast<std::uint32_t>(train.cols);
        return step;
      },
      [&](spi::StepRunner& there, const auto& step) { values = there.read(step.out); });
  return values;
} catch (...) {
  rethrow_as_error();
}

KeyLists select(const Device& device, MatrixView<const float> distances, std::int64_t k, Selector selector,
                std::int64_t lists) try {
  check_k("select", k, distances.cols(), lists);
  const std::size_t m = size(distances.rows()), n = size(distances.cols()), width = size(lists * k);
  const std::vector<float> dense = dense_values("select", distances, Masked::accepted);
  KeyLists found{distances.rows(), lists, k, std::vector<Key>(m * width)};
  if (m == 0) return found;
  const Selector chosen = choose(device.info(), distances.rows(), distances.cols(), k, selector);
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::SelectStep{chosen,
                               there.input(dense, m, n),
                               0,
                               static_cast<std::uint32_t>(k),
                               static_cast<std::uint32_t>(lists),
                               there.output<Key>(m, width),
                               {}};
      },
      [&](spi::StepRunner& there, const auto& step) { found.keys = there.read(step.out); });
  return found;
} catch (...) {
  rethrow_as_error();
}

KeyLists nearest(const Device& device, const RowsView& queries, const RowsView& train, Metric metric,
                 std::int64_t k, std::int64_t lists) try {
  const RowPair pair = row_pair(queries, train, metric);
  check_k("nearest", k, train.rows, lists);
  const std::size_t m = size(queries.rows), width = size(lists * k);
  KeyLists found{queries.rows, lists, k, std::vector<Key>(m * width)};
  if (m == 0) return found;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::NearestStep{metric,
                                there.queries(pair.queries.view),
                                there.train(pair.train.view),
                                0,
                                static_cast<std::uint32_t>(k),
                                static_cast<std::uint32_t>(lists),
                                there.output<Key>(m, width),
                                {}};
      },
      [&](spi::StepRunner& there, const auto& step) { found.keys = there.read(step.out); });
  return found;
} catch (...) {
  rethrow_as_error();
}

KeyLists merge(const Device& device, const KeyLists& lists) try {
  check_lists("merge", lists);
  const std::size_t m = size(lists.rows), k = size(lists.k), width = size(lists.lists) * k;
  KeyLists merged{lists.rows, 1, lists.k, std::vector<Key>(m * k)};
  if (m == 0) return merged;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::MergeStep{static_cast<std::uint32_t>(lists.lists),
                              static_cast<std::uint32_t>(k),
                              there.input(lists.keys, m, width),
                              there.output<Key>(m, k),
                              {}};
      },
      [&](spi::StepRunner& there, const auto& step) { merged.keys = there.read(step.out); });
  return merged;
} catch (...) {
  rethrow_as_error();
}

Votes vote(const Device& device, const KeyLists& nearest, std::span<const std::uint32_t> labels,
           std::uint32_t classes) try {
  check_neighbours("vote", nearest, labels, classes);
  const std::size_t m = size(nearest.rows), k = size(nearest.k);
  Votes votes{std::vector<std::uint32_t>(m), std::vector<std::uint32_t>(m * classes)};
  if (m == 0) return votes;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::VoteStep{there.input(nearest.keys, m, k), there.input(labels, 1, labels.size()), classes,
                             there.output<std::uint32_t>(m, classes), there.output<std::uint32_t>(m, 1)};
      },
      [&](spi::StepRunner& there, const auto& step) {
        votes.winner = there.read(step.winner);
        votes.counts = there.read(step.counts);
      });
  return votes;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith::stages
