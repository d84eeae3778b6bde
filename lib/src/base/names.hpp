// Tables of enumerators and their names, searched in both directions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kith/choices.hpp"
#include "kith/error.hpp"
#include "kith/names.hpp"

namespace kith {

/// How many values choices.def has of an enum.
template <class Of>
inline constexpr std::size_t choice_count = 0
#define KITH_CHOICE(Enum, value, text) +(std::is_same_v<Enum, Of> ? 1 : 0)
#include "kith/choices.def"
#undef KITH_CHOICE
    ;

/// The values of an enum of choices.def with their names.
template <class Of>
inline constexpr auto names_of = [] {
  std::array<std::pair<Of, std::string_view>, choice_count<Of>> names{};
  std::size_t at = 0;
#define KITH_CHOICE(Enum, value, text)      \
  if constexpr (std::is_same_v<Enum, Of>) { \
    names[at].first = Enum::value;          \
    names[at++].second = #value;            \
  }
#include "kith/choices.def"
#undef KITH_CHOICE
  return names;
}();

/// The name of `value` in `table`, a range of (value, name) pairs.
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [candidate, text] : table)
    if (candidate == value) return text;
  return "unknown";
}

/// Returns the value called `text` in `table`, or in `synonyms`, in upper or lower case and with - or _.
/// Throws invalid_argument if there is none: the message begins with `what` ("metric") and names the nearest
/// name, or lists all of `table`.
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
