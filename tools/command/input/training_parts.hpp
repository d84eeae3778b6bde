// The steps of read_training() that read what belongs to the training rows, and the notes about rows.
#pragma once

#include <string>
#include <vector>

#include "command/input/training.hpp"

namespace kith::command {

/// How the training file is read: answers from a file of their own are no columns of it, and a .svm file has
/// them in front of its lines.
TableFlags train_flags(const TrainingFlags& flags);

/// Reads the labels of the training file, or of --labels. Notes labels that look like values.
void take_labels(const std::string& where, const TrainingFlags& flags, Training& training);
/// Reads the values of the training file, or of --values.
void take_values(const std::string& where, const TrainingFlags& flags, Training& training);

/// Notes how many queries get no answer, because they have a missing value.
void tell_unanswered(const Rows& asked);

/// Reads the sample weights in a file, one for each row of `train`.
std::vector<float> read_weights(const std::string& where, const std::string& path, const TableFlags& flags,
                                const files::Table& train);

}  // namespace kith::command
