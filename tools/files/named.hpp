// One of several by its name, and the names of all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kith/error.hpp"
#include "kith/names.hpp"

namespace kith::files {

/// The one of `all` that `text` names, as plain_name() has both.
///   name_of  its name: a member or a function of it
///   also     other words that stand in its place
/// Throws invalid_argument: `NONE called "TEXT"; ` and what to choose.
template <class All, class NameOf>
const auto& find_named(const All& all, std::string_view text, NameOf name_of, const std::string& none,
                       std::vector<std::string> also = {}) {
  for (const auto& one : all) {
    if (plain_name(std::invoke(name_of, one)) == plain_name(text)) return one;
    also.emplace_back(std::invoke(name_of, one));
  }
  throw Error(Errc::invalid_argument,
              none + " called \"" + std::string(text) + "\"; " + advice_on_name(text, also));
}

/// Their names with something between them.
template <class All, class NameOf = std::identity>
std::string joined(const All& all, std::string_view between = ", ", NameOf name_of = {}) {
  std::string list;
  for (const auto& one : all) {
    if (!list.empty()) list += between;
    list += std::invoke(name_of, one);
  }
  return list;
}

}  // namespace kith::files
