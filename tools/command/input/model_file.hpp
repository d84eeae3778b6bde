// --save-model and --model: training rows, and all that was said about them, as one file.
#pragma once

#include <string>

#include "command/input/training.hpp"
#include "kith/model.hpp"

namespace kith::command {

/// Throws invalid_argument: --model beside options that it has decided; --filter beside --save-model.
void check_model_options(const CLI::App& app);

/// What was learned, with how it is to be asked; voting.no_label is not kept. Takes the rows.
///   k  0: the caller decides
/// Throws invalid_argument: labels of several columns are partly text.
Model model_of(const std::string& where, Training& training, Metric metric, std::int64_t k,
               const VotingOptions& voting);

/// Save a model, with a bar where it takes long, and say so on stderr. A stop leaves what was there before.
void write_model(const std::string& path, const Model& model);

/// A model, and its training rows, taken from it, for queries to be read and answers to be written.
/// Throws invalid_argument: label or target columns of the queries are not as many as it answers; --filter.
///        bad_file: as load_model() does.
Training read_model(const std::string& where, const TrainingFlags& flags, const std::string& path,
                    Model& model);

}  // namespace kith::command
