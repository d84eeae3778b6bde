// Enumerators and their names: one table each, looked up both ways.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kith/error.hpp"
#include "kith/names.hpp"

namespace kith {

/// The name of `value` in `table`, a range of (value, name) pairs.
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [candidate, text] : table)
    if (candidate == value) return text;
  return "unknown";
}

/// The value called `text` in `table`, or in `synonyms`, in any case and with - or _.
/// Throws invalid_argument: `what` ("metric") has none of that name; names the nearest, or lists those there
/// are.
template <class Table, class Synonyms = Table>
auto parse_in(const Table& table, std::string_view what, std::string_view text,
              const Synonyms* synonyms = nullptr) {
  const std::string plain = plain_name(text);
  std::vector<std::string> names, also;
  for (const auto& [value, candidate] : table) {
    if (candidate == plain) return value;
    names.emplace_back(candidate);
  }
  if (synonyms)
    for (const auto& [value, candidate] : *synonyms) {
      if (candidate == plain) return value;
      also.emplace_back(candidate);
    }
  throw Error(Errc::invalid_argument, std::string(what) + ": there is none called \"" + escaped(text) +
                                          "\"; " + advice_on_name(text, names, also));
}

}  // namespace kith
