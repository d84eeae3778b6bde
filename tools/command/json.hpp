// What those that write JSON share.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace kith::command {

/// null where it is none: JSON has no infinity and no NaN.
inline nlohmann::ordered_json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

}  // namespace kith::command
