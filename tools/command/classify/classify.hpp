// What `kith classify` was asked, and what came out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/input/answers.hpp"
#include "command/input/training.hpp"
#include "command/input/voting_flags.hpp"
#include "command/shared/command.hpp"
#include "files/table.hpp"
#include "kith/classifier.hpp"
#include "kith/model.hpp"

namespace kith::command {

struct ClassifyFlags {
  TrainingFlags training;
  VotingFlags voting;
  AskingFlags asking;
  PlanFlags plan;
  std::string no_label;
  std::string outlier;
  std::vector<std::int64_t> k_sweep;
  Metric metric = default_metric;
  std::string device = "auto";
  std::string out;
  std::string proba;
  std::string model, save_model;
  std::string report;
  std::vector<std::string> class_names;
  std::int64_t expect = -1;  ///< -1: nothing is expected
  OutputFlags output;
  bool json = false;
  TellingFlags telling;
};

/// What was found for one label column.
struct Output {
  std::vector<std::int64_t> classes;  ///< codes, ascending
  files::Labels truth;                ///< of the queries; empty where they are not known
  std::vector<std::int64_t> answer;   ///< [m]
  std::vector<std::uint32_t> votes;   ///< [m, classes]; empty after a sweep
  std::vector<float> scores;          ///< [m, classes]; empty where every vote weighs 1
  AnswerNames names;                  ///< how answers are written
};

struct Classified {
  Training training;
  Rows own_queries;  ///< empty where the training rows are asked
  bool leave_one_out = false;
  VotingOptions voting;
  std::vector<Output> outputs;
  std::vector<std::int64_t> ks;                  ///< of a sweep, ascending
  std::vector<std::vector<std::int64_t>> swept;  ///< [ks.size()][m], of the first output
  RadiusNeighbors found;                         ///< what voted; of k neighbours lists of one length
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;

  const Rows& queries() const { return leave_one_out ? training.rows : own_queries; }
};

/// Read, search and vote. `flags` take from a model what the command line leaves to it.
Classified classify(const CLI::App& app, ClassifyFlags& flags);

/// The page about it. Throws invalid_argument: --class-names has too few names.
std::string report_page(const ClassifyFlags& flags, const Classified& done);

/// The answer of each query of the command line, with its neighbours.
std::string shown_answers(const ClassifyFlags& flags, const Classified& done);

/// Shares of the classes in the score, [m, classes]: score times prior, over the sum.
std::vector<double> shares(const Output& output, const std::vector<double>& priors);

/// --json: the answers with their neighbours, and how many are right where that is known.
void print_classified_json(const ClassifyFlags& flags, const Classified& done);

/// How many answers are right, for each k of a sweep.
std::string sweep_table(const Classified& done);

}  // namespace kith::command
