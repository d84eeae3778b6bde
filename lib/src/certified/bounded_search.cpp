#include "certified/bounded_search.hpp"

#include <algorithm>
#include <numeric>

#include "plan/guess.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

std::vector<Key> read_keys(spi::Device& device, const spi::Grid<Key>& grid) {
  std::vector<Key> keys(grid.rows * grid.cols);
  device.read(*grid.memory, 0, keys.data(), keys.size() * sizeof(Key));
  return keys;
}

}  // namespace

bool takes_products(const ResidentRows& index, spi::OnGrid rows, spi::OnGrid queries, bool elsewhere) {
  const auto dims = static_cast<std::size_t>(index.dims);
  const bool exact = rows == spi::OnGrid::exactly && queries == spi::OnGrid::exactly;
  // With at most this many columns, chains are exact for any bytes. With more, each candidate must be
  // checked, which only the CPU back end does.
  const bool looks = index.device.info().profile.host_threads && !elsewhere;
  return exact && (dims <= spi::columns_of_exact_chains(index.metric) || looks);
}

BoundedSearch::BoundedSearch(const ResidentRows& index, const Plan& plan, const QueryForm& form,
                             const DeviceFilter& filter, Trace* trace)
    : index_(index),
      plan_(plan),
      quantized_(quantized_rows_for(index, plan, !form.takes_products)),
      rows_(index, plan, quantized_, filter, trace),
      steps_(static_cast<std::int64_t>(phases(index, plan, plan.attempts.front()).size())),
      proposal_(index.device.state(), plan, form.on_grid),
      form_(form) {
  if (rows_elsewhere() && !quantized_->has_rows(0) && !form_.takes_products)
    on_host_ = std::make_unique<OnHost>(index, plan, *quantized_->elsewhere());
}

Open BoundedSearch::ask(const Attempt& attempt, const QueryRows& queries, const Open& open,
                        Workspace& workspace, Watcher& watcher, Trace* trace,
                        std::function<void()>& overlap) {
  if (attempt.when == Attempt::When::few)
    return ask_open(attempt, queries, open, workspace, watcher, trace, overlap);
  const std::int64_t count = queries.rows();
  asked_ = queries;
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  first_ = known_.keys(all, plan_.problem.k);
  const std::vector<float> threshold = open.threshold.empty() ? std::vector<float>() : reached(count);
  return run_attempt(attempt, count, threshold, workspace, watcher, trace, overlap);
}

/// Searches the open queries again. Their k best so far are real rows, so that thresholds computed from these
/// hold for all rows.
Open BoundedSearch::ask_open(const Attempt& attempt, const QueryRows& queries, const Open& open,
                             Workspace& workspace, Watcher& watcher, Trace* trace,
                             std::function<void()>& overlap) {
  const std::shared_ptr<Device::State>& state = index_.device.state();
  const auto again = static_cast<std::int64_t>(open.queries.size()), k = plan_.problem.k;
  asked_ = queries.chosen(open.queries);
  std::vector<Key> keys;
  {
    const DeviceSession session(*state);
    keys = read_keys(*session, workspace.result(queries.rows()));
  }
  asked_.put(*state, workspace.query_memory(), index_.device.info().query_block, plan_.threads);
  proposal_.lengthen_lists(attempt.lists);
  first_ = known_.keys(open.queries, k);
  Open left = run_attempt(attempt, again, open.threshold, workspace, watcher, trace, overlap);
  proposal_.lengthen_lists(1);
  workspace.forget_keys();
  const DeviceSession session(*state);
  const std::vector<Key> found = read_keys(*session, workspace.result(again));
  for (std::size_t i = 0; i < open.queries.size(); ++i)
    std::copy_n(found.data() + i * static_cast<std::size_t>(k), k, keys.data() + open.queries[i] * k);
  session->write(*workspace.result(queries.rows()).memory, 0, keys.data(), keys.size() * sizeof(Key));
  for (std::int64_t& q : left.queries) q = open.queries[static_cast<std::size_t>(q)];
  return left;
}

Open BoundedSearch::run_attempt(const Attempt& attempt, std::int64_t count,
                                const std::vector<float>& threshold, Workspace& workspace, Watcher& watcher,
                                Trace* trace, std::function<void()>& overlap) const {
  const std::shared_ptr<Device::State>& state = index_.device.state();
  {
    const DeviceSession session(*state);
    proposal_.reset(*session, count, threshold);
  }
  std::vector<Phase> all = phases(index_, plan_, attempt);
  // A threshold from a sample counts as a guess, even if its rank is k. TightenStep then certifies it, so
  // that the answer does not depend on the sample.
  const bool guessed = std::any_of(all.begin(), all.end(), [&](const Phase& phase) {
    return phase.samples || phase.rank < plan_.problem.k;
  });
  if (guessed)
    for (Phase& phase : all) phase.gap_share = guessed_gap_share(index_.dims);
  const bool on_cpu = index_.device.info().profile.host_threads;  // which has done a step when it is enqueued
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    end = end_of_turn(all, first, watcher.reports() || (on_cpu && watcher.watches()), watcher.watches());
    {
      const DeviceSession session(*state);
      StepTimer timer(*session, trace);
      if (first == 0) begin(threshold, count, workspace, timer);
      for (std::size_t i = first; i < end; ++i) run_phase(all[i], guessed, count, workspace, timer, trace);
      timer.collect(overlap);
      if (watcher.watches()) session->finish();
    }
    do_once(overlap);
    if (attempt.way == plan_.attempts.front().way)
      watcher.steps_done(static_cast<std::int64_t>(end - first));
    else
      watcher.check_stop();
  }
  Open lost;
  lost.queries = proposal_.lost(*state, workspace, count);
  if (lost.queries.empty()) return lost;
  const std::vector<float> thresholds = reached(count);
  for (const std::int64_t q : lost.queries) lost.threshold.push_back(thresholds[static_cast<std::size_t>(q)]);
  return lost;
}

/// Quantizes the queries and sets the thresholds that are known for them. Thresholds of an earlier attempt
/// already include these.
void BoundedSearch::begin(const std::vector<float>& threshold, std::int64_t count, const Workspace& workspace,
                          StepTimer& timer) const {
  spi::Device& device = *index_.device.state()->device;
  device.enqueue(proposal_.prepare(workspace.queries(count), quantized_->centre(), form_.scale));
  timer.after(spi::PrepareStep::name);
  if (first_.empty()) return;
  const spi::Grid<Key> result = workspace.result(count);
  device.write(*result.memory, 0, first_.data(), first_.size() * sizeof(Key));
  if (!threshold.empty()) return;
  device.enqueue(proposal_.tighten(result, false, false, workspace.scratch()));
  timer.after(spi::TightenStep::name);
}

/// Returns the current threshold of each query, which its k best rows so far determine. It is valid for
/// all rows.
std::vector<float> BoundedSearch::reached(std::int64_t count) const {
  const std::shared_ptr<Device::State>& state = index_.device.state();
  const DeviceSession session(*state);
  return proposal_.thresholds(*session, count);
}

/// Computes a first threshold from a sample of the bounds of all rows.
void BoundedSearch::run_sample(const Phase& phase, std::int64_t count, const Workspace& workspace,
                               StepTimer& timer) const {
  spi::Device& device = *index_.device.state()->device;
  const Chunk& chunk = index_.chunks[phase.chunk];
  device.enqueue(proposal_.sample(count, rows_.of(phase.chunk, 0, chunk.rows), phase.visits,
                                  workspace.scratch(), unscale(), phase.gap_share));
  timer.after(spi::CollectStep::name);
  device.enqueue(proposal_.tighten_by_sample(count, phase.visits, phase.rank));
  timer.after(spi::TightenStep::name);
}

void BoundedSearch::run_phase(const Phase& phase, bool guessed, std::int64_t count,
                              const Workspace& workspace, StepTimer& timer, Trace* trace) const {
  if (phase.samples) return run_sample(phase, count, workspace, timer);
  spi::Device& device = *index_.device.state()->device;
  const std::int64_t before = listed(count, timer, trace);
  collect(phase, count, workspace);
  timer.after(spi::CollectStep::name);
  if (trace) trace->listed += listed(count, timer, trace) - before;
  if (phase.thins) {
    device.enqueue(proposal_.tighten_by_bounds(count, phase.rank, workspace.scratch()));
    timer.after(spi::TightenStep::name);
    // Lists that are ranked next become empty. The host, and exact products, rank by bounds.
    device.enqueue(proposal_.prune(count, phase.ranks && !on_host_ && !form_.takes_products));
    timer.after(spi::PruneStep::name);
  }
  if (phase.ranks) rank(phase, guessed, count, workspace, timer, trace);
}

/// Collects candidates: for all visits in one step, or block by block if a library multiplies row-major rows.
void BoundedSearch::collect(const Phase& phase, std::int64_t count, const Workspace& workspace) const {
  spi::Device& device = *index_.device.state()->device;
  const Chunk& chunk = index_.chunks[phase.chunk];
  const float unscale = this->unscale();
  const spi::Visits& visits = phase.visits;
  if (has_own_order(plan_.proposer)) {
    device.enqueue(proposal_.collect(count, rows_.of(phase.chunk, 0, chunk.rows), visits,
                                     static_cast<std::uint32_t>(chunk.first), workspace.scratch(), unscale,
                                     phase.gap_share, phase.open));
    return;
  }
  for (std::uint32_t v = visits.first; v < visits.first + visits.count; ++v) {
    const std::int64_t block = static_cast<std::int64_t>(std::uint64_t{v} * visits.stride % visits.blocks);
    const std::int64_t first = block * visits.rows;
    const std::int64_t rows = std::min<std::int64_t>(visits.rows, chunk.rows - first);
    device.enqueue(proposal_.collect(count, rows_.of(phase.chunk, first, rows), {},
                                     static_cast<std::uint32_t>(chunk.first + first), workspace.scratch(),
                                     unscale, phase.gap_share, phase.open));
  }
}

/// Ranks the listed candidates of a chunk, by the chain or by exact products.
void BoundedSearch::rank(const Phase& phase, bool guessed, std::int64_t count, const Workspace& workspace,
                         StepTimer& timer, Trace* trace) const {
  spi::Device& device = *index_.device.state()->device;
  if (trace) trace->collected += listed(count, timer, trace);
  if (counts_ranked_) ranked_ += proposal_.listed(device, count);
  std::size_t width = 0;  // number of keys that come back for each list; 0: its capacity
  if (on_host_) {
    width = static_cast<std::size_t>(plan_.problem.k);
    rank_on_host(count, width, timer, trace);
  } else {
    const auto first = static_cast<std::uint32_t>(index_.chunks[phase.chunk].first);
    device.enqueue(proposal_.rerank(workspace.queries(count), rows_of(phase.chunk), first,
                                    form_.takes_products ? unscale() : 0));
    timer.after(spi::RerankStep::name);
  }
  device.enqueue(proposal_.tighten(workspace.result(count), phase.afresh && first_.empty(), guessed,
                                   workspace.scratch(), width));
  timer.after(spi::TightenStep::name);
}

/// Returns the rows of a chunk for RerankStep. If exact products give all chains, the step reads no rows;
/// then, and if rows are not on the device, the quantized rows take their place.
spi::RowBlocks BoundedSearch::rows_of(std::size_t chunk) const {
  if (quantized_->has_rows(chunk)) return quantized_->rows(chunk);
  if (rows_elsewhere() || index_.rows_are_bytes) {
    const auto rows = static_cast<std::uint32_t>(index_.chunks[chunk].rows);
    return {quantized_->of(chunk, 0, 0).rows.memory, 0, rows, static_cast<std::uint32_t>(index_.dims), 1};
  }
  return Tile{chunk, index_.chunks[chunk].first, index_.chunks[chunk].rows}.row_blocks(index_);
}

/// Ranks on the host instead of by RerankStep, because the device has no rows. Writes back at most `width`
/// keys per query, because no more can be among the k nearest.
void BoundedSearch::rank_on_host(std::int64_t count, std::size_t width, StepTimer& timer,
                                 Trace* trace) const {
  spi::Device& device = *index_.device.state()->device;
  OnHost& host = *on_host_;
  const ListedPlaces listed = host.lists.places(device, proposal_.listed_places(count));
  std::span<const float> low;
  if (host.ranking.wants_bounds(listed, host.lists.bytes())) low = host.lists.lows(device);
  const Stopwatch ranking;
  const std::span<const Key> nearest =
      host.ranking.nearest(asked_.on_host(), listed, low, static_cast<std::int64_t>(width));
  if (trace) trace->seconds["rank"] += ranking.seconds();
  proposal_.write_nearest(device, listed, width, nearest);
  timer.skip();
}

/// Counts the listed candidates if the trace times steps; else returns 0 and does not wait for the device.
std::int64_t BoundedSearch::listed(std::int64_t count, StepTimer& timer, const Trace* trace) const {
  if (!trace || !trace->time_steps) return 0;
  const std::int64_t all = proposal_.listed(*index_.device.state()->device, count);
  timer.skip();
  return all;
}

}  // namespace kith
