// Refuses an argument of a caller.
#pragma once

#include <string>
#include <string_view>

#include "kith/error.hpp"

namespace kith {

/// Throws Errc::invalid_argument with the sentence "where: why".
[[noreturn]] inline void refuse(std::string_view where, const std::string& why) {
  throw Error(Errc::invalid_argument, std::string(where) + ": " + why);
}

}  // namespace kith
