// kith tune: finds the fastest method for one problem on one device.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "command/tune/tune.hpp"
#include "files/printed.hpp"
#include "kith/error.hpp"
#include "workloads/cases.hpp"
#include "workloads/clock.hpp"

namespace kith::command {
namespace {

constexpr std::size_t most_samples = 5, fewest_samples = 3, fewest_pairs = 5, most_pairs = 7;
constexpr double gain_that_counts = 0.97;  ///< a method must take less than this share of the built-in's
constexpr double widest_spread = 1.5;      ///< of median to least time; a larger ratio is noise
constexpr double hopeless = 1.5;           ///< as many times slower than the fastest: no further sample
constexpr double shortest_limit = 0.2e-3;  ///< below this, most of the time is that of starting a step
constexpr std::int64_t fewest_rows = 256;  ///< of the first trial of a method

/// Rounds to four digits, which is more than repeated measurements agree in.
double rounded(double seconds) {
  return std::strtod(files::printed("%.3e", seconds).c_str(), nullptr);
}

double least(const std::vector<double>& samples) {
  return *std::min_element(samples.begin(), samples.end());
}

/// Seconds of two methods that ran in turns. The least times are compared: other work disturbed them least.
struct Duel {
  std::vector<double> ours, theirs;

  bool unsure() const {
    return workloads::median(ours) > widest_spread * least(ours) ||
           workloads::median(theirs) > widest_spread * least(theirs);
  }
  bool won() const {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) pairs += ours[i] < theirs[i];
    return !unsure() && 4 * pairs >= 3 * ours.size() && least(ours) < gain_that_counts * least(theirs);
  }
};

/// Thrown by a search that has taken too long.
struct TooLong {};

bool contains(const auto& list, auto value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TunedWay TunedWay::of(const Plan& plan) {
  return {plan.fused,      plan.fused ? Selector::threshold : plan.selector,
          plan.proposer,   plan.lists,
          plan.query_tile, plan.train_tile};
}

TuningEntry TunedWay::entry(const Problem& problem, double seconds, double built_in_seconds) const {
  return {problem,
          fused,
          selector,
          proposer,
          lists,
          query_tile,
          train_tile,
          rounded(seconds),
          rounded(built_in_seconds)};
}

std::string TunedWay::text() const {
  return (proposer == Proposer::none ? "" : std::string(name(proposer)) + " and ") +
         (fused ? "fused" : std::string(name(selector)));
}

struct Tuner::Run {
  Neighbors found;
  double seconds = 0;  ///< of the device
};

Tuner::Tuner(const Device& device, Metric metric, std::int64_t n, std::int64_t dims, std::int64_t most_m,
             std::function<void()> step)
    : device_(device),
      plain_(without_tuning(device.info())),
      metric_(metric),
      train_(make_rows(workloads::DataKind::uniform, workloads::measured_seed, workloads::Set::train, n, dims,
                       metric)),
      queries_(make_rows(workloads::DataKind::uniform, workloads::measured_seed, workloads::Set::queries,
                         most_m, dims, metric)),
      step_(std::move(step)) {}

const Index& Tuner::index_of(std::int64_t rows) {
  auto found = indexes_.find(rows);
  if (found == indexes_.end())
    found = indexes_.emplace(rows, Index(device_, train_.view().slice(0, rows), metric_)).first;
  return found->second;
}

SearchOptions Tuner::options_of(const TunedWay& way) const {
  SearchOptions options;
  options.boxes = false;  // data tell when they pay
  if (way.fused)
    options.fused = true;
  else
    options.selector = way.selector;
  options.proposer = way.proposer;
  options.lists = way.lists;
  options.query_tile = way.query_tile;
  options.train_tile = way.train_tile;
  return options;
}

/// Throws TooLong when `limit` seconds of the host have passed.
Tuner::Run Tuner::search(const Index& index, const Problem& problem, const TunedWay& way, double limit) {
  step_();
  SearchOptions options = options_of(way);
  const double end = now_seconds() + limit;
  options.progress = [&](const Progress& progress) {
    step_();
    if (progress.fraction < 1 && now_seconds() > end) throw TooLong{};
  };
  Trace trace;
  trace.time_steps = false;
  Run run;
  run.found = index.search(queries_.view().slice(0, problem.m), problem.k, options, &trace);
  run.seconds = trace.device_seconds;
  return run;
}

/// Returns whether `way` takes longer than `limit` for a part of the rows. Then all rows are not tried, so
/// a method whose cost grows with the square of n costs little time.
bool Tuner::grows_too_fast(const Problem& problem, const TunedWay& way, double limit, std::string& why) {
  for (const std::int64_t part : {64, 16, 4}) {
    Problem smaller = problem;
    smaller.n = problem.n / part;
    if (smaller.n < std::max(fewest_rows, 2 * problem.k)) continue;
    smaller.m = std::max<std::int64_t>(1, std::min(problem.m, problem.m * 4 / part));
    TunedWay by_rule = way;
    by_rule.lists = by_rule.query_tile = by_rule.train_tile = 0;
    const Index& index = index_of(smaller.n);
    double seconds = search(index, smaller, by_rule, limit + 1).seconds;
    if (seconds > limit) seconds = std::min(seconds, search(index, smaller, by_rule, limit + 1).seconds);
    if (seconds <= limit) continue;
    why = std::to_string(smaller.m) + " of the queries among " + std::to_string(smaller.n) +
          " of the rows took " + format_seconds(seconds);
    return true;
  }
  return false;
}

/// Returns the median time of a few searches, whose bits are compared; nothing if the method is left out.
std::optional<double> Tuner::time(const Problem& problem, const TunedWay& way, TunedProblem& result) {
  for (const auto& [known, seconds] : times_)
    if (known == way) return seconds;
  const auto leave_out = [&](const std::string& why) {
    const std::string line = way.text() + ": " + why;
    if (!contains(result.left_out, line)) result.left_out.push_back(line);
    return std::nullopt;
  };
  const double limit = std::max(hopeless * least_, shortest_limit), left = deadline_ - now_seconds();
  if (!times_.empty() && left <= 0) return leave_out("the time is up");
  try {
    std::string why;
    if (!times_.empty() && way.lists == 0 && grows_too_fast(problem, way, limit, why)) return leave_out(why);
    const Index& index = index_of(problem.n);
    Run run = search(index, problem, way, std::max(left, 1.0));
    if (times_.empty())
      expected_ = std::move(run.found);
    else if (run.found != expected_) {
      result.difference =
          way.text() + ": " +
          difference(workloads::Answer{expected_, {}, {}}, workloads::Answer{run.found, {}, {}});
      return leave_out("other bits");
    }
    std::vector<double> samples;
    while (samples.size() < most_samples) {
      if (samples.size() >= fewest_samples && now_seconds() > deadline_) break;
      samples.push_back(search(index, problem, way, std::max(left, 1.0)).seconds);
      if (!times_.empty() && samples.back() > limit && samples.size() > 1) break;
    }
    ++result.timed;
    const double seconds = workloads::median(samples);
    times_.emplace_back(way, seconds);
    least_ = times_.size() == 1 ? seconds : std::min(least_, seconds);
    return seconds;
  } catch (const TooLong&) {
    return leave_out("the time is up");
  } catch (const Error& error) {
    if (!workloads::is_refusal(error)) throw;
    return leave_out(error.what());
  }
}

/// Returns `way` with the sizes that the planner gives it; nothing if the device refuses it.
std::optional<TunedWay> Tuner::planned(const Problem& problem, const TunedWay& way) {
  try {
    return TunedWay::of(index_of(problem.n).plan(problem.m, problem.k, options_of(way)));
  } catch (const Error& error) {
    if (!workloads::is_refusal(error)) throw;
    return std::nullopt;
  }
}

/// Returns every selector and proposer of the device, with the sizes of the built-in rules.
std::vector<TunedWay> Tuner::first_ways(const Problem& problem, const TunedWay& built_in) const {
  std::vector<TunedWay> ways;
  if (static_cast<std::uint64_t>(problem.k) <= plain_.fused_max_k) ways.push_back({true});
  for (const Selector selector : plain_.selectors) ways.push_back({false, selector});
  for (const Proposer proposer : plain_.proposers)
    ways.push_back({built_in.fused, built_in.selector, proposer});
  return ways;
}

/// Tries `way` with other lists, then with other query tiles.
std::vector<TunedWay> Tuner::variants(const Problem& problem, const TunedWay& base) {
  std::vector<TunedWay> all;
  const auto add = [&](std::int64_t TunedWay::*size, double factor) {
    TunedWay other = base;
    other.*size =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(base.*size) * factor));
    const std::optional<TunedWay> made = planned(problem, other);
    if (made && *made != base && !contains(all, *made)) all.push_back(*made);
  };
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) add(&TunedWay::lists, factor);
  for (const double factor : {0.25, 0.5, 2.0}) add(&TunedWay::query_tile, factor);
  return all;
}

/// Times the fastest method and the built-in one once more, in turns, and keeps the better one.
void Tuner::decide(const Problem& problem, const TunedWay& built_in, TunedProblem& result) {
  const auto fastest = [&](bool with_proposers) {
    auto best = times_.front();  // the built-in method
    for (const auto& timed : times_)
      if (timed.second < best.second && (with_proposers || timed.first.proposer == Proposer::none))
        best = timed;
    return best.first;
  };
  const double by_itself = times_.front().second;
  // Returns whether the times differed too much for a decision.
  const auto run_duel = [&](const TunedWay& way) {
    if (way == built_in) {
      result.best.push_back(built_in.entry(problem, by_itself, by_itself));
      return false;
    }
    const Index& index = index_of(problem.n);
    Duel duel;
    for (std::size_t i = 0; i < most_pairs; ++i) {
      if (i >= fewest_pairs && now_seconds() > deadline_) break;
      duel.ours.push_back(search(index, problem, way, 60).seconds);
      duel.theirs.push_back(search(index, problem, built_in, 60).seconds);
    }
    const double seconds = least(duel.ours), by_rule = least(duel.theirs);
    result.best.push_back(duel.won() ? way.entry(problem, seconds, by_rule)
                                     : built_in.entry(problem, by_rule, by_rule));
    return duel.unsure();
  };
  result.unsure = run_duel(fastest(true));
  if (result.best.front().proposer != Proposer::none && built_in.proposer == Proposer::none)
    run_duel(fastest(false));
  const double by_rule = result.best.front().built_in_seconds;
  result.built_in = built_in.entry(problem, by_rule, by_rule);
}

TunedProblem Tuner::measure(std::int64_t m, std::int64_t k, double seconds) {
  const Problem problem{metric_, train_.rows(), m, train_.dims(), k};
  TunedProblem result;
  result.problem = problem;
  deadline_ = now_seconds() + seconds;
  times_.clear();
  expected_ = {};
  try {
    SearchOptions rules{.boxes = false};
    const TunedWay first = TunedWay::of(make_plan(plain_, problem, rules)),
                   built_in = TunedWay::of(index_of(problem.n).plan(m, k, options_of(first)));
    if (!time(problem, built_in, result)) {
      result.refusal = result.left_out.back();
      return result;
    }
    for (const TunedWay& way : first_ways(problem, built_in))
      if (planned(problem, way) != built_in) time(problem, way, result);
    for (auto& [way, taken] : times_) way = planned(problem, way).value_or(way);
    auto ranked = times_;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    ranked.resize(std::min<std::size_t>(2, ranked.size()));
    for (const auto& [way, taken] : ranked)
      for (const TunedWay& variant : variants(problem, way)) time(problem, variant, result);
    decide(problem, built_in, result);
  } catch (const Error& error) {
    if (!workloads::is_refusal(error)) throw;
    result.refusal = error.what();
  }
  return result;
}

std::string way_text(const TuningEntry& e) {
  return TunedWay{e.fused, e.selector, e.proposer}.text() + ", " + std::to_string(e.lists) +
         (e.lists == 1 ? " list" : " lists") + ", query tile " + std::to_string(e.query_tile);
}

}  // namespace kith::command
