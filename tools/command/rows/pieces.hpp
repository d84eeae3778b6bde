// Training rows on their way to a device, so that memory does not hold them twice.
#pragma once

#include "command/input/training.hpp"
#include "kith/classifier.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"

namespace kith::command {

/// An Index of the training rows.
///   keep  somebody needs the rows afterwards; else their memory is given back
Index index_of(Training& training, const Device& device, Metric metric, bool keep);

/// A Classifier of the training rows and all their label columns.
Classifier classifier_of(Training& training, const Device& device, Metric metric, bool keep);

}  // namespace kith::command
