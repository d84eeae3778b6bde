// Finds the value of a choice by its name.
#pragma once

#include <string_view>

#include "kith/export.hpp"

namespace kith {

/// Returns the value called `text`, as name() calls it, in upper or lower case, with - or _. Choice is an
/// enum of choices.hpp, Metric or Element. A metric may have one of other_names(); a scaling has such names,
/// too. Throws invalid_argument: there is none; the message names the nearest, or lists all.
template <class Choice>
KITH_API Choice parse(std::string_view text);

}  // namespace kith
