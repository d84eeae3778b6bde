// Brings training rows to a device without holding them twice in memory.
#pragma once

#include "command/input/training.hpp"
#include "kith/classifier.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"

namespace kith::command {

/// Makes an Index of the training rows.
///   keep  the rows are needed afterwards; else their memory is freed
Index index_of(Training& training, const Device& device, Metric metric, bool keep);

/// Makes a Classifier of the training rows and all their label columns.
Classifier classifier_of(Training& training, const Device& device, Metric metric, bool keep);

}  // namespace kith::command
