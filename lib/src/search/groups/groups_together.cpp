#include "search/groups/groups_together.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "check/proposer_check.hpp"
#include "device/host_buffer.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "host/parallel.hpp"
#include "plan/plan_memory.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Returns the step for some queries and groups, without memory.
spi::GroupsStep sized_step(const GroupsAsked& asked, const ResidentRows& rows, const GroupRange& range,
                           RowRange tile) {
  const Chunk& chunk = rows.chunks[range.chunk];
  const RowRange first = asked.groups.rows(range.first),
                 last = asked.groups.rows(range.first + range.count - 1);
  const DeviceInfo& info = rows.device.info();
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const std::size_t borders = size(range.count) + 1, q = size(tile.count), k = size(asked.k);
  spi::GroupsStep step{rows.metric,
                       {nullptr, 0, narrow(tile.count), narrow(rows.dims), info.query_block},
                       {chunk.memory.get(), narrow(first.first - chunk.first),
                        narrow(last.first + last.count - first.first), narrow(rows.dims), info.train_block},
                       narrow(tile.first),
                       narrow(first.first),
                       {nullptr, size(range.first), 1, borders, borders},
                       {nullptr, size(range.first), 1, borders, borders},
                       narrow(asked.k),
                       asked.options.rows_from_group,
                       asked.options.self.value_or(-1),
                       {nullptr, 0, q, k, k},
                       {}};
  return step;
}

/// Returns whether the device may multiply halves, whose errors are bounded. It may not without room to tell.
bool bounds_products(Device::State& state, std::int64_t dims) {
  Plan plan;
  plan.proposer = Proposer::fp16;
  plan.problem.dims = dims;
  plan.problem.m = 32;
  try {
    return test_proposer(state, plan).empty();
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    return false;
  }
}

/// Returns how many bytes of device memory a search may take beside its Index.
std::size_t budget_of(const GroupsAsked& asked, const DeviceInfo& info) {
  Plan plan;
  plan.proposer = Proposer::none;
  plan.problem = {asked.index.metric, asked.index.rows, 0, asked.index.dims, asked.k, Terms::differences};
  return memory_budget(info, plan, asked.options);
}

/// Returns those of the groups that have queries of the tile, and groups between them.
GroupRange groups_of_tile(const std::vector<std::int64_t>& query_borders, const GroupRange& range,
                          RowRange tile) {
  const auto begin = query_borders.begin();
  const auto number = [&](auto place) { return static_cast<std::int64_t>(place - begin) - 1; };
  const std::int64_t first = number(std::upper_bound(begin, query_borders.end(), tile.first)),
                     last = number(std::lower_bound(begin, query_borders.end(), tile.first + tile.count));
  return {first, last - first + 1, range.chunk};
}

std::shared_ptr<const DeviceMemory> borders_of_queries(const GroupsAsked& asked,
                                                       const std::shared_ptr<Device::State>& state) {
  if (&asked.query_borders == &asked.groups.borders()) return asked.groups.on_device(state);
  return std::make_shared<const DeviceMemory>(borders_on_device(state, asked.query_borders));
}

}  // namespace

std::int64_t GroupsTogether::queries_of_step(const GroupsAsked& asked) {
  constexpr std::size_t most_bytes = std::size_t{1} << 28;  // of queries and of lists
  constexpr std::int64_t least = 128;
  const std::size_t limit = asked.options.memory_limit ? asked.options.memory_limit : most_bytes;
  const std::size_t a_query = size(asked.index.dims) * sizeof(float) + size(asked.k) * sizeof(Key);
  return std::max(static_cast<std::int64_t>(limit / a_query) / least * least, least);
}

GroupsTogether::GroupsTogether(const GroupsAsked& asked, const ResidentRows& rows)
    : asked_(asked),
      rows_(rows),
      state_(rows.device.state()),
      row_borders_(asked.groups.on_device(state_)),
      query_borders_(borders_of_queries(asked, state_)) {}

std::string GroupsTogether::refusal(const GroupsAsked& asked, const ResidentRows& rows) {
  const spi::Step step{sized_step(asked, rows, {0, asked.groups.count(), 0}, {0, queries_of_step(asked)}),
                       asked.options.threads};
  return rows.device.state()->check(step).refusal;
}

bool GroupsTogether::multiplies(const GroupsAsked& asked, const ResidentRows& rows) {
  if (rows.device.info().kind == DeviceKind::cpu) return false;
  const spi::Step step{sized_step(asked, rows, {0, asked.groups.count(), 0}, {0, queries_of_step(asked)}),
                       asked.options.threads};
  const std::size_t bytes = rows.device.state()->check(step).scratch_bytes;
  return bytes > 0 && bytes <= budget_of(asked, rows.device.info()) &&
         bounds_products(*rows.device.state(), rows.dims);
}

spi::GroupsStep GroupsTogether::step(const GroupRange& range, RowRange tile) const {
  spi::GroupsStep step = sized_step(asked_, rows_, range, tile);
  step.query_borders.memory = query_borders_->get();
  step.row_borders.memory = row_borders_->get();
  return step;
}

void GroupsTogether::search(const GroupRange& range, const QuerySet& queries, AnswerSink& sink,
                            Trace* trace) const {
  const std::int64_t first = asked_.queries(range.first).first;
  const RowRange last = asked_.queries(range.first + range.count - 1);
  const std::int64_t end = last.first + last.count, a_tile = queries_of_step(asked_);
  for (std::int64_t q = first; q < end; q += a_tile) {
    if (asked_.options.stop.stop_requested() || StopAlong::asks())
      Watcher(asked_.options, end - first).check_stop();
    const RowRange tile{q, std::min(a_tile, end - q)};
    search_tile(groups_of_tile(asked_.query_borders, range, tile), queries, tile, sink, trace);
  }
}

/// Returns memory for a step; none where a GPU has no room for products, and computes all chains.
///   held  bytes that the step takes already
DeviceMemory GroupsTogether::scratch_of(const spi::GroupsStep& step, std::size_t held) const {
  const std::size_t bytes = state_->check({step, asked_.options.threads}).scratch_bytes;
  if (bytes == 0) return {};
  if (state_->info.kind == DeviceKind::cpu) return {state_, bytes};
  if (held + bytes > budget_of(asked_, state_->info) || !bounds_products(*state_, rows_.dims)) return {};
  try {
    return {state_, bytes};
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    return {};
  }
}

void GroupsTogether::search_tile(const GroupRange& range, const QuerySet& queries, RowRange tile,
                                 AnswerSink& sink, Trace* trace) const {
  spi::GroupsStep step = this->step(range, tile);
  const std::uint32_t threads = asked_.options.threads;
  const DeviceMemory packed(state_, packed_bytes(tile.count, rows_.dims, step.queries.block));
  const DeviceMemory found(state_, step.out.rows * step.out.cols * sizeof(Key));
  const DeviceMemory scratch = scratch_of(step, packed.get()->bytes + found.get()->bytes);
  step.queries.memory = packed.get();
  step.out.memory = found.get();
  if (scratch) step.scratch = {scratch.get(), scratch.get()->bytes};
  const Stopwatch upload;
  queries.rows().slice(tile.first, tile.count).put(*state_, *packed.get(), step.queries.block, threads);
  if (trace) trace->seconds["upload"] += upload.seconds();
  {
    const DeviceSession session(*state_);
    StepTimer timer(*session, trace);
    session->enqueue({step, threads});
    timer.after(spi::GroupsStep::name);
    timer.collect();
  }
  if (trace) ++trace->query_tiles;
  if (sink.takes_on_device() && sink.take_on_device({step.out, tile.first, asked_.k}, trace)) return;
  put_tile(step.out, tile.first, sink, trace);
}

void GroupsTogether::put_tile(const spi::Grid<Key>& found, std::int64_t first, AnswerSink& sink,
                              Trace* trace) const {
  const Stopwatch download;
  const std::size_t count = found.rows * found.cols;
  const HostBuffer buffer(*state_, count * sizeof(Key));
  const std::span<Key> keys = buffer.as<Key>(count);
  {
    const DeviceSession session(*state_);
    session->read(*found.memory, 0, keys.data(), keys.size_bytes());
  }
  if (trace) trace->seconds["download"] += download.seconds();
  const Stopwatch finishing;
  constexpr std::int64_t a_share = 256;
  const auto m = static_cast<std::int64_t>(found.rows);
  parallel_for(divide_up(m, a_share), 4 * static_cast<std::int64_t>(count), asked_.options.threads,
               [&](std::int64_t share) {
                 for (std::int64_t q = share * a_share; q < std::min(m, (share + 1) * a_share); ++q)
                   sink.put(first + q, keys.subspan(size(q) * found.cols, found.cols));
               });
  if (trace) trace->seconds["finish"] += finishing.seconds();
}

}  // namespace kith
