// Repeats PBKNN, Fig. 6: the time of the grouped selection over the number of groups.
#include <cmath>

#include "lab/experiments/measure.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t queries = 32, dims = 64, bubbles = 16;
constexpr std::int64_t fixed_groups = 256;  ///< the paper's choice
constexpr std::uint32_t paper_units = 28;   ///< compute units of the HD7950

/// Holds what is measured at one number of groups.
struct Problem {
  Operation operation;
  Operands operands;
};

Operation merge_of(const Operation& select) {
  Operation merge = select;
  merge.stage = Stage::merge;
  return merge;
}

/// Measures the three curves of a device for one chart.
void sweep(const Settings& settings, const Device& device, const Problem& problem,
           const std::vector<std::int64_t>& counts, std::int64_t groups_a_count, Chart& chart,
           Result& result) {
  Settings timing = settings;
  Curve bubble("bubble", device), merged("bubble, then merge", device), threshold("threshold", device);
  for (const std::int64_t count : counts) {
    Operation select = problem.operation;
    select.lists = count / groups_a_count;
    const StageResult expected = right_result(settings, select, problem.operands, select.m);
    select.selector = Selector::bubble;
    timing.meters = settings.meters;
    const Measured walked = time_stage(timing, device, select, problem.operands, expected);
    bubble.add(static_cast<double>(count), walked);

    timing.meters.clear();  // joules of the paper's method only
    Operands lists;
    lists.lists = expected.cells;
    const Operation merge = merge_of(select);
    Measured joined = time_stage(timing, device, merge, lists, right_result(settings, merge, lists, merge.m));
    const double both = 1e3 * (walked.device + joined.device);
    if (!walked.refusal.empty()) joined = walked;
    merged.add(static_cast<double>(count), joined, both);

    select.selector = Selector::threshold;
    threshold.add(static_cast<double>(count), time_stage(timing, device, select, problem.operands, expected));
  }
  for (Curve* curve : {&bubble, &merged, &threshold}) std::move(*curve).finish(chart, result);
}

/// Checks "falls, then flattens" on the first series of a device.
Claim claim_of(const Device& device, const Series& series, const std::string& reading) {
  const auto at = [&](std::size_t i) { return series.points[i].y; };
  std::size_t fixed = 0;
  for (std::size_t i = 0; i < series.points.size(); ++i)
    if (series.points[i].x <= static_cast<double>(fixed_groups)) fixed = i;
  const std::size_t last = series.points.size() - 1;
  const double fall = at(0) / at(fixed), rest = at(fixed) / at(last);
  Claim claim{"time over the number of " + reading, "falls, then flattens; 256 taken", not_available, ""};
  const auto count = [&](std::size_t i) { return std::to_string(std::llround(series.points[i].x)); };
  const std::string where = " (" + device.info().spec + ")";
  if (!std::isfinite(fall * rest)) {
    claim.here += where;
    claim.why = series.note;
    return claim;
  }
  claim.here = count(fixed) + " are " + ratio_text(fall) + " as fast as " + count(0) + ", and " +
               count(last) + " " + ratio_text(rest) + " as fast as " + count(fixed) + where;
  const std::string units = std::to_string(device.info().compute_units) +
                            " compute units, the paper's card " + std::to_string(paper_units);
  if (fall < 1.25)
    claim.why =
        "it does not fall: the device has " + units + ", and the fewest groups keep it as busy as more do";
  else if (rest > 1.15)
    claim.why = "it still falls at 256: the device has " + units + ", and takes more groups to be kept busy";
  return claim;
}

}  // namespace

Result pbknn_groups(const Settings& settings) {
  Result result = described("pbknn-groups", {{"queries", std::to_string(queries)}});
  const std::int64_t n = settings.quick ? 10240 : 10240 * 8;
  const workloads::Rows train = uniform_rows(settings, workloads::Set::train, n, dims),
                        asked = uniform_rows(settings, workloads::Set::queries, queries, dims);
  tell(settings, "distances on cpu");
  const Distances distances = right_distances(settings, train.view(), asked.view());

  Problem problem;
  problem.operation = {.stage = Stage::select, .n = n, .m = queries, .dims = dims, .k = bubbles};
  problem.operands.distances = distances.view();
  result.checks.push_back(check_cpu(settings, problem.operation, problem.operands));

  std::vector<std::int64_t> counts;
  for (std::int64_t step = 4; step <= 48; step += settings.quick ? 14 : 4) counts.push_back(step * 8);
  const std::string sizes = "n = " + std::to_string(n) + ", " + std::to_string(queries) +
                            " queries, K = " + std::to_string(bubbles);
  const auto add_chart = [&](const std::string& title, const std::string& x_title) {
    Chart& chart = result.charts.emplace_back();
    chart.title = title + ": " + sizes;
    chart.x.title = x_title;
    chart.y.title = "selection, ms (device clock)";
  };
  add_chart("Counted as work-groups in all", "work-groups in all");
  add_chart("Counted as groups a query", "groups a query");
  for (const Device& device : settings.devices)
    for (std::size_t c = 0; c < 2; ++c) {
      Chart& chart = result.charts[c];
      const std::size_t first = chart.series.size();
      sweep(settings, device, problem, counts, c == 0 ? queries : 1, chart, result);
      result.claims.push_back(claim_of(device, chart.series[first], chart.x.title));
    }
  drop_empty_claims(result);
  result.plans = {
      "select bubble with K = 16 on distances in place; merge of its lists; select threshold on the same "
      "groups"};
  return result;
}

}  // namespace kith::experiments
