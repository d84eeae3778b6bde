// Names the methods that select and propose candidates. All of them return the same bits.
#pragma once

#include <string_view>
#include <vector>

#include "kith/choices.hpp"
#include "kith/export.hpp"

namespace kith {

KITH_API std::string_view name(Selector selector);
KITH_API std::string_view name(Proposer proposer);

/// Returns every selector but `automatic`.
KITH_API const std::vector<Selector>& all_selectors();

/// Throws invalid_argument: there is none called `text`; the message lists all.
KITH_API Selector parse_selector(std::string_view text);
KITH_API Proposer parse_proposer(std::string_view text);

}  // namespace kith
