// What the parts of `kith compare` share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "kith/device.hpp"
#include "kith/trace.hpp"
#include "lab/stages/operations.hpp"
#include "lab/workloads/cases.hpp"

namespace kith::command {

struct CompareFlags {
  std::string called = "compare";  ///< or reproduce
  std::string device = "all";
  std::string reference;  ///< empty: cpu, or plain where only the CPU is compared
  std::string stage = "all";
  std::string data;            ///< empty: normal; of an experiment the file
  std::string train, queries;  ///< files instead of --data
  std::int64_t seed = 1, n = 8192, m = 64, dims = 32, k = 16, classes = 10;
  Metric metric = default_metric;
  PlanFlags plan;
  std::int64_t random_cases = 0, first = 0, seconds = 0;
  bool proposed = false;  ///< random cases that all go by a proposer
  std::int64_t workers = 1;
  std::string resume;
  bool explain = false, json = false;
  bool whole = false;                   ///< instead: every proposer on the rows of files
  TrainingFlags whole_set;              ///< how these are read, without their names
  std::string placement;                ///< instead: a device for each stage
  std::string experiment, csv, report;  ///< instead: published experiments, and files of what they gave
  std::string charts;                   ///< folder of their pictures
  bool quick = false, energy = false;   ///< of experiments
  bool fresh = false;                   ///< not from what a stopped run left

  std::uint64_t seed_bits() const { return static_cast<std::uint64_t>(seed); }
};

/// A device of the table, or the plain reference, which is no device.
using Subject = std::optional<Device>;
std::string subject_name(const Subject& subject);

/// Rows to search, and all that decides the answer.
struct CompareProblem {
  std::string data;                ///< name of the data, or of the file
  workloads::Rows train, queries;  ///< as the caller sees them
  std::vector<std::int64_t> labels;
  std::uint64_t seed = 1;  ///< of filters and weights
  std::int64_t k = 1, groups = 1;
  Metric metric = default_metric;
  PlanOptions options;
};

/// One stage on one device.
struct Cell {
  std::string refusal;     ///< why the device does not do it
  std::string difference;  ///< first differing row and both values; empty: same bits
  double seconds = 0;      ///< device time, best of a few runs
  std::string plan;        ///< explain(), for the whole
};

/// One stage on all devices.
struct CompareLine {
  std::string title;
  double reference_seconds = 0;
  std::vector<Cell> cells;  ///< one a device
};

/// Run the stages called `stages` ("search" and "classify" are the whole) on every device, and
/// compare the bits with the reference.
std::vector<CompareLine> compare(const CompareProblem& problem, const std::vector<Device>& devices,
                                 const Subject& reference, const std::vector<std::string>& stages,
                                 Selector selector);

/// What became of all that was compared.
struct Outcome {
  std::size_t same = 0, different = 0, refused = 0;

  void take(bool was_refused, bool is_different) {
    ++(was_refused ? refused : is_different ? different : same);
  }
  std::string text() const;
  int code() const;
};

/// A whole search, or classification, on every device.
CompareLine whole_line(const CompareProblem& problem, const std::vector<Device>& devices,
                       const Subject& reference, bool classify);

/// `uniform`, or all that --data names. Throws invalid_argument: there is none of that name, or the metric
/// refuses it.
std::vector<workloads::DataKind> data_kinds(const CompareFlags& flags);

/// Every device here that opens, or those that were named.
std::vector<Device> open_devices(const std::string& specs);

/// The reference of `flags`: by default cpu; plain where nothing but the CPU back end would be compared with
/// itself.
Subject open_reference(const CompareFlags& flags, const std::vector<Device>& devices);

/// Throws invalid_argument: k > n, or values that could overflow negative_dot.
CompareProblem make_problem(const CompareFlags& flags, workloads::DataKind kind);

/// `squared_l2, n = 8192, ...`
std::string sizes(const CompareProblem& problem);

/// `pbknn-groups, ...`
std::string experiment_names();

/// `--experiment`. Returns an exit code.
int compare_experiments(const CompareFlags& flags);
void add_experiment_options(CLI::App& app, CompareFlags& flags);  ///< all but their names and --resume
inline constexpr const char* experiment_durations =
    "On two cores, all take about 9 minutes, or 20 seconds with --quick";

/// `--whole`, and how its files are read. Returns an exit code.
inline constexpr std::array whole_options = {"--label-column", "--categorical", "--scale", "--categories"};
inline constexpr std::array text_options = {"--header",      "--delimiter", "--decimal",  "--encoding",
                                            "--max-columns", "--max-line",  "--max-axes", "--max-growth"};
void add_whole_options(CLI::App& app, CompareFlags& flags);
int compare_proposers(const CLI::App& app, const CompareFlags& flags);

/// `--placement`. Returns an exit code.
int compare_placement(const CompareFlags& flags, const CompareProblem& problem);

/// `--random-cases`. Returns an exit code.
int compare_random_cases(const CompareFlags& flags, const std::vector<Device>& devices,
                         const Subject& reference);

}  // namespace kith::command
