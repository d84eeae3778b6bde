// kith-lab bench: times an Index that grows by rows which are made meanwhile, because host memory cannot hold
// all of them.
#include <algorithm>

#include "kith/index.hpp"
#include "kith/keys.hpp"
#include "lab/bench/bench.hpp"
#include "lab/experiments/measure.hpp"
#include "workloads/cases.hpp"
#include "workloads/made_rows.hpp"
#include "workloads/proposed_cases.hpp"

namespace kith::command {
namespace {

constexpr std::uint64_t train_seed = 1, query_seed = 2;
constexpr std::int64_t chunk_bytes = std::int64_t{1} << 30, most_checked = 100;

/// Makes uniform bytes in memory that is used again.
class MadeRows {
 public:
  MadeRows(std::uint64_t seed, std::int64_t dims) : seed_(seed), dims_(dims) {}

  RowsView make(std::int64_t first, std::int64_t count) {
    bytes_.resize(static_cast<std::size_t>(count * dims_));
    workloads::make_bytes(seed_, first, dims_, bytes_);
    return {bytes_.data(), Element::u8, count, dims_};
  }

 private:
  const std::uint64_t seed_;
  const std::int64_t dims_;
  std::vector<unsigned char> bytes_;
};

std::int64_t rows_a_chunk(const workloads::Workload& w) {
  constexpr std::int64_t block = 128;
  return std::clamp<std::int64_t>(chunk_bytes / w.dims / block * block, block, w.n);
}

Index grown_index(const Device& device, const workloads::Workload& w) {
  MadeRows made(train_seed, w.dims);
  const std::int64_t step = rows_a_chunk(w);
  IndexOptions options{.reserve = w.n};
  Index index(device, made.make(0, step), w.metric, options);
  for (std::int64_t first = step; first < w.n; first += step) {
    throw_if_interrupted("bench");
    index = index.with(made.make(first, std::min(step, w.n - first)));
  }
  return index;
}

/// Returns the CPU's answer: it makes the same rows chunk by chunk, and merges the neighbours of each chunk.
Neighbors answers_of_cpu(const Device& cpu, const workloads::Workload& w, const RowsView& queries) {
  MadeRows made(train_seed, w.dims);
  const std::int64_t step = rows_a_chunk(w);
  std::vector<Keys> lists;
  for (std::int64_t first = 0; first < w.n; first += step) {
    throw_if_interrupted("bench");
    IndexOptions options{.first_row = first};
    const Index some(cpu, made.make(first, std::min(step, w.n - first)), w.metric, options);
    lists.push_back(some.search_keys(queries, w.k));
    if (lists.size() == 2) lists = {merge(lists)};
  }
  return finish(w.metric, lists.front());
}

}  // namespace

void measure_grown(const Device& device, const Device& cpu, const BenchData& data, const BenchFlags& flags,
                   Measured& measured) {
  const workloads::Workload& w = data.workload;
  const SearchOptions options = plan_options(flags.plan);
  MadeRows made(query_seed, w.dims);
  const RowsView queries = made.make(0, w.m);
  const Clock build;
  const Index index = grown_index(device, w);
  measured.index_build = build.seconds();

  Trace trace;
  const Clock first;
  Neighbors found = index.search(queries, w.k, options, &trace);
  measured.first_run = first.seconds();
  measured.device_bytes = index.memory_bytes();
  measured.checked = std::min(most_checked, w.m);
  const Neighbors right = answers_of_cpu(cpu, w, queries.slice(0, measured.checked)),
                  some = workloads::first_of(found, measured.checked, w.k);
  measured.difference = difference(workloads::Answer{right, {}, {}}, workloads::Answer{some, {}, {}});
  if (!measured.difference.empty()) return;
  take_samples(flags, [&](bool counts) {
    index.search_into(queries, w.k, found, options, &trace);
    if (!counts) return;
    measured.host.push_back(trace.queue_seconds);
    measured.total.push_back(trace.total_seconds);
    measured.device.push_back(trace.device_seconds);
  });
  trace.time_steps = true;
  found = index.search(queries, w.k, options, &trace);
  measured.plan = explain(trace.plan);
  measured.short_plan = experiments::short_plan(trace.plan);
  measured.steps = trace.seconds;
}

}  // namespace kith::command
