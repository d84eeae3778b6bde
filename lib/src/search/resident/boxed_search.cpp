#include "search/resident/boxed_search.hpp"

#include <algorithm>
#include <numeric>

#include "base/numbers.hpp"
#include "boxes/boxes_rules.hpp"
#include "device/timing.hpp"
#include "metric/radius_bound.hpp"
#include "plan/reasons.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/rest_search.hpp"

namespace kith {
namespace {

/// Returns how many leaves each query reads by `plan`.
std::vector<std::uint32_t> leaves_read(const ResidentRows& index, const Plan& plan,
                                       const SearchOptions& options, const QueryRows& queries, Trace& trace) {
  const std::shared_ptr<Device::State>& state = index.device.state();
  Workspace workspace(state, plan, scratch_of(*state, plan));
  const DeviceFilter filter(state, plan, options);
  const BoxedSearch search(index, plan, options, filter, &trace);
  std::function<void()> nothing;
  std::vector<std::uint32_t> leaves;
  for (std::int64_t first = 0; first < queries.rows(); first += plan.query_tile) {
    const QueryRows some = queries.slice(first, std::min(plan.query_tile, queries.rows() - first));
    upload_tile(index, plan, some, first, workspace, filter, nullptr);
    const std::vector<std::uint32_t> more = search.walk(some, workspace, nullptr, nothing);
    leaves.insert(leaves.end(), more.begin(), more.end());
  }
  return leaves;
}

/// Returns what a walk compares rows with if only those within a radius are wanted. Lists from which rows are
/// struck out later need all rows.
DeviceMemory bounds_within(const ResidentRows& index, const Plan& plan, const SearchOptions& options) {
  if (!options.radius || plan.struck) return {};
  const std::vector<float> bounds(size(plan.query_tile),
                                  bound_of_search<float>("search", index.shown, *options.radius));
  const std::shared_ptr<Device::State>& state = index.device.state();
  DeviceMemory memory(state, bounds.size() * sizeof(float));
  const DeviceSession session(*state);
  session->write(*memory.get(), 0, bounds.data(), bounds.size() * sizeof(float));
  return memory;
}

}  // namespace

spi::Step boxes_step(const Plan& plan, const spi::Boxes& boxes, const spi::RowBlocks& queries,
                     spi::Allocation* order, spi::Allocation* leaves, const spi::Grid<std::uint32_t>& filter,
                     const spi::Grid<float>& within, const spi::Grid<Key>& out, const spi::Scratch& scratch) {
  const std::size_t q = queries.rows;
  spi::Grid<std::uint32_t> ordered;
  if (order) ordered = {order, 0, 1, q, q};
  return {spi::BoxesStep{plan.problem.metric,
                         queries,
                         ordered,
                         boxes,
                         static_cast<std::uint32_t>(plan.problem.k),
                         filter,
                         within,
                         static_cast<std::uint32_t>(plan.most_leaves),
                         out,
                         {leaves, 0, q, 1, 1},
                         scratch},
          plan.threads};
}

BoxedSearch::BoxedSearch(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                         const DeviceFilter& filter, Trace* trace)
    : index_(index),
      plan_(plan),
      options_(options),
      filter_(filter),
      boxes_(boxes_for(index, options, trace)),
      order_(index.device.state(), size(plan.query_tile) * sizeof(std::uint32_t)),
      leaves_(index.device.state(), size(plan.query_tile) * sizeof(std::uint32_t)),
      within_(bounds_within(index, plan, options)) {}

std::vector<std::uint32_t> BoxedSearch::walk(const QueryRows& queries, Workspace& workspace, Trace* trace,
                                             std::function<void()>& overlap,
                                             const spi::Grid<float>& asked) const {
  spi::Grid<float> within = asked;
  if (within_.get() && asked.cols == 0) within = {within_.get(), 0, size(queries.rows()), 1, 1};
  std::vector<std::uint32_t> order;
  const std::int64_t sharing = boxes_->order() ? queries_that_share(plan_.problem) : 0;
  const bool ordered = queries.rows() >= std::max(worth_sorting, sharing);
  if (ordered && boxes_->order()) {
    const Stopwatch sorting;
    order = boxes_->order()->order_of(queries.on_host(), plan_.threads);
    if (trace) trace->seconds["sort"] += sorting.seconds();
  }
  const std::shared_ptr<Device::State>& state = index_.device.state();
  {
    const DeviceSession session(*state);
    if (!order.empty()) session->write(*order_.get(), 0, order.data(), order.size() * sizeof(std::uint32_t));
    StepTimer timer(*session, trace);
    if (ordered && order.empty()) {
      session->enqueue(order_step(workspace.queries(queries.rows()), boxes_->frame(), order_.get(),
                                  workspace.scratch(), plan_.threads));
      timer.after(spi::OrderStep::name);
    }
    session->enqueue(boxes_step(plan_, boxes_->boxes(), workspace.queries(queries.rows()),
                                ordered ? order_.get() : nullptr, leaves_.get(),
                                filter_.words(queries.rows()), within, workspace.result(queries.rows()),
                                workspace.scratch()));
    timer.after(spi::BoxesStep::name);
    timer.collect(overlap);
  }
  do_once(overlap);
  const std::size_t q = size(queries.rows());
  return workspace.read_words(*state, {leaves_.get(), 0, q, 1, 1}, queries.rows());
}

void BoxedSearch::find_nearest(const QueryRows& queries, std::int64_t first, Workspace& workspace,
                               Watcher& watcher, Trace* trace, std::function<void()>& overlap) const {
  const std::vector<std::uint32_t> leaves = walk(queries, workspace, trace, overlap);
  Open open;
  for (std::size_t q = 0; q < leaves.size(); ++q)
    if (static_cast<std::int64_t>(leaves[q]) > plan_.most_leaves)
      open.queries.push_back(static_cast<std::int64_t>(q));
  if (trace) {
    trace->leaves += std::accumulate(leaves.begin(), leaves.end(), std::int64_t{0});
    trace->fallbacks += static_cast<std::int64_t>(open.queries.size());
  }
  if (!open.queries.empty()) {
    workspace.forget_keys();
    SearchOptions rest = options_;
    std::vector<std::uint32_t> words;
    if (plan_.filters > 1) {
      words = gathered(options_.filter, open.queries, first);
      rest.filter = {words.data(), static_cast<std::int64_t>(open.queries.size()), options_.filter.cols()};
    }
    search_rest(index_, plan_, rest, queries, 0, open, Proposer::none, workspace, trace);
  }
  watcher.step_done();
}

bool boxes_pay(const ResidentRows& index, const QueryRows& queries, const SearchOptions& options, Plan& plan,
               std::string& why_not, Trace& trace) {
  // the sample is spread evenly
  const std::int64_t count = plan.tried_queries, step = queries.rows() / count;
  const QueryRows few = queries.every(0, step, count);
  SearchOptions way = options;
  way.self.reset();  // plan.problem.k already includes the query itself
  way.boxes = true;
  way.progress = nullptr;
  std::vector<std::uint32_t> words;
  if (plan.filters > 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t* const of_query = options.filter.row(i * step);
      words.insert(words.end(), of_query, of_query + options.filter.cols());
    }
    way.filter = {words.data(), count, options.filter.cols()};
  }
  Plan of_few = plan_search(index, count, plan.problem.k, way, {});
  of_few.most_leaves = plan.most_leaves;
  const std::vector<std::uint32_t> leaves = leaves_read(index, of_few, way, few, trace);
  const auto worth = static_cast<std::int64_t>(leaves_worth(index.device.info(), plan.problem));
  std::int64_t total = 0, gave_up = 0;
  for (const std::uint32_t read : leaves) {
    total += read;
    // Such a query then reads all rows, so it costs as much as without boxes in addition.
    if (static_cast<std::int64_t>(read) > plan.most_leaves) ++gave_up, total += worth;
  }
  const double mean = static_cast<double>(total) / static_cast<double>(count);
  if (total < worth * count) {
    plan.reason += reasons::boxes_pay(count, mean, worth);
    return true;
  }
  why_not = reasons::boxes_lose(count, gave_up, mean, worth);
  if (!has_filter(options)) index.made->lessons.tell_boxes_lose(plan.problem.k);
  return false;
}

}  // namespace kith
