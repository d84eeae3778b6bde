#include "plan/rules/tuning_choice.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/float_guard.hpp"
#include "base/text.hpp"
#include "kith/error.hpp"
#include "kith/unstable/tuning.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
namespace {

// The largest allowed ratio between the sizes of a measured problem and of the given one: two steps of a grid
// of problems in which every problem is near one of the grid.
constexpr double most_rows_apart = 4, most_queries_apart = 4, most_k_apart = 4, most_dims_apart = 2;
constexpr std::int64_t large_part = 8;  // k above n / 8 is a class of its own, because most rows are sorted

/// Returns the distance of two sizes on a logarithmic scale; 1 is the largest that is allowed.
double apart(std::int64_t a, std::int64_t b, double most) {
  const auto size = [](std::int64_t value) { return static_cast<double>(std::max<std::int64_t>(value, 1)); };
  return std::fabs(std::log(size(a) / size(b))) / std::log(most);
}

/// Returns the squared distance of two problems in the space of logarithms; negative if they are too
/// far apart.
double distance_between(const DeviceInfo& device, const Problem& a, const Problem& b) {
  const auto fits = [&](const Problem& p) { return static_cast<std::uint64_t>(p.k) <= device.fused_max_k; };
  const auto is_large_part = [](const Problem& p) { return p.k > p.n / large_part; };
  if (fits(a) != fits(b) || is_large_part(a) != is_large_part(b)) return -1;
  double sum = 0;
  for (const double d : {apart(a.n, b.n, most_rows_apart), apart(a.m, b.m, most_queries_apart),
                         apart(a.k, b.k, most_k_apart), apart(a.dims, b.dims, most_dims_apart)}) {
    if (d > 1 + 1e-9) return -1;
    sum += d * d;
  }
  return sum;
}

/// Returns the first metric in the table with the same chain: measurements of squared_l2 hold for l2
/// and cosine.
Metric chain_of(Metric metric) {
  struct Row {
    Metric metric;
    std::string_view start, accumulate;
  };
  constexpr Row rows[] = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) {Metric::id, #start, #accumulate},
#include "kith/metrics.def"
#undef KITH_METRIC
  };
  const Row& mine = *std::find_if(std::begin(rows), std::end(rows),
                                  [&](const Row& row) { return row.metric == chain_metric(metric); });
  return std::find_if(
             std::begin(rows), std::end(rows),
             [&](const Row& row) { return row.start == mine.start && row.accumulate == mine.accumulate; })
      ->metric;
}

bool same_chain(const Problem& a, const Problem& b) {
  return chain_of(a.metric) == chain_of(b.metric);
}

/// Returns whether the device has what the entry needs.
bool applies(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
             const TuningEntry& entry) {
  const auto has = [](const auto& list, auto value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  if (entry.proposer != Proposer::none) {
    if (options.proposer != Proposer::automatic || !has(device.proposers, entry.proposer)) return false;
    if (!same_chain(entry.problem, problem)) return false;
  }
  if (entry.fused) return static_cast<std::uint64_t>(problem.k) <= device.fused_max_k;
  return has(device.selectors, entry.selector);
}

/// Returns the nearest entry. Of equally near ones, one with the same chain comes first, then the fastest,
/// then the first in the file.
const TuningEntry* nearest_entry(const DeviceInfo& device, const Problem& problem,
                                 const SearchOptions& options) {
  const TuningEntry* best = nullptr;
  double best_distance = 0;
  const auto before = [&](const TuningEntry& entry, double distance) {
    if (distance != best_distance) return distance < best_distance;
    const bool same = same_chain(entry.problem, problem);
    if (same != same_chain(best->problem, problem)) return same;
    return entry.seconds < best->seconds;
  };
  for (const TuningEntry& entry : device.tuning->entries) {
    const double distance = distance_between(device, problem, entry.problem);
    if (distance < 0 || !applies(device, problem, options, entry)) continue;
    if (best && !before(entry, distance)) continue;
    best = &entry;
    best_distance = distance;
  }
  return best;
}

/// Returns whether the caller leaves the choice open.
bool is_open(const DeviceInfo& device, const SearchOptions& o) {
  const bool all_threads =
      o.threads == 0 || !device.profile.host_threads || o.threads == device.compute_units;
  return o.selector == Selector::automatic && o.sample.empty() && !o.fused && o.lists == 0 &&
         o.query_tile == 0 && o.train_tile == 0 && all_threads &&
         (o.proposer == Proposer::automatic || o.proposer == Proposer::none);
}

/// Scales the size that the rule gives for this problem by measured / rule for the entry's problem. Returns
/// 0, which means the rule's size, if these two were equal.
std::int64_t scaled(std::int64_t rule_here, std::int64_t measured, std::int64_t rule_there) {
  if (measured == rule_there) return 0;
  const double factor = static_cast<double>(measured) / static_cast<double>(rule_there);
  return std::max<std::int64_t>(1, std::llround(factor * static_cast<double>(rule_here)));
}

}  // namespace

std::optional<Plan> tuned_plan(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                               std::string& why_not) {
  why_not.clear();
  if (!device.tuning || !is_open(device, options)) return std::nullopt;
  const FloatGuard guard;
  const TuningEntry* entry = nearest_entry(device, problem, options);
  if (!entry) {
    why_not = reasons::nothing_measured();
    return std::nullopt;
  }
  const DeviceInfo plain = without_tuning(device);
  SearchOptions way = options;
  way.proposer = entry->proposer;
  if (entry->fused)
    way.fused = true;
  else
    way.selector = entry->selector;
  try {
    const Plan there = plan_problem(plain, entry->problem, way), here = plan_problem(plain, problem, way);
    way.lists = scaled(here.lists, entry->lists, there.lists);
    way.query_tile = scaled(here.query_tile, entry->query_tile, there.query_tile);
    way.train_tile = scaled(here.train_tile, entry->train_tile, there.train_tile);
    Plan plan = plan_problem(plain, problem, way);
    plan.reason = reasons::tuned(*entry);
    return plan;
  } catch (const Error& error) {  // for example too little memory; the built-in rule may need less
    why_not = reasons::measured_refused(error.what());
    return std::nullopt;
  }
}

}  // namespace kith
