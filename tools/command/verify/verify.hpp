// The declarations that the parts of `kith verify` share.
#pragma once

#include <cstdint>
#include <string>

#include "command/compare/subjects.hpp"
#include "command/input/training.hpp"

namespace kith::command {

struct VerifyFlags {
  std::string device = "all";
  std::string reference;  ///< empty: cpu, or plain where only the CPU is compared
  PlanFlags plan;
  bool json = false;

  std::int64_t random_cases = 0, first = 0, seconds = 0, seed = 1;
  bool proposed = false;  ///< random cases that all use a proposer
  std::int64_t workers = 1;
  std::string resume;

  TrainingFlags set;  ///< whole files
  Metric metric = default_metric;
  std::int64_t k = 16, m = 0;               ///< number of queries; 0: all
  std::string found_index, found_distance;  ///< files of an earlier answer
};

/// Compares random cases. Returns an exit code.
int verify_random_cases(const VerifyFlags& flags);

/// Searches the rows of files by every proposer, or compares an earlier answer. Returns an exit code.
int verify_set(const VerifyFlags& flags);

}  // namespace kith::command
