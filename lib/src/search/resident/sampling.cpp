#include "search/resident/sampling.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "base/text.hpp"
#include "kith/error.hpp"
#include "plan/reasons.hpp"

namespace kith {
namespace {

constexpr std::size_t timed_runs = 3;  // after one run that is not timed

/// Draws a query by the sizes alone: any query would do, and equal searches draw the same one.
std::int64_t drawn_query(const ResidentRows& index, std::int64_t m, std::int64_t k) {
  std::uint64_t hash = 0;
  for (const std::int64_t size : {index.rows, m, index.dims, k})
    hash = split_mix(hash + static_cast<std::uint64_t>(size) + split_mix_step);
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(m));
}

/// Returns the device seconds of selecting for query `drawn` by `plan`: the median of a few runs.
double selection_seconds(const ResidentRows& index, const QueryRows& queries, std::int64_t drawn,
                         const Plan& plan, const SearchOptions& options) {
  const QueryRows query = queries.slice(drawn, 1);
  SearchOptions one = options;
  one.self.reset();  // plan.problem.k already includes the query itself
  if (plan.filters > 1) one.filter = FilterWords(options.filter.slice(drawn, 1));
  one.lists = plan.lists;
  one.train_tile = plan.train_tile;
  one.progress = nullptr;
  const Plan of_one = plan_search(index, 1, plan.problem.k, one, {});
  std::vector<double> seconds;
  for (std::size_t i = 0; i <= timed_runs; ++i) {
    Trace trace;
    search_tiles({index, of_one, one, query, 0, &trace}, [](Workspace&, std::int64_t, std::int64_t) {});
    if (i > 0) seconds.push_back(trace.seconds[spi::SelectStep::name] + trace.seconds[spi::MergeStep::name]);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[timed_runs / 2];
}

}  // namespace

Plan plan_by_sample(const ResidentRows& index, const QueryRows& queries, std::int64_t k,
                    const SearchOptions& options) {
  const std::int64_t drawn = drawn_query(index, queries.rows(), k);
  std::string times, left_out;
  std::optional<Plan> best;
  double least = 0;
  for (const Selector selector : options.sample) {
    SearchOptions named = options;
    named.sample.clear();
    named.selector = selector;
    try {
      Plan plan = plan_search(index, queries.rows(), k, named, {});
      const double seconds = selection_seconds(index, queries, drawn, plan, named);
      times = reasons::sampled_time(times, selector, seconds);
      if (best && seconds >= least) continue;
      best = std::move(plan);
      least = seconds;
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported && error.code() != Errc::out_of_memory) throw;
      left_out += reasons::sampled_refusal(selector, error.what());
    }
  }
  if (!best)
    throw Error(Errc::unsupported, "search: there is nothing to sample on " + index.device.info().spec +
                                       left_out + "; name other selectors, or none");
  best->reason = reasons::sampled(drawn, times, left_out) + reasons::left_out(*best);
  return *best;
}

}  // namespace kith
