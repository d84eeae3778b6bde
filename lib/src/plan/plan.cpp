#include "kith/unstable/plan.hpp"

#include <algorithm>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "boxes/boxes_rules.hpp"
#include "kith/error.hpp"
#include "plan/attempts.hpp"
#include "plan/plan_filter.hpp"
#include "plan/plan_memory.hpp"
#include "plan/plan_sample.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"
#include "plan/rules/tuning_choice.hpp"
#include "rows/row_filter.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse(Errc code, const std::string& message) {
  throw Error(code, "search: " + message);
}

void check_problem(const Problem& p, const SearchOptions& o) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  if (p.n < 1) refuse(Errc::invalid_argument, "there are no training rows; give at least one");
  if (p.dims < 1) refuse(Errc::invalid_argument, "rows have no columns; give at least one");
  if (p.m < 0) refuse(Errc::invalid_argument, "m = " + text(p.m) + " queries; give 0 or more");
  if (p.n > most_rows)
    refuse(Errc::invalid_argument, "n = " + text(p.n) + " training rows, but an index holds at most " +
                                       text(most_rows) + "; split them over several");
  if (o.self && p.n == 1)
    refuse(Errc::invalid_argument, "the index holds 1 row, which is not its own neighbour; give more rows");
  check_k("search", p.k, p.n, o);
  check_rows_left_out("search", p.n, p.m, o);
}

void check_options(const SearchOptions& o) {
  const auto positive = [](const char* what, std::int64_t value) {
    if (value < 0)
      refuse(Errc::invalid_argument, std::string(what) + " = " + std::to_string(value) +
                                         "; give a positive number, or 0 to let kith choose");
  };
  positive("lists", o.lists);
  positive("query tile", o.query_tile);
  positive("training tile", o.train_tile);
  check_sample(o);
  if (!has_filter(o)) return;
  if (o.fused == true)
    refuse(Errc::unsupported,
           "the fused step keeps no distances that a filter could strike out; drop one of the two");
}

/// Lists names, each with a comma after it: `gemm, fp16, `
std::string list_of(const std::vector<Proposer>& proposers) {
  std::string list;
  for (const Proposer p : proposers) list += std::string(name(p)) + ", ";
  return list;
}

/// Returns the proposer that the caller demands, or the fastest one.
ProposerChoice wanted_proposer(const DeviceInfo& device, const Problem& problem, const SearchOptions& o,
                               const Feedback& feedback) {
  if (o.proposer == Proposer::automatic) return choose_proposer(device, problem, o, feedback);
  if (o.proposer == Proposer::none) return {};
  const std::string what = "proposer " + std::string(name(o.proposer));
  if (problem.terms != Terms::differences || !follows_from_products(problem.metric))
    refuse(Errc::unsupported, what + " works by inner products, from which " +
                                  std::string(name(problem.metric)) + reasons::words_of(problem.terms) +
                                  " does not follow; choose proposer none");
  if (std::find(device.proposers.begin(), device.proposers.end(), o.proposer) == device.proposers.end())
    refuse(Errc::unsupported, device.spec + " has no " + what + "; choose " + list_of(device.proposers) +
                                  "none, or another device");
  return {o.proposer};
}

/// Replaces what the rules chose by what the caller demands.
///   why_not_tuned  reason from tuned_plan()
void apply(const DeviceInfo& device, const SearchOptions& o, const std::string& why_not_tuned,
           Choice& choice) {
  const auto has = [&](Selector s) {
    return std::find(device.selectors.begin(), device.selectors.end(), s) != device.selectors.end();
  };
  if (o.selector != Selector::automatic) {
    if (!has(o.selector))
      refuse(Errc::unsupported, device.spec + " has no selector " + std::string(name(o.selector)) +
                                    "; it has " + reasons::names_of(device.selectors));
    if (o.fused == true)
      refuse(Errc::unsupported, "the fused step has its own selection, so selector " +
                                    std::string(name(o.selector)) +
                                    " cannot be had with it; drop one of the two");
    choice.selector = o.selector;
    choice.fused = false;
    const bool proposes = choice.proposer != Proposer::none;
    choice.reason = reasons::selector_asked_for(o.selector, proposes ? choice.reason : "");
  } else if (o.fused) {
    if (*o.fused && device.fused_max_k == 0)
      refuse(Errc::unsupported, device.spec + " has no fused step; drop the demand for it");
    choice.fused = *o.fused;
    choice.reason = *o.fused        ? reasons::fused_asked_for()
                    : has_filter(o) ? reasons::filtered()
                                    : reasons::fused_refused();
  } else if (choice.proposer == Proposer::none) {
    choice.reason = reasons::built_in(choice.reason, why_not_tuned);
  }
  if (o.lists) choice.lists = o.lists;
  if (o.query_tile) choice.query_tile = o.query_tile;
  if (o.train_tile) choice.train_tile = o.train_tile;
}

/// Makes the plan of a search by boxes.
Plan fitted(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
            const BoxesChoice& choice) {
  Plan plan;
  plan.problem = problem;
  plan.device = device.spec;
  plan.boxes = true;
  plan.most_leaves = choice.most_leaves;
  plan.tried_queries = choice.tried_queries;
  plan.filters = options.filter.rows();
  plan.threads = options.threads;
  plan.reason = options.boxes ? reasons::boxes_asked_for() : reasons::boxes();
  plan.train_tile = problem.n;
  const std::int64_t tile = options.query_tile ? options.query_tile : choice.query_tile;
  plan.query_tile = std::clamp<std::int64_t>(tile, 1, std::max<std::int64_t>(problem.m, 1));
  fit_memory(device, options, plan);
  return plan;
}

/// Returns the plan by boxes if they were demanded, or if they may be faster and fit into memory.
std::optional<Plan> boxes_plan(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                               const Feedback& feedback) {
  const std::optional<BoxesChoice> choice =
      choose_boxes(device, problem, options, feedback, room_for_quantized_rows(device, options));
  if (!choice) return std::nullopt;
  try {
    return fitted(device, problem, options, *choice);
  } catch (const Error& error) {
    if (options.boxes == true || error.code() != Errc::out_of_memory) throw;
    return std::nullopt;  // another plan may need less
  }
}

/// Decides the plan. Problem and options are checked, and the caller has counted `self` into k.
Plan decide(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
            const Feedback& feedback) {
  if (!options.sample.empty()) return plan_before_sample(device, problem, options);
  std::string why_not_tuned;
  if (std::optional<Plan> tuned = tuned_plan(device, problem, options, why_not_tuned)) return *tuned;
  const ProposerChoice wanted = wanted_proposer(device, problem, options, feedback);
  Choice choice = wanted.proposer == Proposer::none
                      ? choose_chain(device, problem, options)
                      : choose_proposed(device, problem, options, wanted.proposer);
  apply(device, options, why_not_tuned, choice);
  if (wanted.paid) choice.reason = reasons::paid(wanted.proposer, feedback.bytes_made);
  if (wanted.scans_left > 0) choice.reason += reasons::scans_left(wanted.scans_left);

  Plan plan;
  plan.problem = problem;
  plan.device = device.spec;
  plan.selector = choice.selector;
  plan.fused = choice.fused;
  plan.filters = options.filter.rows();
  plan.threads = options.threads;
  plan.reason = choice.reason;
  plan.train_tile =
      std::clamp<std::int64_t>(choice.train_tile, 1, std::min(problem.n, rows_a_chunk(device, problem.dims)));
  plan.query_tile = std::clamp<std::int64_t>(choice.query_tile, 1, std::max<std::int64_t>(problem.m, 1));
  plan.proposer = choice.proposer;
  if (has_own_order(plan.proposer)) plan.train_tile = whole_quantized_blocks(plan.train_tile);
  plan.seed_rows = std::min(choice.seed_rows, plan.train_tile);
  plan.sample_rows = std::min(choice.sample_rows, plan.train_tile);
  plan.visit_rows = choice.visit_rows;
  plan.row_copy_bytes = row_copy_bytes(device, plan.proposer, problem);
  if (quantized_bytes(plan.proposer, problem.n, problem.dims) + plan.row_copy_bytes >
      room_for_quantized_rows(device, options))
    plan.row_copy_bytes = 0;  // the copy is optional
  plan.growth = plan.proposer == Proposer::none ? 0 : choice.growth;
  plan.candidates = std::min(choice.candidates, problem.n);
  plan.lists = std::clamp<std::int64_t>(choice.lists, 1, std::max<std::int64_t>(chain_tile(plan), 1));
  fit_memory(device, options, plan);
  return plan;
}

/// Returns the plan whose proposer masks the rows that the filter excludes, if it is fast.
std::optional<Plan> masked_plan(const DeviceInfo& device, const Problem& problem,
                                const SearchOptions& options, const Feedback& feedback) {
  if (!options.sample.empty() || options.proposer == Proposer::none || options.filter.rows() != 1)
    return std::nullopt;
  const std::int64_t kept = fewest_kept(options.filter, problem.n);
  const bool asked_for = options.proposer != Proposer::automatic;
  if (kept == 0 || (!asked_for && !keeps_enough_to_mask(device.kind, kept, problem))) return std::nullopt;
  SearchOptions open = options;
  open.filter = {};
  try {
    Plan plan = decide(device, problem, open, feedback);
    if (plan.proposer == Proposer::none || (!asked_for && overwhelms(feedback, plan.proposer, problem.k)))
      return std::nullopt;
    plan.filters = 1;
    plan.masked = true;
    see_enough_that_count(kept, plan);
    fit_memory(device, options, plan);
    plan.reason += reasons::masked(kept, problem.n);
    return plan;
  } catch (const Error& error) {
    if (asked_for || error.code() != Errc::out_of_memory) throw;
    return std::nullopt;  // the chain may need less
  }
}

/// Returns the plan that ignores the filter, searches for more neighbours, and then drops those that do not
/// count, if it is fast.
std::optional<Plan> struck_plan(const DeviceInfo& device, const Problem& problem,
                                const SearchOptions& options, const Feedback& feedback) {
  if (!options.sample.empty() || options.proposer == Proposer::none) return std::nullopt;
  const std::int64_t kept = fewest_kept(options.filter, problem.n);
  const bool asked_for = options.proposer != Proposer::automatic;
  if (!asked_for && !keeps_most(kept, problem.n)) return std::nullopt;
  SearchOptions open = options;
  open.filter = {};
  Problem wider = problem;
  wider.k = places_to_search(problem.k, kept, problem.n);
  try {
    Plan plan = decide(device, wider, open, feedback);
    if (plan.proposer == Proposer::none) {
      if (!plan.fused) return std::nullopt;
      open.memory_limit = memory_budget(device, plan, options) / 2;  // as in memory_budget()
      plan = decide(device, wider, open, feedback);
    }
    if (!asked_for && overwhelms(feedback, plan.proposer, wider.k)) return std::nullopt;
    plan.filters = options.filter.rows();
    plan.struck = true;
    plan.reason += reasons::struck(wider.k, problem.k);
    return plan;
  } catch (const Error& error) {
    if (asked_for || error.code() != Errc::out_of_memory) throw;
    return std::nullopt;  // the chain may need less
  }
}

/// Decides the plan for a problem with a filter, but not by boxes.
Plan decide_filtered(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                     const Feedback& feedback) {
  if (std::optional<Plan> plan = masked_plan(device, problem, options, feedback)) return *plan;
  if (std::optional<Plan> plan = struck_plan(device, problem, options, feedback)) return *plan;
  SearchOptions way = options;
  way.fused = false;
  way.proposer = Proposer::none;
  return decide(device, problem, way, feedback);
}

}  // namespace

Choice choose_chain(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  if (device.profile.host_threads) return choose_cpu(device, problem, options);
  return device.kind == DeviceKind::cpu ? choose_opencl_cpu(device, problem, options)
                                        : choose_gpu(device, problem, options);
}

Plan plan_problem(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                  const Feedback& feedback) {
  const FloatGuard guard;  // rules compare estimates in seconds
  check_problem(problem, options);
  check_options(options);
  Problem searched = problem;
  SearchOptions way = options;
  if (options.self) {
    ++searched.k;
    way.self.reset();
  }
  if (std::optional<Plan> plan = boxes_plan(device, searched, way, feedback)) {
    plan->self = options.self;
    plan->reason += reasons::left_out(*plan);
    plan->attempts = attempts_of(*plan, false);
    return *plan;
  }
  const bool of_sums = is_of_sums(problem.metric), of_terms = problem.terms != Terms::differences;
  if (of_terms || of_sums) {  // the fused step has chains alone, which do not follow from products
    if (options.fused == true)
      refuse(Errc::unsupported,
             "the fused step is not for " +
                 (of_sums                            ? std::string(name(problem.metric))
                  : problem.terms == Terms::periodic ? std::string("rows in a periodic box")
                                                     : std::string("terms of columns")) +
                 "; drop the demand for it");
    way.fused = false;
  }
  Plan plan = has_filter(options) ? decide_filtered(device, searched, way, feedback)
                                  : decide(device, searched, way, feedback);
  if (options.proposer == Proposer::automatic && overwhelms(feedback, plan.proposer, plan.problem.k)) {
    way.proposer = Proposer::none;  // a measurement chose the proposer
    plan = decide(device, searched, way, feedback);
  }
  plan.self = options.self;
  if (of_terms) plan.reason = reasons::by_terms(problem.terms);
  if (of_sums) plan.reason = reasons::of_sums();
  plan.reason += reasons::left_out(plan);
  if (options.proposer == Proposer::automatic)
    for (const Feedback::Lesson& lesson : feedback.lessons)
      if (overwhelms(feedback, lesson.proposer, plan.problem.k))
        plan.reason += reasons::overwhelmed(lesson.proposer);
  plan.attempts = attempts_of(plan, !lesson_of(feedback, plan.proposer).misleads);
  return plan;
}

Plan make_plan(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
               const Feedback& feedback) try {
  return plan_problem(device, problem, options, feedback);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
