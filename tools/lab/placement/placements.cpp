// kith-lab placements runs each stage of a search on its own device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "command/compare/compare.hpp"
#include "command/shared/json.hpp"
#include "kith/names.hpp"
#include "kith/parse.hpp"
#include "lab/placement/placement.hpp"
#include "lab/subcommands.hpp"
#include "workloads/operand_chain.hpp"

namespace kith::command {
namespace {

using experiments::Placed;
using experiments::PlacedAnswer;
using experiments::PlacedProblem;
using experiments::PlacedStep;
using experiments::Placement;
using workloads::Stage;

constexpr double sample_seconds = 0.2;

constexpr std::string_view where = "placements: --stages";

Stage parse_stage(const std::string& text) {
  std::vector<std::string> known;
  for (Stage stage : experiments::placed_stages) {
    known.emplace_back(workloads::name(stage));
    if (known.back() == plain_name(text)) return stage;
  }
  refuse(where, "there is no stage called \"" + text + "\" to be placed; " + advice_on_name(text, known));
}

/// Reads `distance=cpu,select=cuda:0`. A stage that is left out runs where the one before it does.
Placement parse_placement(const std::string& text) {
  std::map<Stage, std::string> specs;
  for (const std::string& part : split_commas(text)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals + 1 == part.size())
      refuse(where, "\"" + part + "\" names no device; write it as distance=cpu,select=cuda:0");
    const Stage stage = parse_stage(part.substr(0, equals));
    if (!specs.emplace(stage, part.substr(equals + 1)).second)
      refuse(where, std::string(workloads::name(stage)) + " is placed twice; place each stage once");
  }
  Placement placement;
  std::map<std::string, Device> opened;  // by spec, so that no device is opened twice
  std::string spec = "cpu";
  for (Stage stage : experiments::placed_stages) {
    if (const auto found = specs.find(stage); found != specs.end()) spec = found->second;
    auto device = opened.find(spec);
    if (device == opened.end()) {
      Device now = open_device(spec);
      for (const auto& [other, known] : opened)  // `cuda` and `cuda:0` are the same device
        if (known.info().spec == now.info().spec) now = known;
      device = opened.emplace(spec, now).first;
    }
    placement.push_back({stage, device->second});
  }
  return placement;
}

struct PlacementFlags {
  CompareFlags problem;
  std::string stages, selector = "automatic";
  std::int64_t lists = 8, threads = 0;
};

/// Returns the selector that was named, or else the one that the plan of the selecting device takes.
Selector selector_of(const CompareProblem& problem, const Placement& placement) {
  const DeviceInfo& device = placement[1].device.info();
  SearchOptions options = problem.options;
  if (options.selector == Selector::automatic) options.fused = false;
  options.lists = options.query_tile = options.train_tile = 0;
  return make_plan(
             device,
             {problem.metric, problem.train.rows(), problem.queries.rows(), problem.train.dims(), problem.k},
             options)
      .selector;
}

std::string transfers_text(const Placed& placed) {
  return format_seconds(placed.run.transfers()) + " of it for copies of " + format_bytes(placed.run.bytes());
}

std::string report(const CompareProblem& problem, const Placed& placed, const std::string& reference) {
  TextTable table({"step", "where", "bytes", "device clock", "host clock"});
  for (const PlacedStep& step : placed.run.steps)
    table.add({step.what, step.is_copy() ? step.from + " -> " + step.to : step.from,
               step.is_copy() ? format_bytes(step.bytes) : "-",
               step.is_copy() ? "-" : format_seconds(step.device), format_seconds(step.host)});
  table.add({"in all", "", format_bytes(placed.run.bytes()), "-", format_seconds(placed.run.total)});
  return problem.data + ": " + problem.sizes() + ", lists = " + std::to_string(problem.lists) + "\n" +
         table.text() + "In all " + format_seconds(placed.run.total) + " by the host's clock, " +
         transfers_text(placed) + "; median of " + std::to_string(placed.measured.samples) +
         " runs, memory allocated beforehand.\n" + "Same bits as " + reference + ".\n";
}

nlohmann::ordered_json report_json(const CompareProblem& problem, const Placement& placement,
                                   const Placed& placed, const std::string& reference) {
  nlohmann::ordered_json json = problem.json();
  json["placement"] = placement_text(placement);
  json["reference"] = reference;
  json["same"] = placed.measured.difference.empty();
  if (!placed.measured.difference.empty()) {
    json["difference"] = placed.measured.difference;
    return json;
  }
  for (const PlacedStep& step : placed.run.steps) {
    nlohmann::ordered_json entry = {{"step", step.what}};
    if (step.is_copy()) {
      entry["from"] = step.from;
      entry["to"] = step.to;
      entry["bytes"] = step.bytes;
    } else {
      entry["device"] = step.from;
      entry["device_seconds"] = step.device;
    }
    entry["host_seconds"] = step.host;
    json["steps"].push_back(std::move(entry));
  }
  json["samples"] = placed.measured.samples;
  json["copies_seconds"] = placed.run.transfers();
  json["copies_bytes"] = placed.run.bytes();
  json["total_seconds"] = placed.run.total;
  return json;
}

experiments::Settings make_settings(const Placement& placement) {
  experiments::Settings settings{{placement[0].device}, open_device("cpu")};
  settings.seconds = sample_seconds;
  settings.stop = interrupt_token();
  settings.progress = [](const std::string&) { throw_if_interrupted("placements"); };
  return settings;
}

/// Times the placement and prints it. Returns an exit code.
int run_placed(const PlacementFlags& flags, const Placement& placement, CompareProblem problem) {
  problem.lists = flags.lists;
  problem.options.selector = parse<Selector>(flags.selector);
  problem.options.threads = static_cast<std::uint32_t>(flags.threads);
  if (problem.queries.rows() == 0) refuse(where, "there are no queries; choose -m of at least 1");
  std::vector<Device> devices;
  for (const auto& placed : placement) devices.push_back(placed.device);
  const Subject reference = open_reference(flags.problem.reference, devices);
  const workloads::Rows train = workloads::prepared_rows(problem.metric, problem.train.view()),
                        queries = workloads::prepared_rows(problem.metric, problem.queries.view());
  PlacedProblem placed_problem;
  placed_problem.train = train.view();
  placed_problem.queries = queries.view();
  const workloads::RankedLabels ranked(problem.labels);
  placed_problem.classes = static_cast<std::int64_t>(ranked.classes.size());
  placed_problem.labels = ranked.labels;
  placed_problem.k = problem.k;
  placed_problem.lists = std::min(problem.lists, train.rows());
  placed_problem.metric = problem.metric;
  placed_problem.selector = selector_of(problem, placement);
  placed_problem.threads = problem.options.threads;

  const PlacedAnswer expected = reference ? placed_answer(*reference, placement, placed_problem)
                                          : plain_placed_answer(placement, placed_problem);
  const Placed placed = time_placed(make_settings(placement), placement, placed_problem, expected);
  if (!placed.measured.refusal.empty())
    throw Error(Errc::unsupported, "placements: --stages: " + placed.measured.refusal);
  const bool same = placed.measured.difference.empty();
  if (flags.problem.json)
    print(json_text(report_json(problem, placement, placed, subject_name(reference))));
  else
    print(same ? report(problem, placed, subject_name(reference))
               : "DIFFERENT from " + subject_name(reference) +
                     ", so not timed: " + placed.measured.difference + "\n");
  return same ? exit_ok : exit_failed_check;
}

int run_placements(const PlacementFlags& flags) {
  const Placement placement = parse_placement(flags.stages);
  int code = exit_ok;
  for (workloads::DataKind kind : data_kinds(flags.problem))
    code = std::max(code, run_placed(flags, placement, make_problem(flags.problem, kind)));
  return code;
}

}  // namespace

Subcommand add_placements(CLI::App& parent) {
  auto flags = std::make_shared<PlacementFlags>();
  flags->problem.where = "placements";
  CLI::App* app = parent.add_subcommand(
      "placements",
      "Run each stage of a search on its own device, and time stages and copies. Exit 1 if bits differ");
  app->add_option("--stages", flags->stages,
                  "Where the stages run, such as distance=cpu,select=cuda:0; a stage that is not named runs "
                  "where the one before it does")
      ->type_name("PLACES")
      ->required();
  add_reference_option(*app, flags->problem);
  add_problem_options(*app, flags->problem);
  app->add_flag("--json", flags->problem.json, "Print JSON");
  app->add_option("--selector", flags->selector, "Method that selects the nearest, as in `kith search`")
      ->type_name("NAME")
      ->capture_default_str();
  add_number(*app, "--lists", flags->lists, "Partial lists per query", 1)->capture_default_str();
  add_number(*app, "--threads", flags->threads, "Threads of the host (0: one per core)", 0)
      ->capture_default_str();
  add_examples(*app, {"kith-lab placements --stages distance=cpu,select=cuda:0 -n 100000 -m 1 --dims 2"});
  return {app, [flags] { return run_placements(*flags); }};
}

}  // namespace kith::command
