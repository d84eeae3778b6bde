// The steps of read_training() that read what belongs to the training rows, and what is told about rows.
#pragma once

#include <string>
#include <vector>

#include "command/input/training.hpp"

namespace kith::command {

/// How the training file is read: answers from a file of their own are no columns of it, and a .svm file has
/// them in front of its lines.
TableFlags train_flags(const TrainingFlags& flags);

/// Labels of the training file, or of --labels. Tells what looks like values.
void take_labels(const std::string& where, const TrainingFlags& flags, Training& training);
/// Values of the training file, or of --values.
void take_values(const std::string& where, const TrainingFlags& flags, Training& training);

/// Tell how many of the rows that are asked about get no answer, since they miss a value.
void tell_unanswered(const Rows& asked);

/// The sample weights in a file, one for each row of `train`.
std::vector<float> read_weights(const std::string& where, const std::string& path, const TableFlags& flags,
                                const files::Table& train);

}  // namespace kith::command
