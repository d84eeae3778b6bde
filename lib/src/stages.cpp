#include "kith/stages.hpp"

#include <cmath>
#include <string>

#include "device_state.hpp"
#include "float_guard.hpp"
#include "kith/error.hpp"
#include "plan_memory.hpp"
#include "rows.hpp"
#include "voting.hpp"

namespace kith::stages {
namespace {

using StatePointer = std::shared_ptr<kith::Device::State>;

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

/// Rows checked, prepared and copied to the device.
struct DeviceRows {
  DeviceMemory memory;
  spi::RowBlocks rows;
  float largest;
  PreparedRows prepared;
};

DeviceRows device_rows(const StatePointer& state, const char* what, MatrixView<const float> rows,
                       Metric metric, std::uint32_t block) {
  if (rows.rows() > most_rows)
    refuse(std::string("stages: too many ") + what + " rows; give fewer than 2^32 - 1");
  PreparedRows prepared = prepare_rows("stages", what, rows, metric, 0);
  DeviceMemory memory(state, packed_bytes(rows.rows(), rows.cols(), block));
  upload_rows(*state, *memory.get(), prepared.view, block, 0);
  const spi::RowBlocks blocks{memory.get(), 0, static_cast<std::uint32_t>(rows.rows()),
                              static_cast<std::uint32_t>(rows.cols()), block};
  const float largest = prepared.largest;
  return {std::move(memory), blocks, largest, std::move(prepared)};
}

struct Pair {
  DeviceRows queries, train;
};

Pair device_pair(const StatePointer& state, MatrixView<const float> queries, MatrixView<const float> train,
                 Metric metric) {
  const FloatGuard guard;
  if (train.rows() < 1 || train.cols() < 1)
    refuse("stages: the training rows are [" + std::to_string(train.rows()) + ", " +
           std::to_string(train.cols()) + "]; give at least one row and one column");
  if (queries.cols() != train.cols())
    refuse("stages: queries have " + std::to_string(queries.cols()) + " columns but the training rows " +
           std::to_string(train.cols()) + "; give as many");
  const DeviceInfo& info = state->device->info;
  Pair pair{device_rows(state, "query", queries, metric, info.query_block),
            device_rows(state, "training", train, metric, info.train_block)};
  check_range("stages", metric, pair.queries.prepared.view, pair.train.largest);
  return pair;
}

/// Run one step with the scratch it needs.
template <class Work>
void run(const StatePointer& state, Work work) {
  const spi::Support support = state->device->check({work});
  if (!support.refusal.empty())
    throw Error(Errc::unsupported,
                std::string(Work::name) + ": " + state->device->info.spec + ": " + support.refusal);
  DeviceMemory scratch;
  if constexpr (requires { work.scratch; }) {
    if (support.scratch_bytes) scratch = DeviceMemory(state, support.scratch_bytes);
    work.scratch = {scratch.get(), support.scratch_bytes};
  }
  const std::lock_guard lock(state->mutex);
  const FloatGuard guard;
  state->device->enqueue({work});
  state->device->finish();
}

template <class T>
void read(const StatePointer& state, const DeviceMemory& from, std::vector<T>& to) {
  const std::lock_guard lock(state->mutex);
  const FloatGuard guard;
  if (!to.empty()) state->device->read(*from.get(), 0, to.data(), to.size() * sizeof(T));
}

template <class T>
void write(const StatePointer& state, const DeviceMemory& to, const std::vector<T>& from) {
  const std::lock_guard lock(state->mutex);
  const FloatGuard guard;
  if (!from.empty()) state->device->write(*to.get(), 0, from.data(), from.size() * sizeof(T));
}

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
  return make_plan(device, {Metric::squared_l2, n, m, 1, k}, options).selector;
}

}  // namespace

std::vector<float> distance(const Device& device, MatrixView<const float> queries,
                            MatrixView<const float> train, Metric metric) {
  const StatePointer& state = device.state();
  const Pair pair = device_pair(state, queries, train, metric);
  const std::size_t m = size(queries.rows()), n = size(train.rows());
  std::vector<float> values(m * n);
  if (values.empty()) return values;
  const DeviceMemory out(state, m * n * sizeof(float));
  run(state, spi::DistanceStep{metric, pair.queries.rows, pair.train.rows, {out.get(), 0, m, n, n}});
  read(state, out, values);
  return values;
}

KeyLists select(const Device& device, MatrixView<const float> distances, std::int64_t k, Selector selector,
                std::int64_t groups) {
  const StatePointer& state = device.state();
  const FloatGuard guard;  // comparing a subnormal may trap, too
  check_k("select", k, distances.cols(), groups);
  const std::size_t m = size(distances.rows()), n = size(distances.cols()), width = size(groups * k);
  std::vector<float> dense(m * n);
  for (std::size_t q = 0; q < m; ++q)
    for (std::size_t t = 0; t < n; ++t) {
      dense[q * n + t] = distances(static_cast<std::int64_t>(q), static_cast<std::int64_t>(t));
      if (std::isnan(dense[q * n + t]))
        refuse("select: row " + std::to_string(q) + ", column " + std::to_string(t) +
               " holds NaN; every value must be a number");
    }
  KeyLists lists{distances.rows(), groups, k, std::vector<Key>(m * width)};
  if (m == 0) return lists;
  const Selector chosen = choose(device.info(), distances.rows(), distances.cols(), k, selector);
  const DeviceMemory in(state, m * n * sizeof(float)), out(state, m * width * sizeof(Key));
  write(state, in, dense);
  run(state, spi::SelectStep{chosen,
                             {in.get(), 0, m, n, n},
                             0,
                             static_cast<std::uint32_t>(k),
                             static_cast<std::uint32_t>(groups),
                             {out.get(), 0, m, width, width},
                             {}});
  read(state, out, lists.keys);
  return lists;
}

KeyLists nearest(const Device& device, MatrixView<const float> queries, MatrixView<const float> train,
                 Metric metric, std::int64_t k, std::int64_t groups) {
  const StatePointer& state = device.state();
  const Pair pair = device_pair(state, queries, train, metric);
  check_k("nearest", k, train.rows(), groups);
  const std::size_t m = size(queries.rows()), width = size(groups * k);
  KeyLists lists{queries.rows(), groups, k, std::vector<Key>(m * width)};
  if (m == 0) return lists;
  const DeviceMemory out(state, m * width * sizeof(Key));
  run(state, spi::NearestStep{metric,
                              pair.queries.rows,
                              pair.train.rows,
                              0,
                              static_cast<std::uint32_t>(k),
                              static_cast<std::uint32_t>(groups),
                              {out.get(), 0, m, width, width},
                              {}});
  read(state, out, lists.keys);
  return lists;
}

namespace {

void check_lists(const char* stage, const KeyLists& lists) {
  const std::size_t expected = size(lists.rows) * size(lists.lists) * size(lists.k);
  if (lists.rows < 0 || lists.lists < 1 || lists.k < 1 || lists.keys.size() != expected)
    refuse(std::string(stage) + ": " + std::to_string(lists.keys.size()) + " keys for lists of shape [" +
           std::to_string(lists.rows) + ", " + std::to_string(lists.lists) + ", " + std::to_string(lists.k) +
           "]; give one for each place");
  for (std::size_t i = 0; i < lists.keys.size(); ++i)
    if (i % size(lists.k) != 0 && lists.keys[i - 1] > lists.keys[i])
      refuse(std::string(stage) + ": key " + std::to_string(i) +
             " is smaller than the one before it; each list must ascend");
}

}  // namespace

KeyLists merge(const Device& device, const KeyLists& lists) {
  check_lists("merge", lists);
  const StatePointer& state = device.state();
  const std::size_t m = size(lists.rows), k = size(lists.k), width = size(lists.lists) * k;
  KeyLists merged{lists.rows, 1, lists.k, std::vector<Key>(m * k)};
  if (m == 0) return merged;
  const DeviceMemory in(state, m * width * sizeof(Key)), out(state, m * k * sizeof(Key));
  write(state, in, lists.keys);
  run(state, spi::MergeStep{static_cast<std::uint32_t>(lists.lists),
                            static_cast<std::uint32_t>(k),
                            {in.get(), 0, m, width, width},
                            {out.get(), 0, m, k, k},
                            {}});
  read(state, out, merged.keys);
  return merged;
}

Votes vote(const Device& device, const KeyLists& nearest, std::span<const std::uint32_t> labels,
           std::uint32_t classes) {
  check_lists("vote", nearest);
  if (nearest.lists != 1) refuse("vote: " + std::to_string(nearest.lists) + " lists a row; merge them first");
  if (classes < 1) refuse("vote: there are no classes; give at least one");
  for (std::size_t t = 0; t < labels.size(); ++t)
    if (labels[t] >= classes)
      refuse("vote: label " + std::to_string(labels[t]) + " of row " + std::to_string(t) +
             " is not below classes = " + std::to_string(classes));
  for (const Key key : nearest.keys)
    if (key != no_key && row_of(key) >= labels.size())
      refuse("vote: a neighbour is row " + std::to_string(row_of(key)) + " but there are " +
             std::to_string(labels.size()) + " labels; give one a row");
  const StatePointer& state = device.state();
  const std::size_t m = size(nearest.rows), k = size(nearest.k);
  Votes votes{std::vector<std::uint32_t>(m), std::vector<std::uint32_t>(m * classes)};
  if (m == 0) return votes;
  const DeviceMemory keys(state, m * k * sizeof(Key)), table = upload_labels(state, labels);
  write(state, keys, nearest.keys);
  Voting(state, nearest.rows, classes)
      .vote({keys.get(), 0, m, k, k}, {table.get(), 0, 1, labels.size(), labels.size()}, 0, votes.winner,
            votes.counts, nullptr);
  return votes;
}

}  // namespace kith::stages
