// The functions that all writers of JSON share.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace kith::command {

/// Returns null for infinity and NaN, which JSON does not have.
inline nlohmann::ordered_json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

/// Returns the document as text, with a line feed at its end; all JSON is written by it. Bytes that are not
/// UTF-8 become U+FFFD; characters that control a terminal are written as \uXXXX, which is the same text to a
/// reader of JSON.
///   indent  -1: all on one line
std::string json_text(const nlohmann::ordered_json& json, int indent = 2);
std::string json_text(const nlohmann::json& json, int indent = 2);

}  // namespace kith::command
