// kith-lab reproduce runs the published experiments again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <list>
#include <optional>

#include "command/compare/subjects.hpp"
#include "command/shared/json.hpp"
#include "command/shared/named_files.hpp"
#include "files/output.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/reproduce/experiment_output.hpp"
#include "lab/reproduce/experiment_page.hpp"
#include "lab/reproduce/experiment_run.hpp"
#include "lab/subcommands.hpp"

namespace kith::command {
namespace {

using experiments::Experiment;
using experiments::Result;
using experiments::Settings;

constexpr double quick_seconds = 0.05, full_seconds = 0.3;  ///< for the samples of one point

std::vector<Experiment> wanted_experiments(const ReproduceFlags& flags) {
  if (flags.names == "all") return experiments::all_experiments();
  std::vector<Experiment> wanted;
  for (const std::string& name : split_commas(flags.names)) {
    if (name == "all" || name == "list")
      refuse("reproduce", "NAMES: " + name + " stands alone; leave the other names out");
    const Experiment& found = experiments::find_experiment(name);
    const auto same = [&](const Experiment& e) { return e.name == found.name; };
    if (std::none_of(wanted.begin(), wanted.end(), same)) wanted.push_back(found);
  }
  return wanted;
}

/// Checks that the files which experiments read are there. `all` leaves out those whose file was not given.
void check_data(const ReproduceFlags& flags, std::vector<Experiment>& wanted) {
  if (flags.names == "all" && flags.data.empty())
    std::erase_if(wanted, [](const Experiment& experiment) {
      if (!experiment.check_data) return false;
      note(std::string(experiment.name) + " is left out: it reads a file; ask for it by its name");
      return true;
    });
  bool read = false;
  for (const Experiment& experiment : wanted) {
    if (!experiment.check_data) continue;
    experiment.check_data(flags.data);
    read = true;
  }
  if (!flags.data.empty() && !read)
    refuse("reproduce", "--data: " + flags.names + " reads no file; leave it out");
}

std::string experiment_list() {
  std::size_t longest = 0;
  for (const Experiment& experiment : experiments::all_experiments())
    longest = std::max(longest, experiment.name.size());
  std::string text;
  for (const Experiment& experiment : experiments::all_experiments())
    text += std::string(experiment.name) + std::string(longest + 2 - experiment.name.size(), ' ') +
            std::string(experiment.about) + "\n";
  return text;
}

std::string experiment_list_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Experiment& experiment : experiments::all_experiments())
    all.push_back({{"name", experiment.name}, {"about", experiment.about}});
  return json_text(all);
}

Settings make_settings(const ReproduceFlags& flags, const std::vector<Device>& devices) {
  Settings settings{devices, open_device("cpu")};
  settings.quick = flags.quick;
  settings.seconds = flags.seconds > 0 ? static_cast<double>(flags.seconds)
                     : flags.quick     ? quick_seconds
                                       : full_seconds;
  settings.seed = static_cast<std::uint64_t>(flags.seed);
  settings.data = flags.data;
  settings.stop = interrupt_token();
  settings.progress = [](const std::string&) { throw_if_interrupted("reproduce"); };
  if (flags.energy)
    for (const Device& device : devices)
      settings.meters.push_back(std::make_shared<energy::EnergyMeter>(device.info()));
  else
    settings.energy_note = "no joules: they are counted with --energy";
  return settings;
}

/// Returns where unfinished work is kept: beside the first file that is written; if there is none, in the
/// user's cache.
KeptWork kept_work(const ReproduceFlags& flags, const std::vector<Experiment>& wanted,
                   const Settings& settings) {
  const nlohmann::ordered_json asked = asked_of(settings);
  std::filesystem::path path = flags.resume;
  for (const std::string& file : {flags.report, flags.csv})
    if (path.empty() && !partial_path(file).empty()) path = file + ".partial.json";
  const bool named = !path.empty();
  if (!named) {
    nlohmann::ordered_json names = asked;
    for (const Experiment& experiment : wanted) names["experiments"].push_back(experiment.name);
    path = kept_path("experiments", names);
  }
  KeptWork kept("reproduce", path, asked);
  try {
    kept.check_writable(!named);
  } catch (const Error& error) {
    if (named) throw;
    note(std::string("reproduce: what is measured is not kept, should it be stopped: ") + error.what());
    return {"reproduce", {}, asked};
  }
  return kept;
}

/// Returns the file of a chart; `number` counts those of an experiment from 1.
std::filesystem::path chart_path(const std::string& folder, std::string_view experiment, std::size_t number) {
  return std::filesystem::path(folder) / (std::string(experiment) + "-" + std::to_string(number) + ".svg");
}

/// Throws bad_file if charts could not be written, before hours are spent on measurements.
void check_charts_folder(const std::string& folder, const std::vector<Experiment>& wanted) {
  for (const Experiment& experiment : wanted) files::AtomicFile(chart_path(folder, experiment.name, 1));
}

/// Writes every chart as a file that is complete but not yet under its final name.
std::list<files::AtomicFile> write_charts(const std::string& folder, const std::vector<Result>& results) {
  std::list<files::AtomicFile> charts;
  for (const Result& result : results)
    for (std::size_t i = 0; i < result.charts.size(); ++i) {
      throw_if_interrupted("reproduce");
      charts.emplace_back(chart_path(folder, result.name, i + 1))
          .write(report::chart_picture(result, result.charts[i]));
    }
  return charts;
}

int run_reproduce(const ReproduceFlags& flags) {
  if (flags.names == "list" && (flags.quick || flags.energy || flags.fresh || !flags.csv.empty() ||
                                !flags.report.empty() || !flags.charts.empty()))
    refuse("reproduce", "NAMES: list runs nothing, so there is nothing to write; give names, or all");
  if (flags.names == "list") return print(flags.json ? experiment_list_json() : experiment_list()), exit_ok;
  std::vector<Experiment> wanted = wanted_experiments(flags);
  check_partial_paths(flags);
  check_data(flags, wanted);
  std::optional<files::AtomicFile> csv, page;
  if (!flags.csv.empty()) csv.emplace(flags.csv);
  if (!flags.report.empty()) page.emplace(flags.report);
  if (!flags.charts.empty()) check_charts_folder(flags.charts, wanted);
  const Settings settings = make_settings(flags, open_devices("reproduce", flags.device));
  ExperimentRun run(flags, wanted, settings, kept_work(flags, wanted, settings));
  run.run();

  const std::vector<Result> results = run.results();
  if (csv) csv->write(experiments_csv(results));
  if (page) page->write(report::experiment_page(results, command_line()));
  std::list<files::AtomicFile> charts;
  if (!flags.charts.empty()) charts = write_charts(flags.charts, results);
  throw_if_interrupted("reproduce");
  if (csv) csv->commit();
  if (page) page->commit();
  for (files::AtomicFile& chart : charts) chart.commit();
  run.forget();
  return std::all_of(results.begin(), results.end(), experiments::all_passed) ? exit_ok : exit_failed_check;
}

}  // namespace

Subcommand add_reproduce(CLI::App& parent) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* app = parent.add_subcommand(
      "reproduce", "Repeat published experiments and show the papers' figures beside the new ones");
  app->add_option("NAMES", flags->names, "all, list, or names that list prints, separated by commas")
      ->capture_default_str()
      ->type_name("");
  add_device_option(*app, flags->device, true);
  app->get_option("--device")->description("all, or devices separated by commas");
  reads_file(app->add_option("--data", flags->data, "The file that an experiment reads"));
  add_number(*app, "--seed", flags->seed, "Seed of the synthetic data", 0)->capture_default_str();
  add_number(*app, "--seconds", flags->seconds, "Seconds for the samples of one point", 1);
  app->add_flag("--json", flags->json, "Print JSON");
  keeps_file(app->add_option("--resume", flags->resume,
                             "Keep finished work here, so that the same command resumes after a stop "
                             "(default: beside the report, or in the user's cache)"));
  app->add_flag("--quick", flags->quick,
                "Use small sizes, not those of the papers. On two cores, all experiments take about 9 "
                "minutes, or half a minute with --quick");
  app->add_flag("--energy", flags->energy,
                "Also count joules where the platform tells them; repeats each point for a second or more");
  writes_file(app->add_option("--table", flags->csv, "Write the points, one per line"));
  writes_file(app->add_option("--report", flags->report, "Write a page with charts for a browser"));
  writes_folder(app->add_option("--charts", flags->charts,
                                "Write each chart as a picture NAME-1.svg, NAME-2.svg, ... into this folder"),
                {".svg"});
  app->add_flag(
      "--fresh", flags->fresh,
      "Start over; otherwise the same command resumes a stopped run with the experiments that are missing");
  add_examples(*app, {"kith-lab reproduce list", "kith-lab reproduce all --quick --report papers.html",
                      "kith-lab reproduce pbknn-groups,knn-ladder --device cpu",
                      "kith-lab reproduce gsknn-kdd --data kddcup.data_10_percent.gz"});
  return {app, [flags] { return run_reproduce(*flags); }};
}

}  // namespace kith::command
