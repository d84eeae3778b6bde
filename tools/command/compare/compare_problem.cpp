// Makes the problem that `kith compare` compares: rows, devices and the reference.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <nlohmann/json.hpp>

#include "command/compare/compare.hpp"
#include "command/input/read_as.hpp"
#include "kith/parse.hpp"
#include "workloads/stored.hpp"

namespace kith::command {
namespace {

workloads::Rows copy(const files::Table& table) {
  return workloads::prepared_rows(Metric::squared_l2, view(table));
}

/// Refuses rows that Index::search() refuses: a stage alone would compute inf - inf, which has no order.
void check_range(const std::string& where, const CompareProblem& problem) {
  if (problem.metric != Metric::negative_dot) return;
  const auto largest = [](MatrixView<const float> rows) {
    double most = 0;
    for (std::int64_t r = 0; r < rows.rows(); ++r)
      for (std::int64_t d = 0; d < rows.cols(); ++d) most = std::max(most, std::fabs(double{rows(r, d)}));
    return most;
  };
  const double bound = static_cast<double>(problem.train.dims()) * largest(problem.train.view()) *
                       largest(problem.queries.view());
  if (bound >= double{FLT_MAX})
    throw Error(Errc::invalid_argument,
                where + ": " + problem.data +
                    ": dims * max|query| * max|row| = " + nlohmann::json(bound).dump() +
                    " may overflow negative_dot; scale the rows, or choose another metric");
}

}  // namespace

nlohmann::ordered_json CompareProblem::json() const {
  nlohmann::ordered_json json = sizes_json(data, metric, train.view(), queries.view(), k);
  json["lists"] = lists;
  return json;
}

std::vector<workloads::DataKind> data_kinds(const CompareFlags& flags) {
  if (!flags.files.tables.train.empty()) return {workloads::DataKind::uniform};
  std::vector<workloads::DataKind> kinds;
  if (flags.data == "all") {
    kinds.assign(workloads::all_data_kinds.begin(), workloads::all_data_kinds.end());
    kinds.insert(kinds.end(), workloads::adversarial_data_kinds.begin(),
                 workloads::adversarial_data_kinds.end());
    std::erase_if(kinds, [&](workloads::DataKind kind) { return !admits(flags.metric, kind); });
    return kinds;
  }
  for (const std::string& text : split_commas(flags.data)) {
    kinds.push_back(workloads::parse_data_kind(text));
    if (!admits(flags.metric, kinds.back()))
      throw Error(Errc::invalid_argument, flags.where + ": --data: " + text + " overflows " +
                                              std::string(name(flags.metric)) +
                                              ", which kith refuses; choose another metric");
  }
  return kinds;
}

namespace {

/// Parses --element: u8, or f16,u8 for training rows and queries.
void set_elements(const CompareFlags& flags, CompareProblem& problem) {
  const std::vector<std::string> names = split_commas(flags.elements);
  if (!flags.elements.empty() && names.size() > 2)
    throw Error(Errc::invalid_argument,
                flags.where + ": --element " + flags.elements + " names " + std::to_string(names.size()) +
                    " elements; give one for all rows, or that of training rows and of queries");
  if (!flags.elements.empty()) {
    problem.train_element = parse<Element>(names.front());
    problem.query_element = parse<Element>(names.back());
  }
  for (const Element element : {problem.train_element, problem.query_element})
    if ((element == Element::bits) != compares_bits(flags.metric))
      throw Error(Errc::invalid_argument,
                  flags.where + ": --metric " + std::string(name(flags.metric)) + " and rows of " +
                      std::string(name(element)) +
                      " do not go together; give --element bits with --metric hamming alone");
  problem.reserve = flags.reserve;
  round_to(problem.train_element, flags.metric, problem.train);
  round_to(problem.query_element, flags.metric, problem.queries);
}

/// Reads rows and queries of files, in the arithmetic that `kith search` would choose.
void read_problem(const CompareFlags& flags, CompareProblem& problem) {
  TableFlags tables = read_as_needed(flags.files, flags.files.tables);
  tables.wide = false;  // each value needs a float32, too
  tables.if_too_large = {};
  files::Table train = read_train(tables, true);
  const bool doubles = flags.files.arithmetic == Arithmetic::f64 || !train.doubles.empty();
  tables.doubles = doubles;
  files::Table queries = read_queries(tables, train);
  problem.data = tables.train;
  problem.train = copy(train);
  problem.queries = copy(queries);
  if (!doubles) return;
  const auto take = [](files::Table& table) {
    return table.doubles.empty() ? std::vector<double>(table.values.begin(), table.values.end())
                                 : std::move(table.doubles);
  };
  problem.train_doubles = take(train);
  problem.query_doubles = take(queries);
}

}  // namespace

CompareProblem make_problem(const CompareFlags& flags, workloads::DataKind kind) {
  CompareProblem problem;
  if (!flags.files.tables.train.empty()) {
    read_problem(flags, problem);
  } else {
    const auto rows = [&](workloads::Set set, std::int64_t count) {
      return workloads::make_rows(kind, flags.seed_bits(), set, count, flags.dims, flags.metric);
    };
    problem.data = name(kind);
    problem.train = rows(workloads::Set::train, flags.n);
    problem.queries = rows(workloads::Set::queries, flags.m);
    set_elements(flags, problem);
  }
  const std::int64_t n = problem.train.rows();
  if (flags.k > n)
    throw Error(Errc::invalid_argument, flags.where + ": k = " + std::to_string(flags.k) + " but there are " +
                                            std::to_string(n) + " training rows; choose k from 1 to " +
                                            std::to_string(n));
  problem.labels = workloads::make_labels(flags.seed_bits(), n, flags.classes);
  problem.seed = flags.seed_bits();
  problem.k = flags.k;
  problem.metric = flags.metric;
  problem.options = plan_options(flags.plan);
  problem.lists = flags.plan.how.lists ? flags.plan.how.lists : 8;
  check_range(flags.where, problem);
  return problem;
}

}  // namespace kith::command
