// kith compare: every stage on every device. Same bits? How fast?
#include "compare.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "tables.hpp"

namespace kith::command {
namespace {

std::vector<std::string> stage_names(const std::string& text) {
  std::vector<std::string> known;
  for (workloads::Stage stage : workloads::all_stages) known.emplace_back(workloads::name(stage));
  known.insert(known.end(), {"search", "classify"});
  if (text == "all") return known;
  std::vector<std::string> stages = split_commas(text);
  for (const std::string& stage : stages) {
    if (std::find(known.begin(), known.end(), stage) != known.end()) continue;
    std::string list = "all";
    for (const std::string& name : known) list += ", " + name;
    throw Error(Errc::invalid_argument,
                "compare: --stage: there is no stage called \"" + stage + "\"; choose among " + list);
  }
  return stages;
}

std::vector<workloads::DataKind> data_kinds(const CompareFlags& flags) {
  std::vector<workloads::DataKind> kinds;
  if (flags.data == "all") {
    for (workloads::DataKind kind : workloads::all_data_kinds)
      if (admits(flags.metric, kind)) kinds.push_back(kind);
    return kinds;
  }
  for (const std::string& text : split_commas(flags.data)) {
    kinds.push_back(workloads::parse_data_kind(text));
    if (!admits(flags.metric, kinds.back()))
      throw Error(Errc::invalid_argument, "compare: --data: " + text + " overflows " +
                                              std::string(name(flags.metric)) +
                                              ", which kith refuses; choose another metric");
  }
  return kinds;
}

/// Every device here that opens, or those that were named.
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

/// cpu; plain where nothing else than the CPU back end would be compared with itself.
Subject open_reference(const CompareFlags& flags, const std::vector<Device>& devices) {
  const bool only_cpu = std::all_of(devices.begin(), devices.end(),
                                    [](const Device& device) { return device.info().backend == "cpu"; });
  const std::string spec = !flags.reference.empty() ? flags.reference : only_cpu ? "plain" : "cpu";
  if (spec == "plain") return std::nullopt;
  return open_device(spec);
}

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

CompareProblem make_problem(const CompareFlags& flags, workloads::DataKind kind) {
  CompareProblem problem;
  if (!flags.train.empty()) {
    TableFlags tables;
    tables.train = flags.train;
    tables.queries = flags.queries;
    const files::Table train = read_train(tables), queries = read_queries(tables, train);
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
         ", dims = " + std::to_string(problem.train.dims()) + ", k = " + std::to_string(problem.k) +
         "; select and nearest alone: groups = " + std::to_string(problem.groups);
}

/// `same  1.2 ms  0.5x`; what needs more words becomes a footnote.
std::string cell_text(const CompareLine& line, const Cell& cell, const std::string& device,
                      std::vector<std::string>& footnotes) {
  const auto footnote = [&](const std::string& text) {
    footnotes.push_back(line.title + " on " + device + ": " + text);
    return " [" + std::to_string(footnotes.size()) + "]";
  };
  if (!cell.refusal.empty()) return "refused" + footnote(cell.refusal);
  if (!cell.difference.empty()) return "DIFFERENT" + footnote(cell.difference);
  std::string text = "same  " + format_seconds(cell.seconds);
  if (line.reference_seconds > 0)
    text += "  " + format_number(cell.seconds / line.reference_seconds, 2) + "x";
  return text;
}

std::string report(const CompareProblem& problem, const std::vector<Device>& devices,
                   const Subject& reference, const std::vector<CompareLine>& lines, bool plans) {
  std::vector<std::string> titles = {"stage", subject_name(reference) + " (reference)"};
  for (const Device& device : devices) titles.push_back(device.info().spec);
  TextTable table(titles);
  std::vector<std::string> footnotes;
  for (const CompareLine& line : lines) {
    const double seconds = line.reference_seconds;
    std::vector<std::string> cells = {line.title, seconds > 0 ? format_seconds(seconds) : "-"};
    for (std::size_t i = 0; i < devices.size(); ++i)
      cells.push_back(cell_text(line, line.cells[i], devices[i].info().spec, footnotes));
    table.add(std::move(cells));
  }
  std::string text = problem.data + ": " + sizes(problem) + "\n" + table.text();
  for (std::size_t i = 0; i < footnotes.size(); ++i)
    text += "[" + std::to_string(i + 1) + "] " + footnotes[i] + "\n";
  if (plans)
    for (const CompareLine& line : lines)
      for (const Cell& cell : line.cells)
        if (!cell.plan.empty()) text += "\n" + line.title + "\n" + cell.plan;
  return text + "\n";
}

nlohmann::ordered_json report_json(const CompareProblem& problem, const std::vector<Device>& devices,
                                   const Subject& reference, const std::vector<CompareLine>& lines) {
  nlohmann::ordered_json json = {{"data", problem.data},         {"metric", name(problem.metric)},
                                 {"n", problem.train.rows()},    {"m", problem.queries.rows()},
                                 {"dims", problem.train.dims()}, {"k", problem.k},
                                 {"groups", problem.groups},     {"reference", subject_name(reference)}};
  for (const CompareLine& line : lines)
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Cell& cell = line.cells[i];
      nlohmann::ordered_json entry = {{"stage", line.title}, {"device", devices[i].info().spec}};
      if (!cell.refusal.empty()) {
        entry["refused"] = cell.refusal;
      } else {
        entry["same"] = cell.difference.empty();
        if (!cell.difference.empty()) entry["difference"] = cell.difference;
        entry["seconds"] = cell.seconds;
        entry["reference_seconds"] = line.reference_seconds;
        if (!cell.plan.empty()) entry["plan"] = cell.plan;
      }
      json["results"].push_back(std::move(entry));
    }
  return json;
}

int run_compare(const CompareFlags& flags) {
  if (flags.train.empty() != flags.queries.empty())
    throw Error(Errc::invalid_argument, "compare: --train and --queries go together; give both");
  const std::vector<std::string> stages = stage_names(flags.stage);
  std::vector<workloads::DataKind> kinds = data_kinds(flags);
  if (!flags.train.empty()) kinds.resize(1);
  const std::vector<Device> devices = open_devices(flags.device);
  const Subject reference = open_reference(flags, devices);
  if (flags.random_cases > 0) return compare_random_cases(flags, devices, reference);

  if (!flags.json)
    for (const Device& device : devices)
      print(device.info().spec + ": " + device.info().name + ", " + device.info().platform + ", " +
            device.info().driver + "\n");
  std::size_t different = 0;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (workloads::DataKind kind : kinds) {
    const CompareProblem problem = make_problem(flags, kind);
    const std::vector<CompareLine> lines =
        compare(problem, devices, reference, stages, parse_selector(flags.plan.selector));
    for (const CompareLine& line : lines)
      for (const Cell& cell : line.cells) different += !cell.difference.empty();
    if (flags.json) {
      all.push_back(report_json(problem, devices, reference, lines));
    } else {
      print("\n" + report(problem, devices, reference, lines, flags.explain));
    }
  }
  if (flags.json)
    print(all.dump(2) + "\n");
  else
    print(different == 0 ? "Same bits everywhere.\n" : std::to_string(different) + " DIFFERENT.\n");
  return different == 0 ? exit_ok : exit_failed_check;
}

}  // namespace

Subcommand add_compare(CLI::App& parent) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* app = parent.add_subcommand(
      "compare", "Run every stage on every device: the same bits? how fast? Exit 1 if not the same");
  add_device_option(*app, flags->device, true);
  app->get_option("--device")->description("all, or specs with commas between them");
  app->add_option("--reference", flags->reference,
                  "What they are compared with: a device, or plain, which is the contract written "
                  "down slowly; by default cpu, and for the cpu alone plain")
      ->type_name("SPEC");
  app->add_option("--stage", flags->stage,
                  "all, or some of distance, select, nearest, merge, vote (each alone), search, "
                  "classify (the whole)")
      ->type_name("NAMES")
      ->capture_default_str();
  app->add_option("--data", flags->data, "all, or some of " + workloads::data_kind_names())
      ->type_name("NAMES")
      ->capture_default_str();
  app->add_option("--train", flags->train, "Training rows from a file instead")->type_name("FILE");
  app->add_option("--queries", flags->queries, "And queries")->type_name("FILE");
  add_number(*app, "--seed", flags->seed, "Another seed, other data", 0)->capture_default_str();
  add_number(*app, "-n", flags->n, "Training rows", 1, UINT32_MAX - 1)->capture_default_str();
  add_number(*app, "-m", flags->m, "Queries", 0)->capture_default_str();
  add_number(*app, "--dims", flags->dims, "Columns", 1, UINT32_MAX)->capture_default_str();
  add_number(*app, "-k", flags->k, "Neighbours a query", 1)->capture_default_str();
  add_number(*app, "--classes", flags->classes, "Classes of the labels", 1, 1 << 20)->capture_default_str();
  add_metric_option(*app, flags->metric);
  app->add_flag("--explain", flags->explain, "Print the plan of each search");
  app->add_flag("--json", flags->json, "Print JSON");
  add_number(*app, "--random-cases", flags->random_cases,
             "Instead: so many random searches and classifications on each device; a case that "
             "differs is printed as the command that repeats it",
             1);
  add_number(*app, "--seconds", flags->seconds, "Stop the random cases after that time, a device", 1);
  app->add_option("--resume", flags->resume, "Remember here how far the random cases came")
      ->type_name("FILE");
  add_plan_options(*app, flags->plan);
  add_examples(*app, {"kith compare", "kith compare --device cpu,opencl:pocl --data all --metric l1",
                      "kith compare --stage select --selector bubble -n 100000 -m 4 -k 100",
                      "kith compare --device cuda:0 --random-cases 20000 --resume cases.txt"});
  return {app, [flags] { return run_compare(*flags); }};
}

}  // namespace kith::command
