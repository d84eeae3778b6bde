// The lines of `kith compare`: each stage on each device, against the reference.
#include <algorithm>
#include <map>

#include "command/compare/compare.hpp"
#include "kith/spi.hpp"
#include "workloads/operand_chain.hpp"

namespace kith::command {
namespace {

using workloads::Operands;
using workloads::Operation;
using workloads::Stage;
using workloads::StageResult;

StageResult run_stage(const Device& device, const Operation& operation, const Operands& operands,
                      Cell& cell) {
  StageResult result;
  spi::with_device(device, [&](spi::Device& opened) {
    workloads::PreparedStage stage(opened, operation, operands);
    cell.refusal = stage.refusal();
    if (!cell.refusal.empty()) return;
    cell.seconds = best_seconds([&] { return stage.run().device; });
    result = stage.result(0, operation.m);
  });
  return result;
}

/// Runs the stages one after another. Each stage reads what the reference computed.
class StageLines {
 public:
  StageLines(const CompareProblem& problem, const std::vector<Device>& devices, const Subject& reference)
      : devices_(devices),
        reference_(reference),
        chain_(sizes_of(problem), workloads::prepared_rows(problem.metric, problem.train.view()),
               workloads::prepared_rows(problem.metric, problem.queries.view()), problem.labels, problem.seed,
               [this](const Operation& operation, const Operands& operands) {
                 return expect(operation, operands);
               }) {}

  std::vector<CompareLine> run(const std::vector<std::string>& stages, Selector selector) {
    for (const Stage stage : workloads::all_stages) {
      if (std::find(stages.begin(), stages.end(), workloads::name(stage)) == stages.end()) continue;
      const StageResult& expected = chain_.result(stage);
      if (stage == Stage::select)
        add_select_lines(expected, selector);
      else
        add_line(chain_.operation(stage), expected);
    }
    return std::move(lines_);
  }

 private:
  static Operation sizes_of(const CompareProblem& problem) {
    return Operation{
        .metric = problem.metric, .k = problem.k, .lists = problem.lists, .threads = problem.options.threads};
  }

  /// Returns the result of the reference.
  StageResult expect(Operation operation, const Operands& operands) {
    Cell cell;
    StageResult result;
    if (reference_) {
      operation.selector = reference_->info().selectors.front();
      result = run_stage(*reference_, operation, operands, cell);
    } else {
      const workloads::Clock clock;
      result = workloads::plain_result(operation, operands);
      cell.seconds = clock.seconds();
    }
    reference_seconds_[operation.stage] = cell.seconds;
    if (cell.refusal.empty()) return result;
    if (operation.stage == Stage::nearest) return chain_.result(Stage::select);  // the same lists
    throw Error(Errc::unsupported, "compare: the reference " + subject_name(reference_) + " refuses " +
                                       title(operation) + ": " + cell.refusal +
                                       "; choose another with --reference");
  }

  void add_line(const Operation& operation, const StageResult& expected) {
    lines_.push_back(compare_line(title(operation), reference_seconds_.at(operation.stage), expected,
                                  devices_, [&](const Device& device, Cell& cell) {
                                    return run_stage(device, operation, chain_.operands(), cell);
                                  }));
  }

  /// Writes one line for each selector that a device here has.
  void add_select_lines(const StageResult& expected, Selector wanted) {
    Operation operation = chain_.operation(Stage::select);
    for (Selector selector : all_selectors()) {
      const auto has = [&](const Device& device) {
        const auto& known = device.info().selectors;
        return std::find(known.begin(), known.end(), selector) != known.end();
      };
      const bool listed = wanted == Selector::automatic ? std::any_of(devices_.begin(), devices_.end(), has)
                                                        : wanted == selector;
      if (!listed) continue;
      operation.selector = selector;
      add_line(operation, expected);
      for (std::size_t i = 0; i < devices_.size(); ++i)
        if (!has(devices_[i]))
          lines_.back().cells[i] = {
              devices_[i].info().spec + " has no selector " + std::string(name(selector)), "", 0, ""};
    }
  }

  const std::vector<Device>& devices_;
  const Subject& reference_;
  std::map<Stage, double> reference_seconds_;
  workloads::OperandChain chain_;
  std::vector<CompareLine> lines_;
};

}  // namespace

std::vector<CompareLine> compare(const CompareProblem& problem, const std::vector<Device>& devices,
                                 const Subject& reference, const std::vector<std::string>& stages,
                                 Selector selector) {
  const auto wanted = [&](std::string_view stage) {
    return std::find(stages.begin(), stages.end(), stage) != stages.end();
  };
  std::vector<CompareLine> lines;
  const bool alone = std::any_of(stages.begin(), stages.end(), [](const std::string& stage) {
    return stage != "search" && stage != "classify";
  });
  if (alone && problem.queries.rows() > 0)
    lines = StageLines(problem, devices, reference).run(stages, selector);
  if (wanted("search")) lines.push_back(whole_line(problem, devices, reference, false));
  if (wanted("classify")) lines.push_back(whole_line(problem, devices, reference, true));
  return lines;
}

}  // namespace kith::command
