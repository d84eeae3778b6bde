// The lines of `kith compare`: each stage on each device, against the reference.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "compare.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/spi.hpp"

namespace kith::command {
namespace {

using workloads::Answer;
using workloads::Operands;
using workloads::Operation;
using workloads::Stage;
using workloads::StageResult;

constexpr int most_runs = 10;        ///< the first warms up
constexpr double long_enough = 0.2;  ///< seconds; after that no further run begins

/// The best of a few runs.
template <class Run>
double best_seconds(const Run& run) {
  double best = run(), all = best;
  for (int i = 1; i < most_runs && all < long_enough; ++i) {
    const double seconds = run();
    all += seconds;
    best = std::min(best, seconds);
  }
  return best;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Do `body`; an Error becomes the cell's.
template <class Body>
void in_cell(Cell& cell, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() == Errc::interrupted) throw;
    const bool refused = error.code() == Errc::unsupported || error.code() == Errc::out_of_memory;
    (refused ? cell.refusal : cell.difference) = error.what();
  }
}

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
        queries_(workloads::prepared_rows(problem.metric, problem.queries.view())) {
    operation_.metric = problem.metric;
    operation_.n = train_.rows();
    operation_.m = queries_.rows();
    operation_.dims = train_.dims();
    operation_.k = problem.k;
    operation_.groups = std::min(problem.groups, operation_.n);
    operation_.threads = problem.options.threads;
    std::vector<std::int64_t> classes = problem.labels;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    operation_.classes = static_cast<std::int64_t>(classes.size());
    for (std::int64_t label : problem.labels)
      labels_.push_back(static_cast<std::uint32_t>(std::lower_bound(classes.begin(), classes.end(), label) -
                                                   classes.begin()));
    operands_.queries = queries_.view();
    operands_.train = train_.view();
    operands_.labels = labels_;
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
    const StageResult votes = expect(Stage::vote);
    if (wanted(Stage::vote)) add_line(operation_, votes);
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
  std::vector<std::uint32_t> labels_;
  Operation operation_;
  Operands operands_;
  double reference_seconds_ = 0;
  std::vector<CompareLine> lines_;
};

/// Best device time of a search or a classification, and its answer.
Answer run_whole(const Device& device, const CompareProblem& problem, bool classify,
                 const PlanOptions& options, Cell& cell) {
  const MatrixView<const float> train = problem.train.view(), queries = problem.queries.view();
  Answer answer;
  Trace trace;
  trace.time_steps = false;
  if (classify) {
    const Classifier classifier(device, train, problem.labels, problem.metric);
    cell.seconds = best_seconds([&] {
      Classification found = classifier.classify(queries, problem.k, options, &trace);
      answer = {std::move(found.neighbors), std::move(found.label), std::move(found.votes)};
      return trace.device_seconds;
    });
  } else {
    const Index index(device, train, problem.metric);
    cell.seconds = best_seconds([&] {
      answer.neighbors = index.search(queries, problem.k, options, &trace);
      return trace.device_seconds;
    });
  }
  cell.plan = explain(trace.plan);
  return answer;
}

CompareLine whole_line(const CompareProblem& problem, const std::vector<Device>& devices,
                       const Subject& reference, bool classify) {
  throw_if_interrupted("compare");
  CompareLine line{classify ? "classify" : "search", 0, {}};
  Cell right;
  PlanOptions plain_options;  // the reference goes its own way: only the answer counts
  plain_options.stop = problem.options.stop;
  Answer expected;
  if (reference) {
    expected = run_whole(*reference, problem, classify, plain_options, right);
  } else {
    const auto start = std::chrono::steady_clock::now();
    expected = workloads::plain_answer(problem.metric, problem.train.view(), problem.queries.view(),
                                       problem.k, classify ? &problem.labels : nullptr);
    right.seconds = seconds_since(start);
  }
  line.reference_seconds = right.seconds;
  for (const Device& device : devices) {
    Cell& cell = line.cells.emplace_back();
    in_cell(cell, [&] {
      cell.difference = difference(expected, run_whole(device, problem, classify, problem.options, cell));
    });
  }
  return line;
}

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
