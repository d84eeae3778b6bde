// One run of stages that are placed on devices, step by step.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/experiments/measure.hpp"

namespace kith::experiments {

/// A stage, or a copy on its way.
struct PlacedStep {
  std::string what;              ///< `select bubble`; a copy: `distances`
  std::string from, to;          ///< specs, or `host`; a stage: the same
  std::size_t bytes = 0;         ///< of a copy
  double device = not_measured;  ///< seconds of the device's clock, of a stage
  double host = 0;               ///< seconds of the host's clock

  bool is_copy() const { return from != to; }
  bool operator==(const PlacedStep&) const = default;
};

struct PlacedRun {
  std::vector<PlacedStep> steps;
  double total = 0;  ///< host clock: from rows in host memory to the answer in host memory

  double transfers() const;  ///< host seconds of all copies
  std::size_t bytes() const;
  bool operator==(const PlacedRun&) const = default;
};

}  // namespace kith::experiments
