// What those that write JSON share.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace kith::command {

/// null where it is none: JSON has no infinity and no NaN.
inline nlohmann::ordered_json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

/// The document as text, with a line feed at its end: all that writes JSON writes it by this. Bytes that are
/// no UTF-8 become U+FFFD; what a terminal would obey is written as \uXXXX, which is the same text to a
/// reader of JSON.
///   indent  -1: all in one line
std::string json_text(const nlohmann::ordered_json& json, int indent = 2);
std::string json_text(const nlohmann::json& json, int indent = 2);

}  // namespace kith::command
