#include "search/groups/group_parts.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "device/device_set.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {
namespace {

/// The most rows of a group that is searched with others, each query by all rows of its group. Of more rows,
/// boxes leave most unread: on a CPU, 2048 points of three columns take half the time by themselves.
std::int64_t most_rows_together(DeviceKind kind) {
  return kind == DeviceKind::cpu ? 1536 : 16384;
}

/// Returns whether the caller says how to search, which the step for groups does not follow.
bool says_how(const SearchOptions& options) {
  const SearchOptions none;
#define KITH_TUNING_OPTION(kind, type, name, ...) \
  if (options.name != none.name) return true;
#include "kith/options.def"
  return false;
}

/// Returns why no groups can be searched together; empty if some can.
std::string why_all_apart(const GroupsAsked& asked, const ResidentRows* rows) {
  if (asked.index.doubles) return reasons::groups_of_doubles();
  if (asked.index.terms) return reasons::groups_of_terms(asked.index.kind_of_terms());
  if (is_of_sums(asked.index.metric)) return reasons::of_sums();
  if (is_set(asked.index.device)) return reasons::groups_on_set();
  if (says_how(asked.options)) return reasons::groups_asked_how();
  if (has_filter(asked.options)) return reasons::groups_filtered();
  return rows ? GroupsTogether::refusal(asked, *rows) : reasons::groups_on_set();
}

/// Returns the chunk that has all of these rows; the number of chunks if none has.
std::size_t chunk_with(const ResidentRows& rows, RowRange range) {
  std::size_t chunk = 0;
  while (chunk < rows.chunks.size() &&
         (range.first < rows.chunks[chunk].first ||
          range.first + range.count > rows.chunks[chunk].first + rows.chunks[chunk].rows))
    ++chunk;
  return chunk;
}

/// Returns the borders of the groups of queries: SearchOptions::groups, or those of the rows.
const std::vector<std::int64_t>& borders_of_queries(std::string_view where, const RowGroups& groups,
                                                    const SearchOptions& options, std::int64_t m) {
  if (options.groups.empty()) {
    const std::int64_t rows = groups.borders().back();
    if (m != rows)
      refuse(where, std::to_string(m) + " queries without groups, but the groups of the index have " +
                        std::to_string(rows) + " rows; give the groups of the queries");
    return groups.borders();
  }
  check_borders(where, "queries", options.groups, m);
  if (options.groups.size() != groups.borders().size())
    refuse(where, "there are " + std::to_string(options.groups.size() - 1) + " groups of queries and " +
                      std::to_string(groups.count()) + " of rows; give as many, of which some may be empty");
  return options.groups;
}

/// Refuses a query whose row is in another group.
void check_own_rows(std::string_view where, const GroupsAsked& asked) {
  if (!asked.options.self) return;
  for (std::int64_t g = 0; g < asked.groups.count(); ++g) {
    const RowRange queries = asked.queries(g), rows = asked.groups.rows(g);
    const std::int64_t own = *asked.options.self + queries.first;
    if (queries.count == 0 || (own >= rows.first && own + queries.count <= rows.first + rows.count)) continue;
    refuse(where, "self = " + std::to_string(*asked.options.self) + ", but of group " + std::to_string(g) +
                      " the queries would be rows " + std::to_string(own) + " ... " +
                      std::to_string(own + queries.count - 1) + ", and its rows are " +
                      std::to_string(rows.first) + " ... " + std::to_string(rows.first + rows.count - 1) +
                      "; ask each row in its own group");
  }
}

}  // namespace

GroupsAsked asked_of(std::string_view where, const Index::State& index, std::int64_t m, std::int64_t k,
                     const SearchOptions& options) {
  const RowGroups& groups = *index.groups;
  const GroupsAsked asked{index, groups, borders_of_queries(where, groups, options, m), k, options};
  check_own_rows(where, asked);
  check_rows_left_out(where, index.rows, m, options);
  return asked;
}

GroupParts parts_of(const GroupsAsked& asked) {
  const auto rows = asked.index.doubles ? nullptr : resident_rows(*asked.index.store);
  GroupParts all;
  all.why = why_all_apart(asked, rows.get());
  const bool some_together = all.why.empty();
  const std::int64_t most = most_rows_together(asked.index.device.info().kind);
  for (std::int64_t g = 0; g < asked.groups.count(); ++g) {
    if (asked.queries(g).count == 0) continue;
    const RowRange range = asked.groups.rows(g);
    const std::size_t chunk = some_together && range.count <= most ? chunk_with(*rows, range) : 0;
    if (some_together && range.count <= most && chunk < rows->chunks.size()) {
      const bool goes_on =
          !all.parts.empty() && all.parts.back().together && all.parts.back().groups.chunk == chunk;
      if (!goes_on) all.parts.push_back({{g, 0, chunk}, true});
      all.parts.back().groups.count = g + 1 - all.parts.back().groups.first;
      continue;
    }
    ++all.apart;
    all.parts.push_back({{g, 1, 0}, false});
  }
  if (some_together) all.why = reasons::groups_together(most);
  if (some_together && GroupsTogether::multiplies(asked, *rows)) all.why += reasons::groups_by_products();
  return all;
}

Plan plan_of(const GroupsAsked& asked, const GroupParts& parts, std::int64_t m) {
  Plan plan;
  plan.device = asked.index.device.info().spec;
  plan.problem = {asked.index.metric, asked.index.rows, m,
                  asked.index.dims,   asked.k,          asked.index.kind_of_terms()};
  plan.proposer = Proposer::none;
  plan.fused = true;
  plan.self = asked.options.self;
  plan.filters = asked.options.filter.rows();
  plan.groups = asked.groups.count();
  plan.groups_apart = parts.apart;
  plan.query_tile = std::min(m, GroupsTogether::queries_of_step(asked));
  plan.train_tile = asked.index.rows;
  plan.threads = asked.options.threads;
  plan.reason = parts.why;
  return plan;
}

}  // namespace kith
