// The lines of `kith compare`: each stage on each device, against the reference.
#include <algorithm>
#include <bit>

#include "kith/spi.hpp"
#include "lab/compare/compare_cells.hpp"
#include "lab/stages/class_operands.hpp"

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

/// The stages one after another, each with the operands that the reference gave it.
class StageLines {
 public:
  StageLines(const CompareProblem& problem, const std::vector<Device>& devices, const Subject& reference)
      : devices_(devices),
        reference_(reference),
        train_(workloads::prepared_rows(problem.metric, problem.train.view())),
        queries_(workloads::prepared_rows(problem.metric, problem.queries.view())),
        of_classes_(problem.seed, problem.labels, problem.queries.rows(), problem.k) {
    operation_.metric = problem.metric;
    operation_.n = train_.rows();
    operation_.m = queries_.rows();
    operation_.dims = train_.dims();
    operation_.k = problem.k;
    operation_.groups = std::min(problem.groups, operation_.n);
    operation_.threads = problem.options.threads;
    operands_.queries = queries_.view();
    operands_.train = train_.view();
    of_classes_.put(operation_, operands_);
  }

  std::vector<CompareLine> run(const std::vector<std::string>& stages, Selector selector) {
    const auto wanted = [&](Stage stage) {
      return std::find(stages.begin(), stages.end(), workloads::name(stage)) != stages.end();
    };
    const StageResult distances = expect(Stage::distance);
    if (wanted(Stage::distance)) add_line(operation_, distances);
    std::vector<float> values(distances.cells.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(distances.cells[i]));
    operands_.distances = {values.data(), operation_.m, operation_.n};

    const StageResult lists = expect(Stage::select);
    if (wanted(Stage::select)) add_select_lines(lists, selector);
    if (wanted(Stage::nearest)) {
      expect_seconds(Stage::nearest);
      add_line(operation_, lists);
    }
    operands_.lists = lists.cells;
    const StageResult merged = expect(Stage::merge);
    if (wanted(Stage::merge)) add_line(operation_, merged);
    operands_.nearest = merged.cells;
    add_candidate_lines(wanted, merged);
    for (const Stage stage : {Stage::vote, Stage::mask, Stage::tally, Stage::accumulate})
      if (wanted(stage)) {
        const StageResult expected = expect(stage);
        add_line(operation_, expected);
      }
    return std::move(lines_);
  }

 private:
  /// Those not farther than the k-th are collected, reranked and joined into lists that are empty. Where
  /// many are as far as the k-th, lists are too short.
  template <class Wanted>
  void add_candidate_lines(const Wanted& wanted, const StageResult& merged) {
    if (!wanted(Stage::collect) && !wanted(Stage::rerank) && !wanted(Stage::tighten)) return;
    const auto m = static_cast<std::size_t>(operation_.m), k = static_cast<std::size_t>(operation_.k);
    const Operands before = operands_;
    operation_.capacity = std::min(operation_.n, 2 * operation_.k + 64);
    std::vector<float> theta;
    for (std::size_t q = 0; q < m; ++q) theta.push_back(value_of(merged.cells[q * k + k - 1]));
    operands_.theta = theta;
    const StageResult collected = expect(Stage::collect);
    if (wanted(Stage::collect)) add_line(operation_, collected);
    const Lists lists(collected, operation_, queries_.rows());
    operands_.counts = lists.counts;
    operands_.candidates = lists.rows;
    const StageResult reranked = expect(Stage::rerank);
    if (wanted(Stage::rerank)) add_line(operation_, reranked);
    const std::vector<Key> empty(m * k, no_key);
    operands_.keys = reranked.cells;
    operands_.best = empty;
    const StageResult tightened = expect(Stage::tighten);
    if (wanted(Stage::tighten)) add_line(operation_, tightened);
    operands_ = before;
  }

  /// Lists of candidates as rerank reads them, from what collect gave. One that was too short, whose rows
  /// are left open, becomes the first rows there are.
  struct Lists {
    std::vector<std::uint32_t> counts, rows;

    Lists(const StageResult& collected, const Operation& operation, std::int64_t m) {
      const auto capacity = static_cast<std::uint64_t>(operation.capacity);
      auto cell = collected.cells.begin();
      for (std::int64_t q = 0; q < m; ++q) {
        const std::uint64_t count = *cell++;
        counts.push_back(static_cast<std::uint32_t>(count));
        for (std::uint64_t j = 0; j < capacity; ++j, ++cell)
          rows.push_back(static_cast<std::uint32_t>(count > capacity ? j : *cell));
      }
    }
  };

  /// What the reference gives; operation_ is then that stage.
  StageResult expect(Stage stage) {
    operation_.stage = stage;
    Cell cell;
    StageResult result;
    if (reference_) {
      if (stage == Stage::select) operation_.selector = reference_->info().selectors.front();
      result = run_stage(*reference_, operation_, operands_, cell);
      if (!cell.refusal.empty())
        throw Error(Errc::unsupported, "compare: the reference " + subject_name(reference_) + " refuses " +
                                           title(operation_) + ": " + cell.refusal +
                                           "; choose another with --reference");
    } else {
      const auto start = std::chrono::steady_clock::now();
      result = workloads::plain_result(operation_, operands_);
      cell.seconds = seconds_since(start);
    }
    reference_seconds_ = cell.seconds;
    return result;
  }

  /// Only the time of a stage whose result is known.
  void expect_seconds(Stage stage) {
    operation_.stage = stage;
    Cell cell;
    if (reference_) run_stage(*reference_, operation_, operands_, cell);
    reference_seconds_ = cell.seconds;
  }

  void add_line(const Operation& operation, const StageResult& expected) {
    throw_if_interrupted("compare");
    CompareLine line{title(operation), reference_seconds_, {}};
    for (const Device& device : devices_) {
      Cell& cell = line.cells.emplace_back();
      in_cell(cell, [&] {
        const StageResult actual = run_stage(device, operation, operands_, cell);
        if (cell.refusal.empty()) cell.difference = difference(expected, actual);
      });
    }
    lines_.push_back(std::move(line));
  }

  /// One line for each selector that a device here has.
  void add_select_lines(const StageResult& expected, Selector wanted) {
    Operation operation = operation_;
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
  workloads::Rows train_, queries_;
  workloads::ClassOperands of_classes_;
  Operation operation_;
  Operands operands_;
  double reference_seconds_ = 0;
  std::vector<CompareLine> lines_;
};

}  // namespace

std::string subject_name(const Subject& subject) {
  return subject ? subject->info().spec : "plain";
}

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
