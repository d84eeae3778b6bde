// Repeats PBKNN, Table 1, which compares its selection with CUKNN's, over the number of rows.
#include <array>
#include <cmath>

#include "lab/experiments/measure.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t queries = 32, unit = 10240, work_groups = 256, block = 256;
constexpr std::array<std::int64_t, 2> neighbours = {16, 64};

/// Holds the curves of a device at one K.
struct Curves {
  Curves(const Device& device)
      : in_all("PBKNN, 256 work-groups in all", device),
        each("PBKNN, 256 groups a query", device),
        sorted("CUKNN, blocks of 256", device),
        exchanged("blocks of 256 by odd-even transposition", device) {}
  Curve in_all, each, sorted, exchanged;
};

void measure(const Settings& settings, const Device& device, const Operation& wanted,
             const Operands& operands, std::int64_t groups, Curve& curve) {
  Operation operation = wanted;
  operation.lists = groups;
  curve.add(static_cast<double>(operation.n),
            time_stage(settings, device, operation, operands,
                       right_result(settings, operation, operands, operation.m)));
}

/// Returns a text such as `0.8x at n = 10240, 1.3x at n = 655360`.
std::string ratios(const Series& slower, const Series& faster) {
  std::string text;
  for (std::size_t i : {std::size_t{0}, slower.points.size() - 1}) {
    const double ratio = slower.points[i].y / faster.points[i].y;
    if (!std::isfinite(ratio)) continue;
    text += (text.empty() ? "" : ", ") + ratio_text(ratio) +
            " at n = " + std::to_string(std::llround(slower.points[i].x));
    if (slower.points.size() == 1) break;
  }
  return text.empty() ? not_available : text;
}

std::string over(const Curve& slower, const Curve& faster, const Device& device) {
  return ratios(slower.series(), faster.series()) + " (" + device.info().spec + ")";
}

/// A bitonic network for 256 values has 36 steps of 128 compare-exchanges, so 18 per value.
constexpr int network_exchanges = 18;

void add_claims(const Device& device, const Curves& curves, std::int64_t k, Result& result) {
  const std::string at_k = ", second kernel, K = " + std::to_string(k);
  const std::string paper = k == 16 ? "16x (in theory 256/K)" : not_available;
  for (const Curve* curve : {&curves.in_all, &curves.each}) {
    const std::string which = curve == &curves.in_all ? "256 work-groups in all" : "256 groups a query";
    Claim claim{"PBKNN (" + which + ") over CUKNN" + at_k, paper, over(curves.sorted, *curve, device), ""};
    const double last = curves.sorted.series().points.back().y / curve->series().points.back().y;
    const std::string note =
        curves.sorted.series().note.empty() ? curve->series().note : curves.sorted.series().note;
    if (!std::isfinite(last))
      claim.why = note;
    else if (last < 12 && curve == &curves.in_all)
      claim.why =
          "256/K is right where a block is sorted whole by 256 bubbles, at 256 compare-exchanges a value; "
          "here a bitonic network sorts it, which takes " +
          std::to_string(network_exchanges) +
          " a value whatever K is, and K bubbles take K = " + std::to_string(k) + ": by that count " +
          ratio_text(static_cast<double>(network_exchanges) / static_cast<double>(k)) +
          "; the rest is how well each keeps the device busy";
    else if (last < 12)
      claim.why = "as above";
    result.claims.push_back(std::move(claim));
  }
  Claim theory{
      "PBKNN (256 work-groups in all) over blocks of 256 sorted by odd-even transposition, the slow parallel "
      "bubble sort" +
          at_k,
      not_available, over(curves.exchanged, curves.in_all, device),
      "not in the paper: it shows what its theory assumes of sorting a block whole"};
  if (!curves.exchanged.series().note.empty()) theory.why = curves.exchanged.series().note;
  result.claims.push_back(std::move(theory));
}

}  // namespace

Result pbknn_table1(const Settings& settings) {
  Result result = described("pbknn-table1");
  const std::int64_t most = settings.quick ? 2 : 64;
  const Axis rows = {"training rows n", true}, time = {"second kernel, ms (device clock)", true};
  std::vector<std::vector<Curves>> curves(neighbours.size());
  for (auto& of_k : curves)
    for (const Device& device : settings.devices) of_k.emplace_back(device);
  for (std::int64_t factor = 1; factor <= most; factor *= 2) {
    const Distances distances = random_distances(settings, queries, factor * unit);
    Operands operands;
    operands.distances = distances.view();
    Operation operation{.stage = Stage::select, .n = distances.n, .m = queries, .k = neighbours[0]};
    if (factor == 1) result.checks.push_back(check_cpu(settings, operation, operands));
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      for (std::size_t d = 0; d < settings.devices.size(); ++d) {
        const Device& device = settings.devices[d];
        operation.k = neighbours[i];
        operation.selector = Selector::bubble;
        measure(settings, device, operation, operands, work_groups / queries, curves[i][d].in_all);
        measure(settings, device, operation, operands, work_groups, curves[i][d].each);
        operation.selector = Selector::local_sort;
        measure(settings, device, operation, operands, distances.n / block, curves[i][d].sorted);
        operation.selector = Selector::odd_even;
        measure(settings, device, operation, operands, distances.n / block, curves[i][d].exchanged);
      }
  }
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    Chart chart{"K = " + std::to_string(neighbours[i]) + ", 32 queries", rows, time, {}};
    for (std::size_t d = 0; d < settings.devices.size(); ++d) {
      add_claims(settings.devices[d], curves[i][d], neighbours[i], result);
      for (Curve* curve :
           {&curves[i][d].in_all, &curves[i][d].each, &curves[i][d].sorted, &curves[i][d].exchanged})
        std::move(*curve).finish(chart, result);
    }
    result.charts.push_back(std::move(chart));
  }
  drop_empty_claims(result);
  result.plans = {
      "PBKNN: select bubble; CUKNN: select local_sort, and beside it select odd_even, one group for each "
      "block of 256"};
  return result;
}

}  // namespace kith::experiments
