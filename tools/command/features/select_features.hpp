// The options of `kith select-features`, and its results.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/learned.hpp"
#include "kith/feature_selection.hpp"
#include "kith/parse.hpp"

namespace kith::command {

struct SelectFeaturesFlags : RowFlags {
  VotingFlags voting;
  std::string criterion = "q", method = "forward";
  std::int64_t most = 0, least = 1, k = 1;

  Criterion judged_by() const {
    return criterion == "q" ? Criterion::informativeness : parse<Criterion>(criterion);
  }
};

struct Selected {
  Training training;
  std::int64_t classes = 0;
  std::vector<std::int64_t> columns;  ///< the candidates, as columns of training.rows.searched()
  std::vector<std::string> names;     ///< of the candidates
  FeatureSelection selection;         ///< its features are indices into `columns`
  DeviceInfo device;
  std::vector<std::pair<std::string, double>> seconds;

  const std::string& name(std::int64_t feature) const { return names[static_cast<std::size_t>(feature)]; }
};

/// Returns the names of the columns that are searched: those of the file; `column 3` if it has none; `service
/// = http` for a column of a one-hot code.
std::vector<std::string> column_names(const Training& training);

/// Returns the best set as an argument of --features; empty if columns of the file were replaced by others.
std::string features_argument(const Selected& done);

/// Returns everything that is printed and written. Refers to `flags` and `done`.
report::Document selection_document(const SelectFeaturesFlags& flags, const Selected& done);

}  // namespace kith::command
