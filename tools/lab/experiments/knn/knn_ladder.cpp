// Measures the versions knn00 to knn03 of KNN in CUDA (Batlle, Ballber 2020), one after the other.
#include <array>
#include <cmath>
#include <map>

#include "lab/experiments/knn/knn_comparisons.hpp"
#include "lab/experiments/points.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t smallest_n = 1024, largest_n = 131072, largest_quick_n = 16384;

/// Describes one version of the published program.
struct Version {
  const char* label;
  Selector selector;
  bool select_on_device, vote_on_device;
  spi::VoteMethod vote;
  bool locked;
};

constexpr std::array<Version, 3> versions = {{
    {"knn00: distance on the device", Selector::selection_sort, false, false, spi::VoteMethod::automatic,
     false},
    {"knn01, knn02: + vote by atomics, pinned memory", Selector::selection_sort, false, true,
     spi::VoteMethod::atomic, true},
    {"knn03: + merge sort on the device, vote without branches", Selector::merge_sort, true, true,
     spi::VoteMethod::branch_free, true},
}};
constexpr const Version& knn03 = versions[2];

Placement placement_of(const Version& version, const Device& device, const Device& cpu) {
  return {{Stage::distance, device},
          {Stage::select, version.select_on_device ? device : cpu},
          {Stage::vote, version.vote_on_device ? device : cpu}};
}

PlacedProblem problem_of(const Version& version, const Points& points, const Question& question) {
  PlacedProblem problem = placed_problem(points, question);
  problem.selector = version.selector;
  problem.vote = version.vote;
  problem.locked = version.locked;
  return problem;
}

/// Holds a device's curves, and the parts of its runs at the largest n.
struct Rungs {
  explicit Rungs(const Device& on) : device(on), automatic("kith's choice", on) {
    for (const Version& version : versions) curves.emplace_back(version.label, on);
  }
  Device device;
  std::vector<Curve> curves;  ///< one per version
  Curve automatic;
  std::vector<PlacedRun> runs = std::vector<PlacedRun>(versions.size());
};

void measure(const Settings& settings, const Points& points, const Answer& right,
             std::vector<Rungs>& ladder) {
  const auto x = static_cast<double>(points.rows.rows());
  const PlacedAnswer expected = placed_answer(settings.cpu, placement_of(knn03, settings.cpu, settings.cpu),
                                              problem_of(knn03, points, question_15));
  for (Rungs& rungs : ladder) {
    for (std::size_t v = 0; v < versions.size(); ++v) {
      const PlacedProblem problem = problem_of(versions[v], points, question_15);
      const Placed placed =
          time_placed(settings, placement_of(versions[v], rungs.device, settings.cpu), problem, expected);
      rungs.curves[v].add(x, placed.measured, 1e3 * placed.measured.total);
      rungs.runs[v] = placed.run;
    }
    const Measured whole = time_whole_call(settings, rungs.device, points, question_15, right);
    rungs.automatic.add(x, whole, 1e3 * whole.total);
  }
}

/// Returns the milliseconds of each stage, and of the copies.
std::map<std::string, double> parts_of(const PlacedRun& run) {
  std::map<std::string, double> ms;
  for (const PlacedStep& step : run.steps)
    if (!step.is_copy()) ms[step.what.substr(0, step.what.find(' '))] += 1e3 * step.host;
  ms["copies"] = 1e3 * run.transfers();
  return ms;
}

/// Shows where the time goes at the largest n.
Table parts_table(const std::vector<Rungs>& ladder, std::int64_t n) {
  Table table{"Where the time goes, n = " + std::to_string(n) + ", host clock",
              {"version", "device", "distance, ms", "select, ms", "vote, ms", "copies, ms", "copies, bytes",
               "in all, ms"},
              {}};
  for (const Rungs& rungs : ladder)
    for (std::size_t v = 0; v < versions.size(); ++v) {
      const PlacedRun& run = rungs.runs[v];
      if (run.steps.empty()) continue;
      std::map<std::string, double> ms = parts_of(run);
      table.rows.push_back({versions[v].label, rungs.device.info().spec, number_text(ms["distance"]),
                            number_text(ms["select"]), number_text(ms["vote"]), number_text(ms["copies"]),
                            std::to_string(run.bytes()), number_text(1e3 * run.total)});
    }
  return table;
}

/// Returns how much faster a later version is than an earlier one at the largest n, and in which part.
Claim step_claim(const Rungs& rungs, std::size_t from, std::size_t to, std::int64_t n) {
  const auto short_name = [](std::size_t v) { return std::string(versions[v].label).substr(0, 5); };
  const Curve &before = rungs.curves[from], &after = rungs.curves[to];
  const auto x = static_cast<double>(n);
  const double ratio = before.at(x) / after.at(x);
  Claim claim{short_name(to) + " over " + short_name(from) + ", whole call", not_available,
              ratio_text(ratio) + (ratio < 0.995 ? ", so slower" : "") + " (" + rungs.device.info().spec +
                  ", n = " + std::to_string(n) + ")",
              ""};
  if (!std::isfinite(ratio)) {
    claim.why = std::isfinite(after.at(x)) ? before.series().note : after.series().note;
    return claim;
  }
  std::map<std::string, double> first = parts_of(rungs.runs[from]), then = parts_of(rungs.runs[to]);
  for (const char* part : {"distance", "select", "vote", "copies"})
    claim.why += (claim.why.empty() ? "where the time goes, ms: " : ", ") + std::string(part) + " " +
                 number_text(first[part]) + " -> " + number_text(then[part]);
  return claim;
}

/// Measures k = n, where every row is a neighbour. Returns all keys, nearest first.
std::vector<Key> measure_all_neighbours(const Settings& settings, const Points& points, Result& result) {
  const Question question{points.rows.rows(), {question_15.at[0], question_15.at[1]}};
  const PlacedProblem problem = problem_of(knn03, points, question);
  const PlacedAnswer expected =
      placed_answer(settings.cpu, placement_of(knn03, settings.cpu, settings.cpu), problem);
  for (const Device& device : settings.devices) {
    const Measured measured =
        time_placed(settings, placement_of(knn03, device, settings.cpu), problem, expected).measured;
    const std::string where = " (" + device.info().spec + ")";
    const bool works = measured.refusal.empty() && measured.difference.empty();
    Claim claim{"knn03 works up to k = n", "131072", "", measured.refusal};
    claim.here = (works                      ? std::to_string(question.k) + " in " + time_text(measured.total)
                  : measured.refusal.empty() ? "wrong bits"
                                             : "refused") +
                 where;
    result.claims.push_back(std::move(claim));
    if (measured.refusal.empty())
      result.checks.push_back(
          same_bits("knn03, k = n = " + std::to_string(question.k) + where + ": the bits of the CPU",
                    measured.difference));
  }
  return expected.keys.cells;
}

}  // namespace

Result knn_ladder(const Settings& settings) {
  Result result = described("knn-ladder", {{"about_ties", about_ties}});
  std::vector<Rungs> ladder;
  for (const Device& device : settings.devices) ladder.emplace_back(device);
  const std::int64_t most = settings.quick ? largest_quick_n : largest_n;
  const auto right_of = [&](const Points& points) {
    return right_answer(settings, points.rows.view(), question_15.view(), question_15.k, Metric::squared_l2,
                        &points.labels64);
  };
  for (std::int64_t n = smallest_n; n <= most; n *= settings.quick ? 4 : 2) {
    const Points points = make_points(settings.seed, n);
    if (n == smallest_n) {
      const Placement on_cpu = placement_of(knn03, settings.cpu, settings.cpu);
      const PlacedProblem problem = problem_of(knn03, points, question_15);
      result.checks.push_back(same_bits(
          "cpu, n = 1024: the bits of the contract written down slowly",
          difference(plain_placed_answer(on_cpu, problem), placed_answer(settings.cpu, on_cpu, problem))));
    }
    measure(settings, points, right_of(points), ladder);
  }
  const Points points = make_points(settings.seed, largest_n);
  result.tables.push_back(parts_table(ladder, most));
  result.tables.push_back(sequential_table(settings, points, right_of(points), result));
  result.tables.push_back(transfer_table(settings, largest_n));
  for (const Rungs& rungs : ladder)
    for (std::size_t v = 1; v < versions.size(); ++v)
      result.claims.push_back(step_claim(rungs, v - 1, v, most));
  const std::vector<Key> nearest = measure_all_neighbours(settings, points, result);
  result.tables.push_back(vote_table(settings, points, nearest, result));

  Chart chart{
      "One query of two columns, k = 15", {"points n", true}, {"whole call, ms (host clock)", true}, {}};
  for (Rungs& rungs : ladder) {
    for (Curve& curve : rungs.curves) std::move(curve).finish(chart, result);
    std::move(rungs.automatic).finish(chart, result);
  }
  result.charts.push_back(std::move(chart));
  for (const Version& version : versions)
    result.plans.push_back(std::string(version.label) + ": select " + std::string(name(version.selector)) +
                           (version.select_on_device ? " on the device" : " on cpu") + ", vote on " +
                           (version.vote_on_device ? "the device" : "cpu"));
  return result;
}

}  // namespace kith::experiments
