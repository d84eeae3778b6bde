// What `kith compare` compares: rows, devices and the reference.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <nlohmann/json.hpp>

#include "command/input/tables.hpp"
#include "lab/compare/compare.hpp"

namespace kith::command {
namespace {

workloads::Rows copy(const files::Table& table) {
  return workloads::prepared_rows(Metric::squared_l2, view(table));
}

/// What Index::search() refuses too: stages alone would meet inf - inf, which has no order.
void check_range(const CompareProblem& problem) {
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
                "compare: " + problem.data +
                    ": dims * max|query| * max|row| = " + nlohmann::json(bound).dump() +
                    " may overflow negative_dot; scale the rows, or choose another metric");
}

}  // namespace

std::vector<workloads::DataKind> data_kinds(const CompareFlags& flags) {
  std::vector<workloads::DataKind> kinds;
  if (flags.data == "all") {
    kinds.assign(workloads::all_data_kinds.begin(), workloads::all_data_kinds.end());
    kinds.insert(kinds.end(), workloads::adversarial_data_kinds.begin(),
                 workloads::adversarial_data_kinds.end());
    std::erase_if(kinds, [&](workloads::DataKind kind) { return !admits(flags.metric, kind); });
    return kinds;
  }
  for (const std::string& text : split_commas(flags.data.empty() ? "normal" : flags.data)) {
    kinds.push_back(workloads::parse_data_kind(text));
    if (!admits(flags.metric, kinds.back()))
      throw Error(Errc::invalid_argument, "compare: --data: " + text + " overflows " +
                                              std::string(name(flags.metric)) +
                                              ", which kith refuses; choose another metric");
  }
  return kinds;
}

std::vector<Device> open_devices(const std::string& specs) {
  std::vector<Device> opened;
  if (specs != "all") {
    for (const std::string& spec : split_commas(specs)) opened.push_back(open_device(spec));
    return opened;
  }
  for (const DeviceInfo& info : devices()) {
    try {
      opened.push_back(open_device(info.spec));
    } catch (const Error& error) {
      note(error.what());
    }
  }
  if (opened.empty())
    throw Error(Errc::unavailable, "compare: no device here can be opened; see `kith doctor`");
  return opened;
}

Subject open_reference(const CompareFlags& flags, const std::vector<Device>& devices) {
  const bool only_cpu = std::all_of(devices.begin(), devices.end(),
                                    [](const Device& device) { return device.info().backend == "cpu"; });
  const std::string spec = !flags.reference.empty() ? flags.reference : only_cpu ? "plain" : "cpu";
  if (spec == "plain") return std::nullopt;
  return open_device(spec);
}

CompareProblem make_problem(const CompareFlags& flags, workloads::DataKind kind) {
  CompareProblem problem;
  if (!flags.train.empty()) {
    TableFlags tables = flags.whole_set.tables;
    tables.train = flags.train;
    tables.format = flags.whole_set.tables.format;
    tables.queries = flags.queries;
    const files::Table train = read_train(tables, true), queries = read_queries(tables, train);
    problem.data = flags.train;
    problem.train = copy(train);
    problem.queries = copy(queries);
  } else {
    const auto rows = [&](workloads::Set set, std::int64_t count) {
      return workloads::make_rows(kind, flags.seed_bits(), set, count, flags.dims, flags.metric);
    };
    problem.data = name(kind);
    problem.train = rows(workloads::Set::train, flags.n);
    problem.queries = rows(workloads::Set::queries, flags.m);
  }
  const std::int64_t n = problem.train.rows();
  if (flags.k > n)
    throw Error(Errc::invalid_argument, "compare: k = " + std::to_string(flags.k) + " but there are " +
                                            std::to_string(n) +
                                            " training rows; choose 1 <= k <= " + std::to_string(n));
  problem.labels = workloads::make_labels(flags.seed_bits(), n, flags.classes);
  problem.seed = flags.seed_bits();
  problem.k = flags.k;
  problem.metric = flags.metric;
  problem.options = plan_options(flags.plan);
  problem.groups = flags.plan.groups ? flags.plan.groups : 8;
  check_range(problem);
  return problem;
}

std::string sizes(const CompareProblem& problem) {
  return std::string(name(problem.metric)) + ", n = " + std::to_string(problem.train.rows()) +
         ", m = " + std::to_string(problem.queries.rows()) +
         ", dims = " + std::to_string(problem.train.dims()) + ", k = " + std::to_string(problem.k);
}

}  // namespace kith::command
