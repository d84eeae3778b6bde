// Finds and counts rows within radii by groups, each of which is an Index of its own.
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "device/timing.hpp"
#include "rows/rows.hpp"
#include "search/groups/group_search.hpp"
#include "search/groups/one_group.hpp"
#include "search/lists/trace_sums.hpp"

namespace kith {
namespace {

/// Appends what group g found to what those before it found.
void append(RadiusNeighbors& all, const RadiusNeighbors& some, std::int64_t first_row) {
  const std::int64_t before = all.first.back();
  for (std::size_t q = 1; q < some.first.size(); ++q) all.first.push_back(before + some.first[q]);
  for (const std::int64_t row : some.row) all.row.push_back(first_row + row);
  all.distance.insert(all.distance.end(), some.distance.begin(), some.distance.end());
  all.distance64.insert(all.distance64.end(), some.distance64.begin(), some.distance64.end());
}

}  // namespace

template <class Radii>
RadiusNeighbors within_groups(const Index::State& index, const RowsView& given, Radii radii,
                              const SearchOptions& options, Trace* trace, const FindWithin<Radii>& find) {
  check_layout("within", "query", given);
  const std::int64_t m = given.rows;
  const GroupsAsked asked = asked_of("within", index, m, 0, options);
  const bool one = radii.size() == 1;
  if (!one && radii.size() != size(m))
    refuse("within", std::to_string(radii.size()) + " radii for " + std::to_string(m) +
                         " queries; give one for all, or one for each");
  if (trace) restart(*trace);
  GivenQueries queries("within", index, given);
  RadiusNeighbors all{m, {0}, {}, {}, index.arithmetic, {}};
  for (std::int64_t g = 0; g < asked.groups.count(); ++g) {
    const RowRange some = asked.queries(g), rows = asked.groups.rows(g);
    if (some.count > 0 && rows.count == 0)
      all.first.resize(all.first.size() + size(some.count), all.first.back());
    if (some.count == 0 || rows.count == 0) continue;
    const OptionsOfGroup own(asked, m, g);
    Trace more = trace ? asked_like(*trace) : Trace();
    append(all,
           find(*asked.groups.alone(index, g), queries.on_host().slice(some.first, some.count),
                one ? radii : radii.subspan(size(some.first), size(some.count)), own.options(),
                trace ? &more : nullptr),
           options.rows_from_group ? 0 : rows.first);
    if (trace) add_queries(*trace, more);
  }
  return all;
}

template RadiusNeighbors within_groups(const Index::State&, const RowsView&, std::span<const float>,
                                       const SearchOptions&, Trace*,
                                       const FindWithin<std::span<const float>>&);
template RadiusNeighbors within_groups(const Index::State&, const RowsView&, std::span<const double>,
                                       const SearchOptions&, Trace*,
                                       const FindWithin<std::span<const double>>&);

void count_groups(const Index::State& index, const RowsView& given, const CountRadii& radii,
                  const SearchOptions& options, CountSum& sum, Trace* trace, const FindCounts& find) {
  check_layout(sum.where(), "query", given);
  const GroupsAsked asked = asked_of(sum.where(), index, given.rows, 0, options);
  if (trace) restart(*trace);
  GivenQueries queries(sum.where(), index, given);
  for (std::int64_t g = 0; g < asked.groups.count(); ++g) {
    const RowRange some = asked.queries(g);
    if (some.count == 0 || asked.groups.rows(g).count == 0) continue;
    const OptionsOfGroup own(asked, given.rows, g);
    CountRadii theirs = radii;
    if (radii.radius.rows() > 1) theirs.radius = radii.radius.slice(some.first, some.count);
    CountSum of_group = sum.of_some(some.first, some.count);
    Trace more = trace ? asked_like(*trace) : Trace();
    find(*asked.groups.alone(index, g), queries.on_host().slice(some.first, some.count), theirs,
         own.options(), of_group, trace ? &more : nullptr);
    of_group.finish();
    if (trace) add_queries(*trace, more);
  }
}

}  // namespace kith
