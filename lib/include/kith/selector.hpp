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

}  // namespace kith
