// Adds up the traces of several searches as if they were one.
#pragma once

#include <vector>

#include "kith/trace.hpp"

namespace kith {

/// Returns an empty Trace that asks for the same as `trace`.
Trace asked_like(const Trace& trace);

/// Adds a second search of some of the same queries, as a part of the search.
void add_rest(Trace& all, const Trace& rest);

/// Adds a later search of the same queries among more rows. Device memory that is kept is summed.
void add_rows(Trace& all, const Trace& more);

/// Adds a later search of other queries among the same rows. The plan of the first search stays, if there
/// is one.
void add_queries(Trace& all, const Trace& more);

/// Joins the traces of members, which worked at the same time, into the trace of the whole search.
void join_members(Trace& whole, const std::vector<Trace>& members);

}  // namespace kith
