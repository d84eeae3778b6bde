#include <algorithm>

#include "files/named.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/gsknn/gsknn_kdd_data.hpp"
#include "report/plain.hpp"

namespace kith::experiments {

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> all = {
      {"pbknn-groups", "PBKNN: how many groups a search is cut into", pbknn_groups},
      {"pbknn-table1", "PBKNN against CUKNN: bubbles, or blocks sorted whole", pbknn_table1},
      {"gsknn-table1", "GS_KNN against ANN and Garcia's method, over rows and columns", gsknn_table1},
      {"gsknn-crossover", "GS_KNN: from which k on a bitonic sort beats tournaments", gsknn_crossover},
      {"gsknn-kdd", "GS_KNN: attacks in KDD Cup 1999, GPU against CPU; needs --data FILE", gsknn_kdd,
       kdd::check_data},
      {"ranksort-placements", "rank sort: distance and sort on CPU and GPU, all four ways",
       ranksort_placements},
      {"knn-ladder", "KNN in CUDA: what each step from knn00 to knn03 brought", knn_ladder},
      {"knn03-table", "KNN in CUDA: its table of times, sequential against knn03", knn03_table},
      {"structure", "KNN-Classifier: how classes lie, every step, and half a matrix", structure},
  };
  return all;
}

const Experiment& find_experiment(std::string_view name) {
  return files::find_named(all_experiments(), name, &Experiment::name, "reproduce: NAMES: there is none",
                           {"all", "list"});
}

Result run_experiment(const Experiment& experiment, const Settings& settings) {
  Result result = experiment.run(settings);
  result.name = experiment.name;
  result.quick = settings.quick;
  for (const Device& device : settings.devices) result.devices.push_back(report::device_line(device.info()));
  result.energy = settings.energy_note;
  for (std::size_t i = 0; i < settings.meters.size(); ++i)
    if (settings.meters[i])
      result.energy += (result.energy.empty() ? "" : "; ") + settings.devices[i].info().spec + ": " +
                       settings.meters[i]->source();
  if (result.energy.empty()) result.energy = "no joules: they were not asked for";
  return result;
}

bool all_passed(const Result& result) {
  return std::all_of(result.checks.begin(), result.checks.end(),
                     [](const Check& check) { return check.passed; });
}

}  // namespace kith::experiments
