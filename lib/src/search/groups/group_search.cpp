#include "search/groups/group_search.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

#include "base/border.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "device/device_set.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "metric/radius_bound.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/row_filter.hpp"
#include "search/doubles/double_search.hpp"
#include "search/groups/group_parts.hpp"
#include "search/groups/one_group.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/lists/whole_search.hpp"
#include "search/stores/resident_store.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

/// Passes the answers of a group that is searched by itself on to those of all groups.
class SinkOfGroup final : public AnswerSink {
 public:
  ///   k          of lists of all queries
  ///   first      number of the group's first query
  ///   first_row  is added to its places
  SinkOfGroup(AnswerSink& to, std::int64_t k, std::int64_t first, std::int64_t first_row)
      : to_(to), k_(size(k)), first_(first), first_row_(static_cast<std::uint32_t>(first_row)) {}

  void begin(std::int64_t m, std::int64_t) override { keys_.assign(size(m) * k_, no_key); }
  void put(std::int64_t query, std::span<const Key> nearest) override {
    auto to = keys_.begin() + static_cast<std::ptrdiff_t>(size(query) * k_);
    for (const Key key : nearest) *to++ = key == no_key ? key : key + first_row_;
  }
  void put_all(Keys& keys) override {
    for (std::size_t i = 0; i < keys.row.size(); ++i) {
      const std::size_t q = i / size(keys.k), j = i % size(keys.k);
      if (keys.row[i] >= 0)
        keys_[q * k_ + j] = (Key{keys.value[i]} << 32 | static_cast<std::uint32_t>(keys.row[i])) + first_row_;
    }
  }
  void deliver() { to_.put_lists(first_, keys_, k_); }

 private:
  AnswerSink& to_;
  const std::size_t k_;
  const std::int64_t first_;
  const std::uint32_t first_row_;
  std::vector<Key> keys_;
};

class DoubleSinkOfGroup final : public DoubleSink {
 public:
  DoubleSinkOfGroup(DoubleSink& to, std::int64_t, std::int64_t first, std::int64_t first_row)
      : to_(to), first_(first), first_row_(first_row) {}
  void begin(std::int64_t, std::int64_t) override {}
  void put(std::int64_t query, std::span<const RankedRow> nearest) override {
    std::vector<RankedRow> moved(nearest.begin(), nearest.end());
    for (RankedRow& one : moved) one.row += first_row_;
    to_.put(first_ + query, moved);
  }
  void deliver() {}

 private:
  DoubleSink& to_;
  const std::int64_t first_, first_row_;
};

void put_nothing(AnswerSink& sink, RowRange queries, std::int64_t k) {
  sink.put_lists(queries.first, std::vector<Key>(cells_of(queries.count, k), no_key), size(k));
}
void put_nothing(DoubleSink& sink, RowRange queries, std::int64_t) {
  for (std::int64_t q = 0; q < queries.count; ++q) sink.put(queries.first + q, {});
}

void search_alone(const Index::State& group, const RowsView& queries, std::int64_t k,
                  const SearchOptions& options, AnswerSink& sink, Trace* trace) {
  search(group, MovedRows("search", "query", group, queries, options), k, options, sink, trace);
}
void search_alone(const Index::State& group, const RowsView& queries, std::int64_t k,
                  const SearchOptions& options, DoubleSink& sink, Trace* trace) {
  search_doubles(group, queries, k, options, sink, trace);
}

/// Searches group g by itself.
///   queries  all of the search, on the host or, on a set, where the caller has them
template <class Sink>
void search_apart(const GroupsAsked& asked, const RowsView& queries, std::int64_t g, Sink& sink,
                  Trace* trace) {
  const RowRange some = asked.queries(g), rows = asked.groups.rows(g);
  const std::int64_t k = std::min(asked.k, rows.count - (asked.asks_itself() ? 1 : 0));
  if (k < 1) return put_nothing(sink, some, asked.k);
  const OptionsOfGroup own(asked, queries.rows, g);
  using SinkOf = std::conditional_t<std::is_same_v<Sink, DoubleSink>, DoubleSinkOfGroup, SinkOfGroup>;
  SinkOf of_group(sink, asked.k, some.first, asked.options.rows_from_group ? 0 : rows.first);
  Trace more = trace ? asked_like(*trace) : Trace();
  search_alone(*asked.groups.alone(asked.index, g), queries.slice(some.first, some.count), k, own.options(),
               of_group, trace ? &more : nullptr);
  of_group.deliver();
  if (!trace) return;
  add_rest(*trace, more);
  trace->query_tiles += more.query_tiles;
}

/// Searches the groups of one step after another. Queries are prepared for all of these at once.
class TogetherSearch {
 public:
  TogetherSearch(const GroupsAsked& asked, const RowsView& given)
      : rows_(resident_rows(*asked.index.store)),
        moved_("search", "query", asked.index, given, asked.options),
        queries_("search", asked.index, asked.index.store->largest(), moved_),
        together_(asked, *rows_) {
    queries_.prepare(asked.options.threads);
  }
  void search(const GroupRange& range, AnswerSink& sink, Trace* trace) const {
    together_.search(range, queries_, sink, trace);
  }

 private:
  const std::shared_ptr<const ResidentRows> rows_;
  const MovedRows moved_;
  QuerySet queries_;
  const GroupsTogether together_;
};

template <class Sink>
void search_parts(const GroupsAsked& asked, const GroupParts& parts, const RowsView& given, Sink& sink,
                  Trace* trace) {
  std::optional<TogetherSearch> together;
  GivenQueries queries("search", asked.index, given);
  Watcher watcher(asked.options, given.rows);
  for (const GroupPart& part : parts.parts) {
    if constexpr (std::is_same_v<Sink, AnswerSink>) {
      if (part.together) {
        if (!together) together.emplace(asked, given);
        together->search(part.groups, sink, trace);
      }
    }
    if (!part.together) search_apart(asked, queries.on_host(), part.groups.first, sink, trace);
    const RowRange last = asked.queries(part.groups.first + part.groups.count - 1);
    if (watcher.watches())
      watcher.steps_done(last.first + last.count - asked.queries(part.groups.first).first);
  }
}

template <class Sink>
void search_all(const Index::State& index, const RowsView& given, std::int64_t k,
                const SearchOptions& options, Sink& sink, Trace* trace) {
  const WholeSearch whole(index.device);
  check_layout("search", "query", given);
  check_k("search", k, index.rows, options);
  const GroupsAsked asked = asked_of("search", index, given.rows, k, options);
  const GroupParts parts = parts_of(asked);
  if (trace) {
    restart(*trace);
    trace->plan = plan_of(asked, parts, given.rows);
  }
  sink.begin(given.rows, k);
  search_parts(asked, parts, given, sink, trace);
  whole.tell(trace);
}

}  // namespace

std::shared_ptr<const RowGroups> groups_of(const Device& device, const IndexOptions& options,
                                           std::int64_t rows) {
  if (options.groups.empty()) return nullptr;
  check_borders("index", "rows", options.groups, rows);
  if (!options.ids.empty())
    refuse("index", "there are groups, which are ranges of rows, and ids, which order rows; leave one out");
  if (options.deduplicate == true)
    refuse("index", "there are groups, each of which keeps its rows, and deduplicate; leave one out");
  if (rows > most_rows)
    refuse("index", std::to_string(rows) + " rows with groups, of which there are at most " +
                        std::to_string(most_rows) + "; split them over several indices");
  return std::make_shared<const RowGroups>(device.info(), options.groups);
}

void refuse_groups(std::string_view where, const Index::State& index, std::string_view what) {
  if (!index.groups) return;
  throw Error(Errc::unsupported, std::string(where) + ": the rows have groups, and " + std::string(what) +
                                     "; make an index without groups for this");
}

void check_numbered_in_whole(std::string_view where, const SearchOptions& options) {
  if (options.rows_from_group)
    refuse(where,
           "rows_from_group counts rows in their groups, but votes and averages go by their numbers in "
           "the whole; leave it out");
}

void search_groups(const Index::State& index, const RowsView& given, std::int64_t k,
                   const SearchOptions& options, AnswerSink& to, Trace* trace) {
  std::optional<CutSink> cut;
  if (options.radius) cut.emplace(to, bound_of_search<float>("search", index.shown, *options.radius));
  AnswerSink& sink = cut ? *cut : to;
  search_all(index, given, k, options, sink, trace);
}

void search_groups(const Index::State& index, const RowsView& given, std::int64_t k,
                   const SearchOptions& options, DoubleSink& sink, Trace* trace) {
  search_all(index, given, k, options, sink, trace);
}

void prepare_groups(const Index::State& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  check_k("search", k, index.rows, options);
  const GroupsAsked asked = asked_of("search", index, m, k, options);
  for (const GroupPart& part : parts_of(asked).parts)
    if (!part.together && index.groups->rows(part.groups.first).count > 0)
      static_cast<void>(index.groups->alone(index, part.groups.first));
}

Plan plan_groups(const Index::State& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  check_k("search", k, index.rows, options);
  const GroupsAsked asked = asked_of("search", index, m, k, options);
  return plan_of(asked, parts_of(asked), m);
}

}  // namespace kith
