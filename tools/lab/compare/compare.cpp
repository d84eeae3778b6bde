// kith compare: every stage on every device. Same bits? How fast?
#include "lab/compare/compare.hpp"

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
  std::string text = problem.data + ": " + sizes(problem) +
                     "; select and nearest alone: groups = " + std::to_string(problem.groups) + "\n" +
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

/// Options that another one leaves nothing to decide are refused, not ignored.
void refuse_others(const CLI::App& app, const std::string& with, const std::vector<std::string>& allowed) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == with) continue;
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    throw Error(Errc::invalid_argument,
                "compare: " + name + " does not go with " + with + "; leave one of them out");
  }
}

void check_options(const CLI::App& app, const CompareFlags& flags) {
  if (!flags.experiment.empty())
    return refuse_others(app, "--experiment",
                         {"--device", "--quick", "--energy", "--seconds", "--seed", "--data", "--json",
                          "--csv", "--report", "--charts", "--resume", "--fresh"});
  if (!flags.placement.empty()) {
    std::vector<std::string> allowed = {"--reference", "--data",     "--train",  "--queries", "--seed",
                                        "-n",          "-m",         "--dims",   "-k",        "--classes",
                                        "--metric",    "--selector", "--groups", "--threads", "--json"};
    allowed.insert(allowed.end(), text_options.begin(), text_options.end());
    refuse_others(app, "--placement", allowed);
  }
  if (flags.whole) {
    std::vector<std::string> allowed = {
        "--device",   "--reference",  "--train",      "--queries",      "-m",        "-k",    "--metric",
        "--proposer", "--query-tile", "--train-tile", "--memory-limit", "--threads", "--json"};
    allowed.insert(allowed.end(), whole_options.begin(), whole_options.end());
    allowed.insert(allowed.end(), text_options.begin(), text_options.end());
    return refuse_others(app, "--whole", allowed);
  }
  for (const char* name : whole_options)
    if (app.get_option(name)->count() > 0)
      throw Error(Errc::invalid_argument,
                  std::string("compare: ") + name + " is for the files of --whole; give --whole, too");
  for (const char* name : text_options)
    if (app.get_option(name)->count() > 0 && flags.train.empty())
      throw Error(Errc::invalid_argument,
                  std::string("compare: ") + name + " is about files of text; give --train, too");
  if (flags.workers > 1 && !flags.proposed)
    throw Error(Errc::invalid_argument, "compare: --workers are for --proposed; give --proposed, too");
  if (flags.random_cases > 0) {
    std::vector<std::string> allowed = {"--device", "--reference", "--seed",
                                        "--first",  "--seconds",   "--resume"};
    if (flags.proposed) allowed.insert(allowed.end(), {"--proposed", "--workers", "--proposer"});
    refuse_others(app, "--random-cases", allowed);
  }
  for (const char* name : {"--proposed", "--first", "--seconds", "--resume"})
    if (flags.random_cases == 0 && app.get_option(name)->count() > 0)
      throw Error(Errc::invalid_argument,
                  std::string("compare: ") + name + " is about random cases; give --random-cases COUNT, too");
  if (flags.proposed && flags.plan.proposer == "none")
    throw Error(
        Errc::invalid_argument,
        "compare: --proposed is about proposers, and --proposer none is none; name another one, or leave "
        "--proposer out");
  for (const char* name : {"--quick", "--energy", "--csv", "--report", "--charts", "--fresh"})
    if (app.get_option(name)->count() > 0)
      throw Error(Errc::invalid_argument,
                  std::string("compare: ") + name + " belongs to an experiment; give --experiment NAME, too");
}

int run_placements(const CompareFlags& flags, const std::vector<workloads::DataKind>& kinds) {
  int code = exit_ok;
  for (workloads::DataKind kind : kinds)
    code = std::max(code, compare_placement(flags, make_problem(flags, kind)));
  return code;
}

int run_compare(const CLI::App& app, const CompareFlags& flags) {
  check_options(app, flags);
  if (!flags.experiment.empty()) return compare_experiments(flags);
  if (flags.whole) return compare_proposers(app, flags);
  if (flags.train.empty() != flags.queries.empty())
    throw Error(Errc::invalid_argument, "compare: --train and --queries go together; give both");
  const std::vector<std::string> stages = stage_names(flags.stage);
  std::vector<workloads::DataKind> kinds = data_kinds(flags);
  if (!flags.train.empty()) kinds.resize(1);
  if (!flags.placement.empty()) return run_placements(flags, kinds);
  const std::vector<Device> devices = open_devices(flags.device);
  const Subject reference = open_reference(flags, devices);
  if (flags.random_cases > 0) return compare_random_cases(flags, devices, reference);

  if (!flags.json)
    for (const Device& device : devices)
      print(device.info().spec + ": " + device.info().name + ", " + device.info().platform + ", " +
            device.info().driver + "\n");
  Outcome outcome;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (workloads::DataKind kind : kinds) {
    const CompareProblem problem = make_problem(flags, kind);
    const std::vector<CompareLine> lines =
        compare(problem, devices, reference, stages, parse_selector(flags.plan.selector));
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

std::string Outcome::text() const {
  if (different > 0) return std::to_string(different) + " DIFFERENT.";
  if (same > 0 && refused > 0) return "Same bits wherever it ran; " + std::to_string(refused) + " refused.";
  if (same > 0) return "Same bits everywhere.";
  return refused > 0 ? "Nothing was compared: everything was refused."
                     : "Nothing was compared: there are no queries.";
}

int Outcome::code() const {
  if (different > 0) return exit_failed_check;
  return same == 0 && refused > 0 ? exit_code(Errc::unsupported) : exit_ok;
}

Subcommand add_compare(CLI::App& parent) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* app = parent.add_subcommand("compare",
                                        "Run every stage on every device: the same bits? how fast? Exit 1 if "
                                        "not the same, 6 if all was refused");
  add_device_option(*app, flags->device, true);
  app->get_option("--device")->description("all, or specs with commas between them");
  app->add_option("--reference", flags->reference,
                  "What they are compared with: a device, or plain, which is the contract written "
                  "down slowly; by default cpu, and for the cpu alone plain")
      ->type_name("SPEC");
  app->add_option("--stage", flags->stage,
                  "all, or some of distance, select, nearest, merge, collect, rerank, tighten, vote, mask, "
                  "tally, accumulate (each alone), search, classify (the whole)")
      ->type_name("NAMES")
      ->capture_default_str();
  app->add_option(
         "--data", flags->data,
         "all, or some of " + workloads::data_kind_names() + "; an experiment: the file that it reads")
      ->type_name("NAMES")
      ->default_str("normal");
  may_read_file(app->get_option("--data"));
  reads_file(app->add_option("--train", flags->train, "Training rows from a file instead"));
  reads_file(app->add_option("--queries", flags->queries, "And queries"));
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
  app->add_flag("--proposed", flags->proposed,
                "Random cases that all go by a proposer, 16 of one Index, beside the chain alone of the same "
                "device; every 16th Index asks the chain of --reference, too");
  add_number(*app, "--first", flags->first, "Number of the first random case; each number is one case", 0)
      ->capture_default_str();
  add_number(*app, "--workers", flags->workers, "Threads of --proposed, each with the device to itself", 1,
             64)
      ->capture_default_str();
  add_number(*app, "--seconds", flags->seconds,
             "Stop the random cases after that time, a device; an experiment: for the samples of one point",
             1);
  keeps_file(app->add_option(
      "--resume", flags->resume,
      "Remember here how far the random cases came, or which experiments are done: the same command "
      "then goes on. Experiments are kept without it, too: beside the report, or in the user's cache"));
  app->add_option(
         "--placement", flags->placement,
         "Instead: each stage on a device of its own, as distance=cpu,select=cuda:0; a stage that is "
         "left out stays where the one before it is")
      ->type_name("PLACES");
  add_whole_options(*app, *flags);
  app->add_option(
         "--experiment", flags->experiment,
         "Instead: all, list, or some of " + experiment_names() + "; prints what the paper says beside it")
      ->type_name("NAMES")
      ->group("Published experiments, run again");
  add_experiment_options(*app, *flags);
  add_plan_options(*app, flags->plan);
  add_examples(*app, {"kith compare", "kith compare --device cpu,opencl:pocl --data all --metric l1",
                      "kith compare --stage select --selector bubble -n 100000 -m 4 -k 100",
                      "kith compare --device cuda:0 --random-cases 20000 --resume cases.txt",
                      "kith compare --device cuda:0 --random-cases 200000 --proposed --workers 4",
                      "kith compare --placement distance=cpu,select=cuda:0 -n 100000 -m 1 --dims 2",
                      "kith compare --whole --train base.fvecs --queries query.fvecs -k 100 --device cuda:0",
                      "kith compare --experiment pbknn-groups --device cuda:0 --report page.html",
                      "kith compare --experiment gsknn-kdd --data kddcup.data_10_percent.gz"});
  return {app, [app, flags] { return run_compare(*app, *flags); }};
}

}  // namespace kith::command
