// Divides a search by groups: which are searched together, in one step, and which by themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/groups/groups_together.hpp"

namespace kith {

/// Groups that are searched together, or one group that is searched by itself.
struct GroupPart {
  GroupRange groups;
  bool together = false;
};

struct GroupParts {
  std::vector<GroupPart> parts;  ///< in order; groups without queries may be missing
  std::int64_t apart = 0;        ///< how many groups are searched by themselves
  std::string why;               ///< why, as a sentence
};

/// Checks and describes a search. All arguments must outlive the result.
///   where  the function that is called, for messages
/// Throws invalid_argument: groups of queries that do not ascend from 0 to m, or are not as many as those of
/// the rows; a filter of another shape; with SearchOptions::self, a query whose row is in another group.
GroupsAsked asked_of(std::string_view where, const Index::State& index, std::int64_t m, std::int64_t k,
                     const SearchOptions& options);

GroupParts parts_of(const GroupsAsked& asked);

/// Says the plan of a search by groups.
Plan plan_of(const GroupsAsked& asked, const GroupParts& parts, std::int64_t m);

}  // namespace kith
