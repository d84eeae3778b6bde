// GS_KNN: finds the k from which on a padded bitonic sort is faster than k tournaments.
#include <array>
#include <cmath>

#include "lab/experiments/measure.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t paper_n = 16384, paper_m = 1200, dims = 32;
constexpr std::int64_t quick_n = 2048, quick_m = 24;
constexpr std::array<std::int64_t, 12> all_k = {1, 2, 4, 8, 16, 32, 40, 46, 52, 64, 128, 256};
constexpr std::array<std::int64_t, 4> few_k = {1, 16, 46, 128};

/// Holds the curves of a device.
struct Curves {
  explicit Curves(const Device& device)
      : k_min("k-min", device), bitonic("bitonic", device), threshold("threshold", device) {}
  Curve k_min, bitonic, threshold;
};

/// Times the merge of the lists that a selection leaves.
Measured time_merge(const Settings& settings, const Device& device, Operation operation,
                    const Operands& operands) {
  const StageResult lists = right_result(settings, operation, operands, operation.m);
  operation.stage = Stage::merge;
  Operands merging;
  merging.lists = lists.cells;
  return time_stage(settings, device, operation, merging,
                    right_result(settings, operation, merging, operation.m));
}

/// Times a selection into as many lists as the plan chooses, and their merge.
Measured time_selection(const Settings& settings, const Device& device, Selector selector, std::int64_t k,
                        const Operands& operands, Curve& curve) {
  const std::string what = "selection by " + std::string(name(selector)) + " on " + device.info().spec +
                           ", k = " + std::to_string(k);
  const Measured whole = attempt(settings, what, [&] {
    SearchOptions options{.selector = selector};
    const std::int64_t n = operands.distances.cols(), m = operands.distances.rows();
    const Plan plan = make_plan(device.info(), {Metric::squared_l2, n, m, dims, k}, options);
    const Operation operation{
        .stage = Stage::select, .selector = selector, .n = n, .m = m, .k = k, .lists = plan.lists};
    Measured measured =
        time_stage(settings, device, operation, operands, right_result(settings, operation, operands, m));
    if (plan.lists == 1 || !measured.timed()) return measured;
    Measured merge = time_merge(settings, device, operation, operands);
    merge.plan = measured.plan = std::to_string(plan.lists) + " lists a query, and their merge";
    if (!merge.timed()) return merge;
    measured.device += merge.device;
    if (measured.joules && merge.joules) *measured.joules += *merge.joules;
    return measured;
  });
  if (!whole.plan.empty()) curve.remark(whole.plan);
  return whole;
}

void add_claim(const Device& device, const Curves& curves, Result& result) {
  const Series &small = curves.k_min.series(), &large = curves.bitonic.series();
  Claim claim{"k from which bitonic sort beats k-min search", "46", "", ""};
  const std::string where = " (" + device.info().spec + ")";
  const double k = crossover(small, large);
  const double first = small.points.front().y / large.points.front().y,
               last = small.points.back().y / large.points.back().y;
  if (std::isfinite(k)) {
    claim.here = std::to_string(std::llround(k)) + where;
    claim.why =
        "one method's time grows with k and the other's does not; where they meet tells how fast either "
        "kernel is on this device beside the other, not which idea is better";
  } else if (std::isfinite(first) && std::isfinite(last)) {
    const std::string range = " for every k from " + std::to_string(std::llround(small.points.front().x)) +
                              " to " + std::to_string(std::llround(small.points.back().x));
    claim.here = (first > 1 ? "bitonic is faster" : "k-min is faster") + range + where;
    claim.why = first > 1 ? "a single tournament already takes longer here than the whole sort"
                          : "k tournaments take less time here than one sort, as far as was measured";
  } else {
    claim.here = not_available + where;
    claim.why = small.note.empty() ? large.note : small.note;
  }
  result.claims.push_back(std::move(claim));
}

}  // namespace

Result gsknn_crossover(const Settings& settings) {
  Result result = described("gsknn-crossover");
  const std::int64_t n = settings.quick ? quick_n : paper_n, m = settings.quick ? quick_m : paper_m;
  const workloads::Rows train = uniform_rows(settings, workloads::Set::train, n, dims),
                        asked = uniform_rows(settings, workloads::Set::queries, m, dims);
  const Distances distances = right_distances(settings, train.view(), asked.view());
  Operands operands;
  operands.distances = distances.view();
  result.checks.push_back(
      check_cpu(settings, {.stage = Stage::select, .n = n, .m = m, .k = all_k.back()}, operands));

  std::vector<Curves> curves;
  for (const Device& device : settings.devices) curves.emplace_back(device);
  const std::vector<std::int64_t> ks =
      settings.quick ? std::vector(few_k.begin(), few_k.end()) : std::vector(all_k.begin(), all_k.end());
  for (const std::int64_t k : ks)
    for (std::size_t d = 0; d < curves.size(); ++d) {
      const auto add = [&](Selector selector, Curve& curve) {
        curve.add(static_cast<double>(k),
                  time_selection(settings, settings.devices[d], selector, k, operands, curve));
      };
      add(Selector::k_min, curves[d].k_min);
      add(Selector::bitonic, curves[d].bitonic);
      add(Selector::threshold, curves[d].threshold);
    }
  Chart chart{"Selection alone: n = " + std::to_string(n) + ", " + std::to_string(m) + " queries",
              {"neighbours k", true},
              {"selection, ms (device clock)", true},
              {}};
  for (std::size_t d = 0; d < curves.size(); ++d) {
    add_claim(settings.devices[d], curves[d], result);
    for (Curve* curve : {&curves[d].k_min, &curves[d].bitonic, &curves[d].threshold})
      std::move(*curve).finish(chart, result);
  }
  result.charts.push_back(std::move(chart));
  result.plans = {"select k_min, bitonic, threshold, each alone"};
  return result;
}

}  // namespace kith::experiments
