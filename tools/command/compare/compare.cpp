// kith compare: runs every stage on every device, compares the bits, and measures the time.
#include "command/compare/compare.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "command/shared/json.hpp"
#include "command/shared/named_files.hpp"
#include "kith/names.hpp"

namespace kith::command {
namespace {

std::vector<std::string> stage_names(const std::string& text) {
  std::vector<std::string> known;
  for (workloads::Stage stage : workloads::all_stages) known.emplace_back(workloads::name(stage));
  known.insert(known.end(), {"search", "classify"});
  if (plain_name(text) == "all") return known;
  std::vector<std::string> stages = split_commas(text);
  for (std::string& stage : stages) {
    const std::string given = stage;
    stage = plain_name(given);
    if (std::find(known.begin(), known.end(), stage) != known.end()) continue;
    known.insert(known.begin(), "all");
    refuse("compare", "--stage: there is no stage called \"" + given + "\"; " + advice_on_name(given, known));
  }
  return stages;
}

/// Writes `same  1.2 ms  0.5x`; a longer text becomes a footnote.
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
  std::string text = problem.data + ": " + problem.sizes() +
                     (problem.arithmetic() == Arithmetic::f64
                          ? "; search and classify in double precision, all else by the float32 of these rows"
                          : "") +
                     "; select and nearest alone: lists = " + std::to_string(problem.lists) + "\n" +
                     table.text();
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
  nlohmann::ordered_json json = problem.json();
  json["arithmetic"] = name(problem.arithmetic());
  json["reference"] = subject_name(reference);
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
  const std::vector<std::string> stages = stage_names(flags.stage);
  const std::vector<workloads::DataKind> kinds = data_kinds(flags);
  const std::vector<Device> devices = open_devices("compare", flags.device);
  const Subject reference = open_reference(flags.reference, devices);

  if (!flags.json)
    for (const Device& device : devices)
      print(device.info().spec + ": " + device.info().name + ", " + device.info().platform + ", " +
            device.info().driver + "\n");
  Outcome outcome;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (workloads::DataKind kind : kinds) {
    const CompareProblem problem = make_problem(flags, kind);
    const std::vector<CompareLine> lines =
        compare(problem, devices, reference, stages, flags.plan.how.selector);
    for (const CompareLine& line : lines)
      for (const Cell& cell : line.cells) outcome.take(!cell.refusal.empty(), !cell.difference.empty());
    if (flags.json) {
      all.push_back(report_json(problem, devices, reference, lines));
    } else {
      print("\n" + report(problem, devices, reference, lines, flags.explain));
    }
  }
  if (flags.json)
    print(json_text(all));
  else
    print(outcome.text() + "\n");
  return outcome.code();
}

}  // namespace

void add_reference_option(CLI::App& app, CompareFlags& flags) {
  app.add_option("--reference", flags.reference,
                 "What to compare with: a device, or plain (a slow program that spells out the contract); "
                 "by default cpu, or plain if only the cpu is compared")
      ->type_name("SPEC");
}

void add_problem_options(CLI::App& app, CompareFlags& flags) {
  const auto made = added_options(app, [&] {
    app.add_option("--data", flags.data, "all, or some of " + workloads::data_kind_names())
        ->type_name("NAMES")
        ->capture_default_str();
    add_number(app, "-n", flags.n, "Training rows", 1, UINT32_MAX - 1)->capture_default_str();
    add_number(app, "-m", flags.m, "Queries", 0)->capture_default_str();
    add_number(app, "--dims", flags.dims, "Columns", 1, UINT32_MAX)->capture_default_str();
    app.add_option("--element", flags.elements,
                   "Type that rows are stored in, or training rows and queries, such as f16,u8: values are "
                   "moved to ones the type has; bits (the 32 of each float) go with --metric hamming")
        ->type_name("WHAT");
    add_number(app, "--reserve", flags.reserve,
               "For search: reserve room for this many rows, in which bytes stay bytes, and add half of the "
               "rows later",
               0);
  });
  CLI::Option* const train =
      app.add_option("--train", flags.files.tables.train, "Take training rows from a file instead");
  CLI::Option* const queries =
      app.add_option("--queries", flags.files.tables.queries, "Take queries from a file");
  reads_file(train)->needs(reads_file(queries));
  queries->needs(train);
  each_excludes(made, train);
  each_needs(added_options(app, [&] { add_text_options(app, flags.files.tables); }), train);
  add_number(app, "--seed", flags.seed, "Seed of the synthetic data", 0)->capture_default_str();
  add_number(app, "-k", flags.k, "How many neighbours to find", 1)->capture_default_str();
  add_number(app, "--classes", flags.classes, "How many classes the labels have", 1, 1 << 20)
      ->capture_default_str();
  add_metric_option(app, flags.metric, false);
}

Subcommand add_compare(CLI::App& parent) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* app = parent.add_subcommand("compare",
                                        "Run every stage on every device, and compare bits and times. Exit 1 "
                                        "if bits differ, 6 if every device refused");
  add_device_option(*app, flags->device, true);
  app->get_option("--device")->description("all, or devices separated by commas");
  add_reference_option(*app, *flags);
  app->add_option("--stage", flags->stage,
                  "all, or some of distance, select, nearest, merge, collect, rerank, tighten, vote, mask, "
                  "score, accumulate (each alone), search, classify (the whole)")
      ->type_name("NAMES")
      ->capture_default_str();
  add_problem_options(*app, *flags);
  app->add_flag("--explain", flags->explain, "Print the plan of each search");
  app->add_flag("--json", flags->json, "Print JSON");
  CLI::Option* const arithmetic = add_prepare_option(*app, {arithmetic_key(flags->files)});
  each_needs({arithmetic}, app->get_option("--train"));
  add_plan_options(*app, flags->plan);
  add_examples(*app, {"kith compare", "kith compare --device cpu,opencl:pocl --data all --metric l1",
                      "kith compare --stage select --how selector=bubble -n 100000 -m 4 -k 100"});
  return {app, [flags] { return run_compare(*flags); }};
}

}  // namespace kith::command
