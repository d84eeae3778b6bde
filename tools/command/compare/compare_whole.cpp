// The lines of `kith compare` for whole searches and classifications.
#include "command/compare/compare.hpp"
#include "workloads/stored.hpp"

namespace kith::command {
namespace {

using workloads::Answer;

MatrixView<const double> doubles_of(const workloads::Rows& rows, const std::vector<double>& doubles) {
  return {doubles.data(), rows.rows(), rows.dims()};
}

/// Measures the best device time of a search or a classification, and returns its answer.
Answer run_whole(const Device& device, const CompareProblem& problem, bool classify,
                 const SearchOptions& options, Cell& cell) {
  const workloads::StoredRows of_train(problem.train_element, problem.train);
  const workloads::StoredRows of_queries(problem.query_element, problem.queries);
  RowsView train = of_train.view(), queries = of_queries.view();
  if (problem.arithmetic() == Arithmetic::f64) {
    train = doubles_of(problem.train, problem.train_doubles);
    queries = doubles_of(problem.queries, problem.query_doubles);
  }
  Answer answer;
  Trace trace;
  trace.time_steps = false;
  const auto run = [&](const auto& asked) {
    cell.seconds = best_seconds([&] {
      answer = workloads::ask(asked, queries, problem.k, options, &trace);
      return trace.device_seconds;
    });
  };
  if (classify)
    run(Classifier(device, train, problem.labels, problem.metric));
  else
    run(workloads::index_of(device, train, problem.metric, problem.reserve));
  cell.plan = explain(trace.plan);
  return answer;
}

}  // namespace

CompareLine whole_line(const CompareProblem& problem, const std::vector<Device>& devices,
                       const Subject& reference, bool classify) {
  Cell right;
  SearchOptions plain_options;  // the reference uses default options: only its answer counts
  plain_options.stop = problem.options.stop;
  Answer expected;
  if (reference) {
    expected = run_whole(*reference, problem, classify, plain_options, right);
  } else {
    const workloads::Clock clock;
    const auto* const labels = classify ? &problem.labels : nullptr;
    expected =
        problem.arithmetic() == Arithmetic::f64
            ? workloads::plain_answer(problem.metric, doubles_of(problem.train, problem.train_doubles),
                                      doubles_of(problem.queries, problem.query_doubles), problem.k, labels)
            : workloads::plain_answer(problem.metric, problem.train.view(), problem.queries.view(), problem.k,
                                      labels);
    right.seconds = clock.seconds();
  }
  return compare_line(classify ? "classify" : "search", right.seconds, expected, devices,
                      [&](const Device& device, Cell& cell) {
                        return run_whole(device, problem, classify, problem.options, cell);
                      });
}

}  // namespace kith::command
