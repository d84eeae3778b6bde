// The options of `kith evaluate`, and its results.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/learned.hpp"
#include "kith/evaluation.hpp"

namespace kith::command {

struct EvaluateFlags : RowFlags {
  VotingFlags voting;
  std::string truth;
  std::int64_t k_max = 0;  ///< 0: as many as possible, at most 20
  std::int64_t folds = 0;  ///< 0: leave-one-out, or held-out queries
  std::int64_t seed = 0;
  std::vector<std::string> class_names;
  bool explain = false;
};

struct Evaluated {
  Training training;
  VotingOptions voting;
  std::string asked;  ///< `each row was classified by all the others`
  std::vector<std::string> classes;
  Evaluation evaluation;
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;
};

/// Returns everything that is printed and written. Refers to `done`.
report::Document evaluation_document(const EvaluateFlags& flags, const Evaluated& done);

}  // namespace kith::command
