#include <algorithm>
#include <cmath>
#include <string>

#include "certified/masked_rows.hpp"
#include "certified/proposal.hpp"
#include "certified/quantized_rows.hpp"
#include "check/boxes_check.hpp"
#include "check/byte_speed.hpp"
#include "check/distance/sums_check.hpp"
#include "check/distance/terms_check.hpp"
#include "check/proposer_check.hpp"
#include "check/selector_check.hpp"
#include "exact/exact_tile.hpp"
#include "kith/error.hpp"
#include "kith/unstable/tuning.hpp"
#include "plan/attempts.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"
#include "rows/row_filter.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/pipeline.hpp"
#include "tiles/tiles.hpp"

namespace kith {
namespace {

std::uint32_t count(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}

/// Adds the largest steps of a search by the chain, with null memory.
void add_chain_steps(const DeviceInfo& info, const Plan& plan, std::vector<spi::Step>& steps) {
  const std::size_t k = static_cast<std::size_t>(plan.problem.k),
                    parts = static_cast<std::size_t>(plan.lists);
  const std::size_t q = static_cast<std::size_t>(plan.query_tile),
                    t = static_cast<std::size_t>(chain_tile(plan));
  const spi::RowBlocks queries{nullptr, 0, count(plan.query_tile), count(plan.problem.dims),
                               info.query_block};
  const spi::RowBlocks train{nullptr, 0, count(chain_tile(plan)), count(plan.problem.dims), info.train_block};
  const std::size_t width = parts + (searches_in_one_tile(plan) ? 0 : 1);
  TileLists lists;
  lists.select_out = {nullptr, 0, q, parts * k, width * k};
  lists.lists = static_cast<std::uint32_t>(width);
  lists.merge_in = {nullptr, 0, q, width * k, width * k};
  lists.merge_out = {nullptr, 0, q, k, k};
  const spi::Grid<float> distances{nullptr, 0, q, t, t};
  if (plan.fused) {
    steps.push_back(nearest_step(plan, queries, train, 0, lists, {}));
  } else {
    steps.push_back(distance_step(plan, queries, train, distances));
    if (filters_on_device(plan)) steps.push_back(mask_step(plan, nullptr, distances, 0));
    steps.push_back(select_step(plan, distances, 0, lists, {}));
  }
  if (width > 1) steps.push_back(merge_step(plan, lists, {}));
}

spi::Step largest_boxes_step(const DeviceInfo& info, const Plan& plan) {
  const std::size_t q = static_cast<std::size_t>(plan.query_tile),
                    k = static_cast<std::size_t>(plan.problem.k),
                    words = filters_on_device(plan)
                                ? static_cast<std::size_t>(words_of_filter(plan.problem.n))
                                : 0;
  const std::uint32_t n = count(plan.problem.n), dims = count(plan.problem.dims);
  const spi::Boxes boxes{{nullptr, 0, n, dims, spi::box_rows}, {nullptr, 0, 1, n, n}, {}};
  return boxes_step(plan, boxes, {nullptr, 0, count(plan.query_tile), dims, info.query_block}, nullptr,
                    nullptr, {nullptr, 0, plan.filters == 1 ? 1 : q, words, words}, {}, {nullptr, 0, q, k, k},
                    {});
}

spi::Step largest_order_step(const DeviceInfo& info, const Plan& plan) {
  return order_step({nullptr, 0, count(plan.query_tile), count(plan.problem.dims), info.query_block}, nullptr,
                    nullptr, {}, plan.threads);
}

void add_proposer_steps(const DeviceInfo& info, const Plan& plan, std::vector<spi::Step>& steps) {
  Proposal proposal(plan);
  const bool at_once = has_own_order(plan.proposer);  // a step may reach all rows, else only a block of them
  const std::size_t t = static_cast<std::size_t>(at_once ? plan.problem.n
                                                         : std::min(plan.visit_rows, plan.problem.n)),
                    dims = static_cast<std::size_t>(plan.problem.dims);
  const std::size_t k = static_cast<std::size_t>(plan.problem.k);
  const spi::RowBlocks queries{nullptr, 0, count(plan.query_tile), count(plan.problem.dims),
                               info.query_block};
  const spi::RowBlocks train{nullptr, 0, static_cast<std::uint32_t>(t), count(plan.problem.dims),
                             plan.row_copy_bytes ? 1 : info.train_block};
  const spi::QuantizedRows quantized{{nullptr, 0, t, dims, dims}, {nullptr, 0, spi::terms_a_row, t, t}};
  if (plan.masked) steps.push_back(mask_terms_step(plan, static_cast<std::size_t>(plan.problem.n)));
  steps.push_back(proposal.prepare(queries, {nullptr, 0, 1, dims, dims}, 1));
  const spi::Visits visits = largest_visits(plan);
  steps.push_back(proposal.collect(plan.query_tile, quantized, visits, 0, {}, 1));
  steps.push_back(proposal.rerank(queries, train, 0));
  steps.push_back(
      proposal.tighten({nullptr, 0, static_cast<std::size_t>(plan.query_tile), k, k}, true, false, {}));
  if (!at_once) return;
  if (plan.sample_rows > 0) {
    const spi::Visits of_sample = sample_visits(plan);
    steps.push_back(proposal.sample(plan.query_tile, quantized, of_sample, {}, 1));
    steps.push_back(proposal.tighten_by_sample(plan.query_tile, of_sample, 1));
  }
  steps.push_back(proposal.tighten_by_bounds(plan.query_tile, plan.problem.k, {}));
  steps.push_back(proposal.prune(plan.query_tile, false));
  for (const Attempt& attempt : plan.attempts)
    if (attempt.when == Attempt::When::few) {
      const std::int64_t open = std::max<std::int64_t>(plan.query_tile / Attempt::many_open, 1);
      proposal.lengthen_lists(attempt.lists);
      steps.push_back(proposal.tighten_by_bounds(open, plan.problem.k, {}));
      const spi::Grid<Key> best{nullptr, 0, static_cast<std::size_t>(open), k, k};
      steps.push_back(proposal.tighten(best, false, false, {}));
    }
}

}  // namespace

std::size_t scratch_of(const Device::State& device, const Plan& plan) {
  std::vector<spi::Step> steps;
  if (plan.boxes) {
    steps.push_back(largest_boxes_step(device.info, plan));
    if (plan.query_tile >= worth_sorting && makes_boxes(device, plan.problem.dims))
      steps.push_back(largest_order_step(device.info, plan));
  } else if (chain_tile(plan) > 0)
    add_chain_steps(device.info, plan, steps);
  if (plan.proposer != Proposer::none) add_proposer_steps(device.info, plan, steps);
  std::size_t most = 0;
  for (const spi::Step& step : steps) {
    const spi::Support support = device.check(step);
    if (!support.refusal.empty())
      throw Error(Errc::unsupported, "search: " + plan.device + ": " + support.refusal);
    most = std::max(most, support.scratch_bytes);
  }
  return most;
}

namespace {

/// Returns the number of training rows in the longest chunk.
std::int64_t longest_chunk(const ResidentRows& index) {
  std::int64_t rows = 0;
  for (const Chunk& chunk : index.chunks) rows = std::max(rows, chunk.rows);
  return rows;
}

/// Adapts a plan, which was made for the number of rows, to the rows themselves.
void heed_rows(const ResidentRows& index, Plan& plan) {
  plan.residence = index.residence;
  if (index.rows_are_bytes) {
    plan.rows_are_bytes = true;
    plan.row_copy_bytes = 0;
    plan.reason = reasons::rows_are_bytes();
  }
  if (index.chunks.size() > 1) {  // chunks are not visited in a mixed order
    plan.sample_rows = 0;
    plan.attempts = attempts_of(plan, false);
  }
}

/// Returns options that make the tiles of `plan` smaller. Throws out_of_memory: they are as small as they
/// can be.
SearchOptions tightened(const Plan& plan, const SearchOptions& options, std::size_t allowed) {
  SearchOptions tighter = options;
  if (plan.query_tile > 1)
    tighter.query_tile = (plan.query_tile + 1) / 2;
  else if (plan.lists > 1)
    tighter.lists = (plan.lists + 1) / 2;
  else
    throw Error(Errc::out_of_memory, "search: one query takes " + std::to_string(plan.workspace_bytes) +
                                         " bytes on " + plan.device + ", scratch included, but " +
                                         std::to_string(allowed) +
                                         " are allowed; raise the memory limit or choose a smaller k");
  return tighter;
}

/// Returns a plan whose tiles and scratch fit into memory. The device is only asked how much scratch its
/// steps need.
///   device  the device of the index, with or without its measurements
Plan sized_plan(const ResidentRows& index, const DeviceInfo& device, const Problem& problem,
                const SearchOptions& options, const Feedback& feedback) {
  SearchOptions tighter = options;
  for (;;) {
    Plan plan = plan_problem(device, problem, tighter, feedback);
    heed_rows(index, plan);
    if (plan.proposer == Proposer::none && !plan.boxes && plan.train_tile > longest_chunk(index)) {
      tighter.train_tile = longest_chunk(index);  // a tile lies in one chunk
      continue;
    }
    const std::size_t scratch = scratch_of(*index.device.state(), plan);
    const std::size_t budget = memory_budget(device, plan, options);
    plan.workspace_bytes += scratch;
    if (plan.workspace_bytes <= budget && scratch <= device.largest_allocation) return plan;
    tighter = tightened(plan, tighter, std::min(budget, device.largest_allocation));
  }
}

/// Tests the kernels that `plan` uses, each once. Throws unsupported: the device failed a test.
void prove(Device::State& device, const Plan& plan) {
  std::string why;
  if (plan.proposer != Proposer::none) why = test_proposer(device, plan);
  if (why.empty() && plan.boxes) why = test_boxes(device, plan.problem.metric, plan.problem.terms);
  if (why.empty() && plan.problem.terms != Terms::differences && !plan.boxes)
    why = test_terms(device, plan.problem.metric, plan.problem.terms);
  if (why.empty() && is_of_sums(plan.problem.metric)) why = test_sums(device, plan.problem.metric);
  if (why.empty() && !plan.fused && !plan.boxes) why = test_selector(device, plan.selector, plan.problem.k);
  if (!why.empty()) throw Error(Errc::unsupported, "search: " + device.device->info.spec + ": " + why);
}

/// Returns what earlier searches taught, what is known about the rows, and how much memory the device has for
/// this search.
Feedback all_feedback(const ResidentRows& index, const Problem& problem, const SearchOptions& options,
                      Feedback feedback) {
  feedback.byte_blur = byte_blur_of(index);
  if (index.chunks.size() == 1)
    feedback.half_byte_blur = half_byte_blur_of(index);  // else there is no sample
  if (feedback.byte_blur > 0 && std::isfinite(feedback.byte_blur) &&
      asks_for_byte_speed(index.device.info(), problem, options))
    feedback.byte_speed = byte_speed(*index.device.state());
  return feedback;
}

}  // namespace

/// Returns the way that is tried after `way_`, or nothing if there is no other. Another plan may succeed
/// after any refusal while planning, or if a running plan lacked memory, which may have been free when the
/// plan was made or measured.
std::optional<SearchPlanner::Way> SearchPlanner::way_after(Errc code, const Plan* at_work) const {
  const bool was_refused = !at_work && (code == Errc::unsupported || code == Errc::unavailable);
  if (code != Errc::out_of_memory && !was_refused) return std::nullopt;
  if (at_work && at_work->boxes && !options_.boxes) return Way{way_.rules, false};
  const bool free_to_propose = options_.proposer == Proposer::automatic;
  const bool proposed = at_work && at_work->proposer != Proposer::none;
  if (way_.rules == Rules::measured && !(free_to_propose && proposed) &&
      !(at_work && !options_.sample.empty()))
    return Way{Rules::built_in, way_.boxes};
  if (way_.rules != Rules::chain && free_to_propose && (proposed || !at_work))
    return Way{Rules::chain, way_.boxes};
  return std::nullopt;
}

SearchPlanner::SearchPlanner(const ResidentRows& index, std::int64_t m, std::int64_t k,
                             const SearchOptions& options, const Feedback& feedback)
    : index_(index),
      problem_{index.metric, index.rows, m, index.dims, k, index.kind_of_terms()},
      options_(options),
      feedback_(all_feedback(index, problem_, options, feedback)),
      way_{index.device.info().tuning ? Rules::measured : Rules::built_in} {}

Plan SearchPlanner::plan() const {
  const DeviceInfo& device = index_.device.info();
  std::optional<SearchOptions> own;
  if (!way_.boxes) own.emplace(options_).boxes = false;
  if (way_.rules == Rules::chain) (own ? *own : own.emplace(options_)).proposer = Proposer::none;
  std::optional<DeviceInfo> plain;
  if (way_.rules != Rules::measured && device.tuning) plain.emplace(without_tuning(device));
  Plan plan = sized_plan(index_, plain ? *plain : device, problem_, own ? *own : options_, feedback_);
  prove(*index_.device.state(), plan);
  if (plan.residence == Residence::quantized) plan.row_copy_bytes = 0;  // the rows are in a source
  plan.reason += note_;
  return plan;
}

bool SearchPlanner::give_way(const Error& error, const Plan* at_work) {
  const std::optional<Way> next = way_after(error.code(), at_work);
  if (!next) return false;
  const bool was_measured = way_.rules == Rules::measured;
  note_ += !next->boxes && way_.boxes ? reasons::gave_way_boxes(error.what())
           : at_work                  ? reasons::gave_way_at_work(error.what())
           : was_measured             ? reasons::gave_way_measured(error.what())
                                      : reasons::gave_way_proposer(error.what());
  way_ = *next;
  return true;
}

Plan plan_search(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options,
                 const Feedback& feedback) {
  for (SearchPlanner planner(index, m, k, options, feedback);;) try {
      return planner.plan();
    } catch (const Error& error) {
      if (!planner.give_way(error, nullptr)) throw;
    }
}

}  // namespace kith
