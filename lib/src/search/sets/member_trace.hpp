// What the members of a set tell of a search, put together.
#pragma once

#include <vector>

#include "kith/trace.hpp"

namespace kith {

/// A Trace that asks for what `trace` asks for.
Trace asked_like(const Trace& trace);

/// Add what one part of a member's rows took to what its parts before took.
void add_part(Trace& member, const Trace& part);

/// Put the traces of members, who worked at the same time, into that of the whole search.
void join_members(Trace& whole, const std::vector<Trace>& members);

}  // namespace kith
