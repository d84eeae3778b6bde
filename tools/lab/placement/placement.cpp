#include "lab/placement/placement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "kith/error.hpp"
#include "lab/experiments/memory.hpp"
#include "lab/placement/placed_search.hpp"

namespace kith::experiments {
namespace {

/// Locks the device of each stage, each device once, and calls body with them.
void with_devices(const Placement& placement, std::vector<spi::Device*>& opened,
                  std::map<const Device::State*, spi::Device*>& locked, const std::function<void()>& body) {
  if (opened.size() == placement.size()) return body();
  const Device& device = placement[opened.size()].device;
  if (const auto found = locked.find(device.state().get()); found != locked.end()) {
    opened.push_back(found->second);
    return with_devices(placement, opened, locked, body);
  }
  spi::with_device(device, [&](spi::Device& now) {
    locked[device.state().get()] = &now;
    opened.push_back(&now);
    with_devices(placement, opened, locked, body);
  });
}

void with_placed(const Placement& placement, const PlacedProblem& problem,
                 const std::function<void(PlacedSearch&)>& body) {
  std::vector<spi::Device*> opened;
  std::map<const Device::State*, spi::Device*> locked;
  with_devices(placement, opened, locked, [&] {
    PlacedSearch search(placement, opened, problem);
    body(search);
  });
}

bool has(const Placement& placement, Stage stage) {
  return std::any_of(placement.begin(), placement.end(),
                     [&](const PlacedStage& placed) { return placed.stage == stage; });
}

}  // namespace

std::string placement_text(const Placement& placement) {
  std::string text;
  for (const PlacedStage& placed : placement)
    text += (text.empty() ? "" : ", ") + std::string(workloads::name(placed.stage)) + "=" +
            placed.device.info().spec;
  return text;
}

Operation operation_of(const PlacedProblem& problem, Stage stage) {
  return {.stage = stage,
          .metric = problem.metric,
          .selector = problem.selector,
          .n = problem.train.rows(),
          .m = problem.queries.rows(),
          .dims = problem.train.cols(),
          .k = problem.k,
          .lists = problem.lists,
          .classes = problem.classes,
          .threads = problem.threads,
          .vote = problem.vote};
}

Operands operands_of(const PlacedProblem& problem) {
  Operands operands;
  operands.train = problem.train;
  operands.queries = problem.queries;
  operands.labels = problem.labels;
  return operands;
}

double PlacedRun::transfers() const {
  double sum = 0;
  for (const PlacedStep& step : steps) sum += step.is_copy() ? step.host : 0;
  return sum;
}

std::size_t PlacedRun::bytes() const {
  std::size_t sum = 0;
  for (const PlacedStep& step : steps) sum += step.bytes;
  return sum;
}

std::string difference(const PlacedAnswer& expected, const PlacedAnswer& actual) {
  const std::string keys = difference(expected.keys, actual.keys);
  return keys.empty() ? difference(expected.votes, actual.votes) : keys;
}

namespace {

Placed measure_placed(const Settings& settings, const std::string& what, const Placement& placement,
                      const PlacedProblem& problem, const PlacedAnswer& expected) {
  const Device& first = placement.front().device;
  const bool one_device = std::all_of(placement.begin(), placement.end(), [&](const PlacedStage& placed) {
    return placed.device.state() == first.state();
  });
  Placed placed;
  placed.measured = attempt([&] {
    tell(settings, what);
    Measured measured;
    with_placed(placement, problem, [&](PlacedSearch& search) {
      measured.refusal = search.refusal();
      if (!measured.refusal.empty()) return;
      std::vector<PlacedRun> runs = {search.run()};
      measured.difference = difference(expected, search.answer());
      if (!measured.difference.empty()) return;
      measured = sample(
          settings, what,
          [&]() -> Seconds {
            runs.push_back(search.run());
            return {not_measured, not_measured, runs.back().total};
          },
          one_device ? &first : nullptr);
      const auto middle = std::min_element(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
        return std::abs(a.total - measured.total) < std::abs(b.total - measured.total);
      });
      placed.run = *middle;
      measured.total = middle->total;
    });
    return measured;
  });
  return placed;
}

}  // namespace

Placed time_placed(const Settings& settings, const Placement& placement, const PlacedProblem& problem,
                   const PlacedAnswer& expected) {
  const std::string what = placement_text(placement) + ", n = " + std::to_string(problem.train.rows());
  if (!settings.memory) return measure_placed(settings, what, placement, problem, expected);
  Memory::Kept kept = settings.memory->take(what, [&] {
    Placed placed = measure_placed(settings, what, placement, problem, expected);
    return Memory::Kept{{}, 0, std::move(placed.measured), std::move(placed.run)};
  });
  return {std::move(kept.measured), std::move(kept.run)};
}

PlacedAnswer placed_answer(const Device& device, const Placement& placement, PlacedProblem problem) {
  problem.selector = device.info().selectors.front();
  Placement there;
  for (const PlacedStage& placed : placement) there.push_back({placed.stage, device});
  PlacedAnswer answer;
  with_placed(there, problem, [&](PlacedSearch& search) {
    if (!search.refusal().empty()) throw Error(Errc::unsupported, "placement: " + search.refusal());
    search.run();
    answer = search.answer();
  });
  return answer;
}

PlacedAnswer plain_placed_answer(const Placement& placement, const PlacedProblem& problem) {
  Operation operation = operation_of(problem, Stage::nearest);
  if (has(placement, Stage::merge)) operation.lists = 1;
  Operands operands = operands_of(problem);
  PlacedAnswer answer;
  answer.keys = plain_result(operation, operands);
  if (!has(placement, Stage::vote)) return answer;
  operation.stage = Stage::vote;
  operands.nearest = answer.keys.cells;
  answer.votes = plain_result(operation, operands);
  return answer;
}

}  // namespace kith::experiments
