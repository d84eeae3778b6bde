// What the actions of `kith index` share.
#pragma once

#include <string>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "kith/index_file.hpp"

namespace kith::command {

struct IndexFlags {
  std::string action, file, out;
  std::vector<std::int64_t> rows;  ///< --rows, of remove
  TrainingFlags training;
  Metric metric = default_metric;
  std::string device = "cpu";  ///< rows pass through it; a GPU gains nothing here
  bool verify = false, json = false;
};

/// `kith index info`.
int show_index(const IndexFlags& flags);

}  // namespace kith::command
