// Enumerators and their names: one table each, looked up both ways.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kith/error.hpp"

namespace kith {

/// The name of `value` in `table`, a range of (value, name) pairs.
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [candidate, text] : table)
    if (candidate == value) return text;
  return "unknown";
}

/// The value called `text` in `table`.
/// Throws invalid_argument: `what` ("metric") has none of that name; lists those there are.
template <class Table>
auto parse_in(const Table& table, std::string_view what, std::string_view text) {
  std::string known;
  for (const auto& [value, candidate] : table) {
    if (candidate == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  throw Error(Errc::invalid_argument, std::string(what) + ": there is none called \"" + std::string(text) +
                                          "\"; choose one of " + known);
}

}  // namespace kith
