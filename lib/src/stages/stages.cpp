#include "kith/stages.hpp"

#include <string>
#include <utility>

#include "base/border.hpp"
#include "plan/plan_rules.hpp"
#include "stages/stage_support.hpp"
#include "vote/voting.hpp"

namespace kith::stages {
namespace {

void check_k(const char* stage, std::int64_t k, std::int64_t n, std::int64_t groups) {
  if (k < 1 || k > n)
    refuse(std::string(stage) + ": k = " + std::to_string(k) + " but there are " + std::to_string(n) +
           " candidates; choose 1 <= k <= " + std::to_string(n));
  if (groups < 1 || groups > n)
    refuse(std::string(stage) + ": groups = " + std::to_string(groups) + " but there are " +
           std::to_string(n) + " candidates; choose 1 <= groups <= " + std::to_string(n));
}

Selector choose(const DeviceInfo& device, std::int64_t m, std::int64_t n, std::int64_t k, Selector selector) {
  PlanOptions options;
  options.selector = selector;
  options.fused = selector == Selector::automatic ? std::optional(false) : std::nullopt;
  return plan_problem(device, {Metric::squared_l2, n, m, 1, k}, options).selector;
}

/// `lists`, filled by the step that step_to(out, k) gives.
template <class StepTo>
KeyLists run_to_lists(const StatePointer& state, KeyLists lists, const StepTo& step_to) {
  const std::size_t m = size(lists.rows), width = size(lists.lists * lists.k);
  const DeviceMemory out(state, m * width * sizeof(Key));
  run(state, step_to(spi::Grid<Key>{out.get(), 0, m, width, width}, static_cast<std::uint32_t>(lists.k)));
  read(state, out, lists.keys);
  return lists;
}

}  // namespace

std::vector<float> distance(const Device& device, MatrixView<const float> queries,
                            MatrixView<const float> train, Metric metric) try {
  const StatePointer& state = device.state();
  const DevicePair pair = device_pair(state, queries, train, metric);
  const std::size_t m = size(queries.rows()), n = size(train.rows());
  std::vector<float> values(m * n);
  if (values.empty()) return values;
  const DeviceMemory out(state, m * n * sizeof(float));
  run(state, spi::DistanceStep{metric, pair.queries.rows, pair.train.rows, {out.get(), 0, m, n, n}});
  read(state, out, values);
  return values;
} catch (...) {
  rethrow_as_error();
}

KeyLists select(const Device& device, MatrixView<const float> distances, std::int64_t k, Selector selector,
                std::int64_t groups) try {
  const StatePointer& state = device.state();
  check_k("select", k, distances.cols(), groups);
  const std::size_t m = size(distances.rows()), n = size(distances.cols()), width = size(groups * k);
  const std::vector<float> dense = dense_values("select", distances, Masked::accepted);
  KeyLists lists{distances.rows(), groups, k, std::vector<Key>(m * width)};
  if (m == 0) return lists;
  const Selector chosen = choose(device.info(), distances.rows(), distances.cols(), k, selector);
  const DeviceMemory in = upload<float>(state, dense);
  const spi::Grid<float> values{in.get(), 0, m, n, n};
  return run_to_lists(state, std::move(lists), [&](const spi::Grid<Key>& out, std::uint32_t of_k) {
    return spi::SelectStep{chosen, values, 0, of_k, static_cast<std::uint32_t>(groups), out, {}};
  });
} catch (...) {
  rethrow_as_error();
}

KeyLists nearest(const Device& device, MatrixView<const float> queries, MatrixView<const float> train,
                 Metric metric, std::int64_t k, std::int64_t groups) try {
  const StatePointer& state = device.state();
  const DevicePair pair = device_pair(state, queries, train, metric);
  check_k("nearest", k, train.rows(), groups);
  const std::size_t m = size(queries.rows()), width = size(groups * k);
  KeyLists lists{queries.rows(), groups, k, std::vector<Key>(m * width)};
  if (m == 0) return lists;
  return run_to_lists(state, std::move(lists), [&](const spi::Grid<Key>& out, std::uint32_t of_k) {
    const auto in_groups = static_cast<std::uint32_t>(groups);
    return spi::NearestStep{metric, pair.queries.rows, pair.train.rows, 0, of_k, in_groups, out, {}};
  });
} catch (...) {
  rethrow_as_error();
}

KeyLists merge(const Device& device, const KeyLists& lists) try {
  check_lists("merge", lists);
  const StatePointer& state = device.state();
  const std::size_t m = size(lists.rows), k = size(lists.k), width = size(lists.lists) * k;
  KeyLists merged{lists.rows, 1, lists.k, std::vector<Key>(m * k)};
  if (m == 0) return merged;
  const DeviceMemory in = upload<Key>(state, lists.keys);
  const spi::Grid<Key> keys{in.get(), 0, m, width, width};
  return run_to_lists(state, std::move(merged), [&](const spi::Grid<Key>& out, std::uint32_t of_k) {
    return spi::MergeStep{static_cast<std::uint32_t>(lists.lists), of_k, keys, out, {}};
  });
} catch (...) {
  rethrow_as_error();
}

Votes vote(const Device& device, const KeyLists& nearest, std::span<const std::uint32_t> labels,
           std::uint32_t classes) try {
  check_neighbours("vote", nearest, labels, classes);
  const StatePointer& state = device.state();
  const std::size_t m = size(nearest.rows), k = size(nearest.k);
  Votes votes{std::vector<std::uint32_t>(m), std::vector<std::uint32_t>(m * classes)};
  if (m == 0) return votes;
  const DeviceMemory keys = upload<Key>(state, nearest.keys), table = upload_labels(state, labels);
  Voting(state, nearest.rows, classes)
      .vote({keys.get(), 0, m, k, k}, {table.get(), 0, 1, labels.size(), labels.size()}, 0, votes.winner,
            votes.counts, nullptr);
  return votes;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith::stages
