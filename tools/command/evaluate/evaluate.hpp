// What `kith evaluate` was asked, and what came out.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command/input/answers.hpp"
#include "command/input/training.hpp"
#include "command/input/voting_flags.hpp"
#include "command/shared/command.hpp"
#include "kith/evaluation.hpp"

namespace kith::command {

struct EvaluateFlags {
  TrainingFlags training;
  VotingFlags voting;
  PlanFlags plan;
  std::string truth;
  std::int64_t k_max = 0;  ///< 0: as many as there can be, at most 20
  std::int64_t folds = 0;  ///< 0: each row by all others, or held-out queries
  std::int64_t seed = 0;
  Metric metric = default_metric;
  std::string device = "auto";
  std::string csv, report;
  std::vector<std::string> class_names;
  bool json = false;
  bool explain = false;
};

struct Evaluated {
  Training training;
  VotingOptions voting;
  std::string asked;  ///< `each row in turn, of all others`
  std::vector<std::string> classes;
  Evaluation evaluation;
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;
};

std::string evaluation_text(const Evaluated& done);
nlohmann::ordered_json evaluation_json(const EvaluateFlags& flags, const Evaluated& done);
/// k,accuracy,correct, a line each.
std::string evaluation_csv(const Evaluated& done);
std::string evaluation_page(const EvaluateFlags& flags, const Evaluated& done);

}  // namespace kith::command
