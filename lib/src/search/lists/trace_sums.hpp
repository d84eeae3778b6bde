// What several searches did, as what one did.
#pragma once

#include <vector>

#include "kith/trace.hpp"

namespace kith {

/// A Trace that asks for what `trace` asks for.
Trace asked_like(const Trace& trace);

/// Add what some of the same queries took once more, as a part of the search.
void add_rest(Trace& all, const Trace& rest);

/// Add what the same queries took afterwards among more rows. Device memory that is kept adds up.
void add_rows(Trace& all, const Trace& more);

/// Add what other queries took afterwards among the same rows. The plan stays that of the first, if there was
/// one.
void add_queries(Trace& all, const Trace& more);

/// Put the traces of members, who worked at the same time, into that of the whole search.
void join_members(Trace& whole, const std::vector<Trace>& members);

}  // namespace kith
