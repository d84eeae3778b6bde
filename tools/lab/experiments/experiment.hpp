// Declares the published experiments, and what each returns.
//
// Each experiment has its own file. It measures by workloads::PreparedStage and kith::Index, checks the bits
// of what it times, and returns data, which kith-lab reproduce prints and draws.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kith/device.hpp"
#include "lab/energy/energy.hpp"
#include "report/charts/chart.hpp"

namespace kith::experiments {

using report::Axis, report::Chart, report::Point, report::Series;

class Memory;

/// Says how an experiment is run.
struct Settings {
  std::vector<Device> devices;  ///< at least one; each is measured
  Device cpu;                   ///< gives the right bits, and runs sequential programs
  bool quick = false;           ///< uses sizes for a small machine, and the output says so
  double seconds = 1;           ///< seconds for the samples of one point
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> progress = {};  ///< is told what is being measured; may throw
                                                          ///< to stop
  std::stop_token stop = {};                              ///< for SearchOptions::stop of long searches
  /// Has a meter for each of `devices`; empty: there is none, and energy_note says why.
  std::vector<std::shared_ptr<energy::EnergyMeter>> meters = {};
  std::string energy_note = {};
  std::string data = {};     ///< file, for experiments that read one
  Memory* memory = nullptr;  ///< what was measured before, if anything is to be remembered
};

/// Holds a figure of the paper, and what was measured here.
struct Claim {
  std::string what;   ///< `PBKNN over CUKNN, second kernel`
  std::string paper;  ///< `16x`, or `not available`
  std::string here;   ///< `1.3x (cuda:0)`
  std::string why;    ///< why they differ; empty: they do not

  bool operator==(const Claim&) const = default;
};

/// Holds the result of a comparison that had to find no difference.
struct Check {
  std::string what;
  bool passed = false;
  std::string detail;  ///< what differed; empty when it passed

  bool operator==(const Check&) const = default;
};

struct Table {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;

  bool operator==(const Table&) const = default;
};

/// Holds the outcome of an experiment.
struct Result {
  std::string name;                  ///< `pbknn-groups`
  std::string title;                 ///< for people who have not seen the paper
  std::string paper;                 ///< authors, year, where
  std::string hardware;              ///< hardware of the paper
  bool quick = false;                ///< sizes for a small machine
  std::vector<std::string> devices;  ///< spec, name, platform and driver of each, filled by run_experiment()
  std::vector<std::string> explanation;  ///< paragraphs: the question, what varies, how to read the chart
  std::vector<std::string> assumed;      ///< what the paper leaves open, and what was assumed
  std::vector<std::string> notes;        ///< refusals, what could not be measured and why
  std::vector<std::string> plans;        ///< what ran where, one line each
  std::vector<Claim> claims;
  std::vector<Chart> charts;
  std::vector<Table> tables;
  std::vector<Check> checks;
  std::string energy;  ///< where joules come from, or why there are none; filled by run_experiment()

  bool operator==(const Result&) const = default;
};

struct Experiment {
  std::string_view name;
  std::string_view about;  ///< half a line, for --help
  Result (*run)(const Settings&);
  /// Throws if the file Settings::data is missing, and says where to get it. Null: it reads no file.
  void (*check_data)(const std::string& path) = nullptr;
};

/// Lists all experiments, in the order pbknn-groups, pbknn-table1, gsknn-table1, ...
const std::vector<Experiment>& all_experiments();

/// Returns the experiment `name`. Throws invalid_argument, and lists the names, if there is none.
const Experiment& find_experiment(std::string_view name);

/// Runs the experiment, and names the devices. Throws what the experiment throws: errors of the caller,
/// interrupted, device_failure.
Result run_experiment(const Experiment& experiment, const Settings& settings);

/// Returns whether all checks passed.
bool all_passed(const Result& result);

// Each function is an experiment, in the file with its name.
Result pbknn_groups(const Settings& settings);
Result pbknn_table1(const Settings& settings);
Result gsknn_table1(const Settings& settings);
Result gsknn_crossover(const Settings& settings);
Result gsknn_kdd(const Settings& settings);
Result ranksort_placements(const Settings& settings);
Result knn_ladder(const Settings& settings);
Result knn03_table(const Settings& settings);
Result structure(const Settings& settings);

}  // namespace kith::experiments
