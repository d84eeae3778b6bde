// --save-model and --model: one file that holds training rows and all options that belong to them.
#pragma once

#include <string>

#include "command/input/training.hpp"
#include "kith/model.hpp"

namespace kith::command {

/// Throws invalid_argument: --model with options that the model decides; --filter with --save-model.
void check_model_options(const CLI::App& app);

/// Returns a model of what was learned, and of the voting options except voting.no_label. Takes the rows.
///   k  0: the caller decides
/// Throws invalid_argument: labels of several columns are partly text.
Model model_of(const std::string& where, Training& training, Metric metric, std::int64_t k,
               const VotingOptions& voting);

/// Saves a model, with a bar if it takes long, and says so on stderr. If stopped, keeps the old file.
void write_model(const std::string& path, const Model& model);

/// Reads a model, and takes its training rows out, so that queries can be read and answers written.
/// Throws invalid_argument: label or target columns of the queries are not as many as it answers; --filter.
///        bad_file: as load_model() does.
Training read_model(const std::string& where, const TrainingFlags& flags, const std::string& path,
                    Model& model);

}  // namespace kith::command
