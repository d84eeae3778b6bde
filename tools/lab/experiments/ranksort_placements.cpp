// Measures rank sort (Ajorian, Bastan, Montazeri) with distance and sort each on the CPU or on a device:
// four ways.
#include <cmath>
#include <map>
#include <span>

#include "lab/placement/placement.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t smallest_n = 1024, largest_n = 1024 * 256, quick_n = 1024 * 16;
constexpr double longest_sort = 8, longest_quick_sort = 0.3;  ///< seconds of the sort on the CPU

/// Holds one of the four ways.
struct Way {
  Device distance, sort;
  Curve time;
  std::map<std::int64_t, PlacedRun> runs = {};
  double last = 0;  ///< seconds of the last run
};

std::string platform(const Device& device) {
  return device.info().backend == "cpu" ? "CPU" : device.info().spec;
}

Way make_way(const Device& distance, const Device& sort) {
  const std::string label = platform(distance) + "-" + platform(sort);
  return {distance, sort, Curve(label)};
}

/// Returns CPU-CPU once, and three ways for each other device.
std::vector<Way> all_ways(const Settings& settings) {
  std::vector<Way> ways = {make_way(settings.cpu, settings.cpu)};
  for (const Device& device : settings.devices) {
    if (device.info().backend == "cpu") continue;
    ways.push_back(make_way(settings.cpu, device));
    ways.push_back(make_way(device, settings.cpu));
    ways.push_back(make_way(device, device));
  }
  return ways;
}

/// Rank sort compares all pairs of rows, so twice the rows take four times as long.
bool too_slow(const Settings& settings, const Way& way) {
  const double most = settings.quick ? longest_quick_sort : longest_sort;
  return way.sort.info().backend == "cpu" && 4 * way.last > most;
}

void measure(const Settings& settings, const PlacedProblem& problem, const PlacedAnswer& expected, Way& way) {
  const std::int64_t n = problem.train.rows();
  const auto x = static_cast<double>(n);
  if (too_slow(settings, way)) {
    way.time.remark("not run above n = " + std::to_string(way.runs.rbegin()->first) +
                    ": on the CPU rank sort compares all with all on one core, and took " +
                    time_text(way.last) + " there");
    return;
  }
  const Placement placement = {{Stage::distance, way.distance}, {Stage::select, way.sort}};
  const Placed placed = time_placed(settings, placement, problem, expected);
  way.time.add(x, placed.measured, 1e3 * placed.measured.total);
  if (!placed.measured.timed()) return;
  way.last = placed.measured.total;
  way.runs[n] = placed.run;
}

/// Shows how many times as fast as CPU-CPU each way is, where both ran.
Chart speedup_chart(const std::vector<Way>& ways) {
  Chart chart{"Speed-up over CPU-CPU", {"points n", true}, {"times as fast as CPU-CPU", true}, {}};
  const auto& base = ways[0].runs;
  for (const Way& way : ways) {
    Series& series = chart.series.emplace_back();
    series.label = way.time.series().label;
    series.note = way.time.series().note;
    bool beyond = false;
    for (const auto& [n, run] : way.runs) {
      const auto found = base.find(n);
      beyond = beyond || found == base.end();
      if (found != base.end())
        series.points.push_back({static_cast<double>(n), found->second.total / run.total, {}});
    }
    if (beyond)
      series.note += (series.note.empty() ? "" : "; ") + std::string("not where CPU-CPU was not run");
  }
  return chart;
}

double stage_seconds(const PlacedRun& run, bool distance) {
  double sum = 0;
  for (const PlacedStep& step : run.steps)
    if (!step.is_copy() && (step.what == "distance") == distance) sum += step.host;
  return sum;
}

/// Shows where the time goes at the largest n that all ways reached.
Table parts_table(const std::vector<Way>& ways, std::int64_t n) {
  Table table{"Where the time goes, n = " + std::to_string(n) + ", host clock",
              {"distance-sort", "distance, ms", "sort, ms", "copies, ms", "copies, bytes", "in all, ms"},
              {}};
  for (const Way& way : ways) {
    const auto found = way.runs.find(n);
    if (found == way.runs.end()) continue;
    const PlacedRun& run = found->second;
    table.rows.push_back({way.time.series().label, number_text(1e3 * stage_seconds(run, true)),
                          number_text(1e3 * stage_seconds(run, false)), number_text(1e3 * run.transfers()),
                          std::to_string(run.bytes()), number_text(1e3 * run.total)});
  }
  return table;
}

/// Returns the largest n that CPU-CPU reached; 0: none.
std::int64_t largest_common(const std::vector<Way>& ways) {
  return ways[0].runs.empty() ? 0 : ways[0].runs.rbegin()->first;
}

constexpr const char* whole_claim = "GPU-GPU over CPU-CPU";
constexpr const char* whole_paper = "about 20x";
constexpr const char* parts_claim = "how much of it comes from the sort";
constexpr const char* parts_paper = "nearly all; the 2-D distance is too cheap for its transfers";

/// Adds the claims about one device; `ways` are CPU-device, device-CPU, device-device.
void add_claims(const PlacedRun& base, std::span<const Way, 3> ways, std::int64_t n, Result& result) {
  const std::string where = " (" + ways[2].sort.info().spec + ", n = " + std::to_string(n) + ")";
  const auto speed = [&](const Way& way) {
    const auto found = way.runs.find(n);
    return found == way.runs.end() ? not_measured : base.total / found->second.total;
  };
  const double sort = speed(ways[0]), distance = speed(ways[1]), all = speed(ways[2]);
  Claim whole{whole_claim, whole_paper, ratio_text(all) + where, ""};
  if (!std::isfinite(all))
    whole.why = ways[2].time.series().note;
  else if (all < 15 || all > 27)
    whole.why =
        "both sides do n * n comparisons, so this is the ratio of the two processors: the CPU side is one "
        "core of this machine";
  Claim parts{parts_claim, parts_paper, "", ""};
  if (std::isfinite(sort) && std::isfinite(distance)) {
    if (sort < 0.7 * all || distance > 1.3)
      parts.why = "the table of where the time goes says which part is what";
    parts.here =
        "the sort alone moved: " + ratio_text(sort) + ", the distance alone: " + ratio_text(distance) + where;
  } else {
    parts.here = std::string(not_available) + where;
    parts.why = ways[std::isfinite(sort) ? 1 : 0].time.series().note;
  }
  result.claims.push_back(std::move(whole));
  result.claims.push_back(std::move(parts));
}

void add_claims(const std::vector<Way>& ways, std::int64_t n, Result& result) {
  for (std::size_t i = 1; i + 2 < ways.size(); i += 3)
    add_claims(ways[0].runs.at(n), std::span<const Way, 3>(&ways[i], 3), n, result);
  drop_empty_claims(result);
  if (!result.claims.empty()) return;
  const std::string why = "no device but the CPU was asked for";
  result.claims = {{whole_claim, whole_paper, not_available, why},
                   {parts_claim, parts_paper, not_available, why}};
}

PlacedAnswer expected_of(const Settings& settings, const PlacedProblem& problem, bool by_plain) {
  const Placement stages = {{Stage::distance, settings.cpu}, {Stage::select, settings.cpu}};
  return by_plain ? plain_placed_answer(stages, problem) : placed_answer(settings.cpu, stages, problem);
}

}  // namespace

Result ranksort_placements(const Settings& settings) {
  Result result = described("ranksort-placements");
  std::vector<Way> ways = all_ways(settings);
  for (std::int64_t n = smallest_n; n <= (settings.quick ? quick_n : largest_n); n *= 2) {
    const workloads::Rows train = uniform_rows(settings, workloads::Set::train, n, 2),
                          asked = uniform_rows(settings, workloads::Set::queries, 1, 2);
    PlacedProblem problem;
    problem.train = train.view();
    problem.queries = asked.view();
    problem.k = n;
    problem.selector = Selector::rank_sort;
    const PlacedAnswer expected = expected_of(settings, problem, false);
    if (n == smallest_n)
      result.checks.push_back(
          same_bits("distance and select on cpu, n = 1024: the bits of the contract written down slowly",
                    difference(expected_of(settings, problem, true), expected)));
    for (Way& way : ways) measure(settings, problem, expected, way);
  }
  if (const std::int64_t n = largest_common(ways); n > 0) {
    add_claims(ways, n, result);
    result.tables.push_back(parts_table(ways, n));
  }
  Chart time{"One query, two columns, k = n", {"points n", true}, {"whole call, ms (host clock)", true}, {}};
  Chart speedup = speedup_chart(ways);
  for (Way& way : ways) std::move(way.time).finish(time, result);
  result.charts.push_back(std::move(time));
  result.charts.push_back(std::move(speedup));
  result.plans = {"distance squared_l2, 2 columns; select rank_sort, one list; no merge, no vote"};
  return result;
}

}  // namespace kith::experiments
