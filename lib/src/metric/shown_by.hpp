// How raw values become the distances that users see.
#pragma once

#include "kith/metric.hpp"

namespace kith {

/// The metric that a caller named, and what else its finish needs.
struct ShownBy {
  /// A metric without a parameter. It is explicit, so that no caller loses a parameter unseen.
  explicit ShownBy(Metric of) : metric(of), parameter(0) {}
  ShownBy(Metric of, double by) : metric(of), parameter(by) {}

  Metric metric;
  double parameter;  ///< of minkowski p, of gower and matching the number of columns, of rows with
                     ///< codes (metrics.def) 1; else 0
};

/// Returns whether only the host computes the distance from the raw value.
inline bool shows_on_host(ShownBy shown) {
  return shows_angles(shown.metric) || shown.parameter != 0;
}

}  // namespace kith
