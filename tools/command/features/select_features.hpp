// What `kith select-features` was asked, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/learned.hpp"
#include "kith/feature_selection.hpp"

namespace kith::command {

struct SelectFeaturesFlags : RowFlags {
  VotingFlags voting;
  std::string criterion = "q", method = "forward";
  std::int64_t most = 0, least = 1, k = 1;

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

/// All that is printed and written of it. Refers to `flags` and `done`.
report::Document selection_document(const SelectFeaturesFlags& flags, const Selected& done);

}  // namespace kith::command
