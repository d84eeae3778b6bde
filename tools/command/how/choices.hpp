// The names of options that choices.def has.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "kith/choices.hpp"

namespace kith::command {

/// Returns the names of the values of an enum, in the order of the table; none for another type.
template <class Of>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
#define KITH_CHOICE(Enum, value, text) \
  if (std::is_same_v<Enum, Of>) names.push_back(#value);
#include "kith/choices.def"
#undef KITH_CHOICE
  return names;
}

}  // namespace kith::command
