// Runs experiments one after the other: each result is shown and kept as soon as it is done.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "command/shared/kept.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/memory.hpp"

namespace kith::command {

struct ReproduceFlags {
  std::string names = "list";
  std::string device = "all";
  std::string data;                 ///< the file that an experiment reads
  std::string csv, report, charts;  ///< charts: folder of their pictures
  std::string resume;
  std::int64_t seed = 1, seconds = 0;
  bool quick = false, energy = false, json = false;
  bool fresh = false;  ///< ignores what a stopped run left
};

/// Returns everything that decides what experiments measure, except their names and the file that some read.
nlohmann::ordered_json asked_of(const experiments::Settings& settings);

class ExperimentRun {
 public:
  /// Continues from what an earlier run of the same command left in `kept`, and notes it.
  /// Throws what KeptWork::load() does; invalid_argument: it left experiments that are not in `wanted`.
  ExperimentRun(const ReproduceFlags& flags, std::vector<experiments::Experiment> wanted,
                const experiments::Settings& settings, KeptWork kept);

  /// Measures what is missing. If an experiment fails, the others go on, as long as every device works.
  /// Shows and keeps what there is, then throws interrupted, or what failed first.
  void run();

  /// Returns the results in the order that was asked for; after run() all are there.
  std::vector<experiments::Result> results() const;

  /// Removes what was kept, which is no longer needed.
  void forget();

 private:
  void measure(const experiments::Experiment& experiment, std::size_t number);
  void take_up(const nlohmann::ordered_json& before);
  void keep();
  void finish(experiments::Result result);
  void show(const experiments::Result& result);
  void write_partial();
  std::string missing_text() const;
  std::string how_far() const;
  void print_json() const;
  [[noreturn]] void give_up(const Error& error);

  const ReproduceFlags& flags_;
  std::vector<experiments::Experiment> wanted_;
  const experiments::Settings& settings_;
  KeptWork kept_;
  bool shown_ = false;
  bool partial_ = false;  ///< partial files may exist
  std::map<std::string, experiments::Result> done_;
  std::map<std::string, std::vector<experiments::Memory::Kept>> begun_;  ///< measurements of experiments that
                                                                         ///< are not done
  std::map<std::string, std::string> failed_;                            ///< name and reason
  std::chrono::steady_clock::time_point last_kept_{};
};

/// Returns `papers.partial.html` for `papers.html`; empty if no file can be there, such as for a pipe.
std::filesystem::path partial_path(const std::string& path);

/// Throws invalid_argument: a partial file would replace a file of the command line.
void check_partial_paths(const ReproduceFlags& flags);

}  // namespace kith::command
