// kith compare --experiment: the published experiments, run again.
#include <algorithm>
#include <filesystem>
#include <list>
#include <optional>

#include "compare.hpp"
#include "experiment_output.hpp"
#include "experiments/experiment.hpp"
#include "files/output.hpp"
#include "report/experiment_page.hpp"

namespace kith::command {
namespace {

using experiments::Experiment;
using experiments::Result;
using experiments::Settings;

constexpr double quick_seconds = 0.05, full_seconds = 0.3;  ///< for the samples of one point

std::vector<Experiment> wanted_experiments(const std::string& names) {
  if (names == "all") return experiments::all_experiments();
  std::vector<Experiment> wanted;
  for (const std::string& name : split_commas(names)) {
    const auto& all = experiments::all_experiments();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Experiment& e) { return e.name == name; });
    if (found == all.end())
      refuse("compare", "--experiment: there is none called \"" + name + "\"; choose among all, list, " +
                            experiment_names());
    const auto same = [&](const Experiment& e) { return e.name == name; };
    if (std::none_of(wanted.begin(), wanted.end(), same)) wanted.push_back(*found);
  }
  return wanted;
}

/// Whether all files that are needed are there. Of `all`, what needs one that was not given is left out.
void check_data(const CompareFlags& flags, std::vector<Experiment>& wanted) {
  if (flags.experiment == "all" && flags.data.empty())
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
    refuse("compare", "--data: " + flags.experiment + " reads no file; leave it out");
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
  return all.dump(2) + "\n";
}

Settings make_settings(const CompareFlags& flags, const std::vector<Device>& devices) {
  Settings settings{devices, open_device("cpu")};
  settings.quick = flags.quick;
  settings.seconds = flags.seconds > 0 ? static_cast<double>(flags.seconds)
                     : flags.quick     ? quick_seconds
                                       : full_seconds;
  settings.seed = flags.seed_bits();
  settings.data = flags.data;
  settings.stop = interrupt_token();
  settings.progress = [](const std::string&) { throw_if_interrupted("compare"); };
  if (flags.energy)
    for (const Device& device : devices)
      settings.meters.push_back(std::make_shared<energy::EnergyMeter>(device.info()));
  else
    settings.energy_note = "no joules: they are counted with --energy";
  return settings;
}

/// The file of a chart; `number` counts those of an experiment from 1.
std::filesystem::path chart_path(const std::string& folder, std::string_view experiment, std::size_t number) {
  return std::filesystem::path(folder) / (std::string(experiment) + "-" + std::to_string(number) + ".svg");
}

/// Throws bad_file where charts could not be written, before hours are spent on what they show.
void check_charts_folder(const std::string& folder, const std::vector<Experiment>& wanted) {
  for (const Experiment& experiment : wanted) files::AtomicFile(chart_path(folder, experiment.name, 1));
}

/// Every chart as a file that is complete but not yet in its place.
std::list<files::AtomicFile> write_charts(const std::string& folder, const std::vector<Result>& results) {
  std::list<files::AtomicFile> charts;
  for (const Result& result : results)
    for (std::size_t i = 0; i < result.charts.size(); ++i) {
      throw_if_interrupted("compare");
      charts.emplace_back(chart_path(folder, result.name, i + 1))
          .write(report::chart_picture(result, result.charts[i]));
    }
  return charts;
}

}  // namespace

std::string experiment_names() {
  std::string list;
  for (const Experiment& experiment : experiments::all_experiments())
    list += (list.empty() ? "" : ", ") + std::string(experiment.name);
  return list;
}

int compare_experiments(const CompareFlags& flags) {
  if (flags.experiment == "list")
    return print(flags.json ? experiment_list_json() : experiment_list()), exit_ok;
  std::vector<Experiment> wanted = wanted_experiments(flags.experiment);
  check_data(flags, wanted);
  std::optional<files::AtomicFile> csv, page;
  if (!flags.csv.empty()) csv.emplace(flags.csv);
  if (!flags.report.empty()) page.emplace(flags.report);
  if (!flags.charts.empty()) check_charts_folder(flags.charts, wanted);
  const Settings settings = make_settings(flags, open_devices(flags.device));

  std::vector<Result> results;
  bool passed = true;
  for (const Experiment& experiment : wanted) {
    const Waiting waiting{std::string(experiment.name)};
    throw_if_interrupted("compare");
    results.push_back(run_experiment(experiment, settings));
    passed = passed && all_passed(results.back());
  }
  if (csv) csv->write(experiments_csv(results));
  if (page) page->write(report::experiment_page(results, command_line()));
  std::list<files::AtomicFile> charts;
  if (!flags.charts.empty()) charts = write_charts(flags.charts, results);
  throw_if_interrupted("compare");
  if (csv) csv->commit();
  if (page) page->commit();
  for (files::AtomicFile& chart : charts) chart.commit();
  if (flags.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Result& result : results) all.push_back(experiment_json(result));
    print(all.dump(2) + "\n");
  } else {
    std::string text;
    for (const Result& result : results) text += (text.empty() ? "" : "\n\n") + experiment_text(result);
    print(text);
  }
  return passed ? exit_ok : exit_failed_check;
}

}  // namespace kith::command
