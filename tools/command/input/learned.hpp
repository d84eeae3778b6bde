// Options that several subcommands share; and what classify and regress take from a file or a model.
#pragma once

#include <string>

#include "command/input/model_file.hpp"
#include "command/input/query_flags.hpp"
#include "command/input/training.hpp"
#include "command/input/voting_flags.hpp"
#include "command/shared/command.hpp"
#include "command/shared/document_output.hpp"

namespace kith::command {

/// The rows, how and on which device they are compared, and where the result goes.
struct RowFlags {
  TrainingFlags training;
  PlanFlags plan;
  Metric metric = default_metric;
  std::string device = "auto";
  DocumentFlags shown;
};

struct QuestionFlags : RowFlags {
  QueryFlags query_flags;
  OutputFlags output;
  DiagnosticFlags diagnostics;

  bool by_k() const { return query_flags.by_k(); }
};

struct LearnedFlags : QuestionFlags {
  VotingFlags voting;
  std::string out;
  std::string model, save_model;
};

/// Checks what must hold for any content of the files. Returns whether there are no queries.
bool check_learned(const CLI::App& app, LearnedFlags& flags);

/// Reads the training rows of --train or of --model. A model also sets metric and k, unless -k is given.
Training read_learned(const CLI::App& app, LearnedFlags& flags, Model& model);

/// Saves the model if --save-model is given. Takes the rows.
void save_learned(const CLI::App& app, const LearnedFlags& flags, Training& training,
                  const VotingOptions& voting);

/// How queries are searched: as asked, among the rows that count, in their groups, without themselves where
/// they are training rows.
SearchOptions question_options(const QuestionFlags& flags, const Training& training, const Rows& queries);

}  // namespace kith::command
