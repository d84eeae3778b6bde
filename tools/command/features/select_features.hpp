// What `kith select-features` was asked, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/training.hpp"
#include "command/input/voting_flags.hpp"
#include "command/shared/command.hpp"
#include "command/shared/output_file.hpp"
#include "kith/feature_selection.hpp"

namespace kith::command {

struct SelectFeaturesFlags {
  TrainingFlags training;
  VotingFlags voting;
  PlanFlags plan;
  Metric metric = default_metric;
  std::string device = "auto";
  std::string criterion = "q", method = "forward";
  std::int64_t most = 0, least = 1, k = 1;
  std::string csv, report;
  bool json = false;

  Criterion judged_by() const {
    return criterion == "q" ? Criterion::informativeness : criterion_named(criterion);
  }
};

struct Selected {
  Training training;
  std::int64_t classes = 0;
  std::vector<std::int64_t> columns;  ///< candidates, as columns of training.rows.searched()
  std::vector<std::string> names;     ///< of the candidates
  FeatureSelection selection;         ///< its features are places in `columns`
  DeviceInfo device;
  std::vector<std::pair<std::string, double>> seconds;

  const std::string& name(std::int64_t feature) const { return names[static_cast<std::size_t>(feature)]; }
};

/// The names of the columns that are searched: those of the file, `column 3` where it has none, and of a
/// one-hot code `service = http`.
std::vector<std::string> column_names(const Training& training);

/// The best set as --features takes it; empty where columns of the file became others.
std::string features_argument(const Selected& done);

/// For people, for programs, and a line for each step (RFC 4180).
std::string selection_text(const SelectFeaturesFlags& flags, const Selected& done);
std::string selection_json(const SelectFeaturesFlags& flags, const Selected& done);
std::string selection_csv(const Selected& done);

/// The page about it.
std::string selection_page(const SelectFeaturesFlags& flags, const Selected& done);

}  // namespace kith::command
