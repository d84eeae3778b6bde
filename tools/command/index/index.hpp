// The options that all actions of `kith index` share.
#pragma once

#include <string>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "kith/index_file.hpp"

namespace kith::command {

struct IndexFlags {
  std::string action, file, out;
  std::vector<std::int64_t> rows;  ///< --rows, for remove
  TrainingFlags training;
  Metric metric = default_metric;
  std::string device = "cpu";  ///< rows only pass through it; a GPU would gain nothing
  bool verify = false, json = false;
};

/// Runs `kith index info`.
int show_index(const IndexFlags& flags);

}  // namespace kith::command
