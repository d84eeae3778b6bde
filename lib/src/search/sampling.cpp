#include "search/sampling.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "kith/error.hpp"
#include "plan/plan_rules.hpp"
#include "base/split_mix.hpp"

namespace kith {
namespace {

constexpr std::size_t timed_runs = 3;  // after one that is not timed

std::string names_of(const std::vector<Selector>& selectors) {
  std::string list;
  for (const Selector s : selectors) list += (list.empty() ? "" : ", ") + std::string(name(s));
  return list;
}

/// A query drawn by the sizes: any is as good as another, and the same search draws the same one.
std::int64_t drawn_query(const Index::State& index, std::int64_t m, std::int64_t k) {
  std::uint64_t hash = 0;
  for (const std::int64_t size : {index.rows, m, index.dims, k})
    hash = split_mix(hash + static_cast<std::uint64_t>(size) + split_mix_step);
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(m));
}

/// Device seconds that the selection of query `drawn` takes as `plan` does it: the median of a few runs.
double selection_seconds(const Index::State& index, MatrixView<const float> queries, std::int64_t drawn,
                         const Plan& plan, const PlanOptions& options) {
  const MatrixView<const float> query = queries.slice(drawn, 1);
  PlanOptions one = options;
  one.self.reset();  // plan.problem.k is one more already
  if (plan.filters > 1) one.filter = options.filter.slice(drawn, 1);
  one.groups = plan.groups;
  one.train_tile = plan.train_tile;
  one.progress = nullptr;
  const Plan of_one = plan_search(index, 1, plan.problem.k, one);
  std::vector<double> seconds;
  for (std::size_t i = 0; i <= timed_runs; ++i) {
    Trace trace;
    run(index, of_one, one, query, 0, &trace, {}, [](Workspace&, std::int64_t, std::int64_t) {});
    if (i > 0) seconds.push_back(trace.seconds[spi::SelectStep::name] + trace.seconds[spi::MergeStep::name]);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[timed_runs / 2];
}

std::string ms(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

/// A message without the place it begins with.
std::string bare(const Error& error) {
  const std::string text = error.what(), where = "search: ";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

}  // namespace

void check_sample(const PlanOptions& options) {
  if (options.sample.empty()) return;
  const std::string sample = "a sample to choose among " + names_of(options.sample) + " was asked for";
  const auto refuse = [](const std::string& why) { throw Error(Errc::invalid_argument, "search: " + why); };
  if (options.selector != Selector::automatic)
    refuse(sample + ", and selector " + std::string(name(options.selector)) + "; drop one of the two");
  if (options.fused == true)
    refuse(sample + ", and the fused step, which has its own selection; drop one of the two");
  if (std::find(options.sample.begin(), options.sample.end(), Selector::automatic) != options.sample.end())
    refuse(sample + ", but automatic is no selector; name those to be timed");
}

Plan plan_before_sample(const DeviceInfo& device, const Problem& problem, const PlanOptions& options) {
  PlanOptions first = options;
  first.sample.clear();
  const auto& has = device.selectors;
  const auto found = std::find_if(options.sample.begin(), options.sample.end(), [&](Selector s) {
    return std::find(has.begin(), has.end(), s) != has.end();
  });
  if (found == options.sample.end())
    throw Error(Errc::unsupported, "search: " + device.spec + " has none of the selectors to be sampled, " +
                                       names_of(options.sample) + "; it has " + names_of(has));
  first.selector = *found;
  Plan plan = plan_problem(device, problem, first);
  plan.reason = "one query of the data will be sampled, to choose among " + names_of(options.sample);
  return plan;
}

Plan plan_by_sample(const Index::State& index, MatrixView<const float> queries, std::int64_t k,
                    const PlanOptions& options) {
  const std::int64_t drawn = drawn_query(index, queries.rows(), k);
  std::string times, left_out;
  std::optional<Plan> best;
  double least = 0;
  for (const Selector selector : options.sample) {
    PlanOptions named = options;
    named.sample.clear();
    named.selector = selector;
    const std::string called(name(selector));
    try {
      Plan plan = plan_search(index, queries.rows(), k, named);
      const double seconds = selection_seconds(index, queries, drawn, plan, named);
      times += (times.empty() ? "" : ", ") + called + " " + ms(seconds);
      if (best && seconds >= least) continue;
      best = std::move(plan);
      least = seconds;
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported && error.code() != Errc::out_of_memory) throw;
      left_out += "; " + called + " is left out: " + bare(error);
    }
  }
  if (!best)
    throw Error(Errc::unsupported, "search: there is nothing to sample on " + index.device.info().spec +
                                       left_out + "; name other selectors, or none");
  best->reason =
      "sampled query " + std::to_string(drawn) + ": " + times + left_out + note_on_rows_left_out(*best);
  return *best;
}

}  // namespace kith
