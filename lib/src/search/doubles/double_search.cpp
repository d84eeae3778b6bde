#include "search/doubles/double_search.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/doubles/near_rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

/// Returns lists of k places without a key.
Keys no_keys(std::int64_t queries, std::int64_t k) {
  Keys keys;
  keys.queries = queries;
  keys.k = k;
  keys.arithmetic = Arithmetic::f64;
  keys.value64.assign(cells_of(queries, k), no_double);
  keys.row.assign(keys.value64.size(), -1);
  return keys;
}

void write_nearest(std::span<const RankedRow> sorted, Keys& keys, std::int64_t q) {
  for (std::size_t j = 0; j < std::min(sorted.size(), size(keys.k)); ++j) {
    keys.value64[size(q * keys.k) + j] = sorted[j].value;
    keys.row[size(q * keys.k) + j] = sorted[j].row;
  }
}

/// Returns the options of the radius searches for open queries, whose way does not matter to the caller.
SearchOptions options_of_rest(const SearchOptions& asked) {
  SearchOptions rest;
  rest.filter = asked.filter;
  rest.self = asked.self;
  rest.memory_limit = asked.memory_limit;
  rest.threads = asked.threads;
  rest.stop = asked.stop;
  return rest;
}

/// Ranks what was proposed, writes the nearest to `keys`, and returns the queries for which other rows may be
/// as near.
///   proposed  [m, more than k]  keys of floats
OpenQueries rank_proposed(const Index::State& index, const DoubleQueries& queries,
                          const DoubleRanking& ranking, const SearchOptions& options, const Keys& proposed,
                          Keys& keys) {
  const std::int64_t m = queries.count(), width = proposed.k;
  std::vector<std::uint32_t> places(proposed.row.size());
  std::transform(proposed.row.begin(), proposed.row.end(), places.begin(),
                 [](std::int64_t row) { return row < 0 ? no_row : static_cast<std::uint32_t>(row); });
  std::vector<double> values(places.size());
  ranking.rank(queries.doubles(), {places.data(), m, width}, values);
  const bool are_all = width == index.rows - (options.self ? 1 : 0);
  std::vector<float> bounds(size(m));
  std::vector<unsigned char> open(size(m));
  constexpr std::int64_t work_a_row = 16;  // rough work of sorting it
  parallel_for(m, m * width * work_a_row, options.threads, [&](std::int64_t q) {
    const std::size_t begin = size(q * width), end = begin + size(width);
    std::vector<RankedRow> list;
    list.reserve(size(width));
    for (std::size_t i = begin; i < end && places[i] != no_row; ++i)
      list.push_back({ordered(values[i]), places[i]});
    std::sort(list.begin(), list.end());
    write_nearest(list, keys, q);
    if (are_all || list.size() < size(width)) return;  // there is no other row
    bounds[size(q)] = queries.bound(q, unordered_double(list[size(keys.k) - 1].value));
    open[size(q)] = !(value_of(Key{proposed.value[end - 1]} << 32) > bounds[size(q)]);
  });
  OpenQueries rest;
  for (std::int64_t q = 0; q < m; ++q) {
    if (open[size(q)] == 0) continue;
    rest.numbers.push_back(q);
    rest.bounds.push_back(bounds[size(q)]);
  }
  return rest;
}

std::vector<double> bounds_of(Metric metric, std::span<const double> radii, std::int64_t m) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != m)
    refuse("within", std::to_string(count) + " radii for " + std::to_string(m) +
                         " queries; give one for all, or one a query");
  std::vector<double> bounds;
  for (std::size_t q = 0; q < radii.size(); ++q) {
    if (std::isnan(radii[q]))
      refuse("within", "radius " + std::to_string(q) + " is NaN; every radius must be a number");
    bounds.push_back(bound_of(metric, radii[q]));
  }
  if (count != m) bounds.assign(size(m), bounds.front());
  return bounds;
}

}  // namespace

std::int64_t proposed_for(std::int64_t k, std::int64_t rows, const SearchOptions& options) {
  constexpr std::int64_t least_more = 4, share = 8;
  return std::min(k + std::max(least_more, k / share), rows - (options.self ? 1 : 0));
}

Keys search_doubles(const Index::State& index, const RowsView& given, std::int64_t k,
                    const SearchOptions& options, Trace* trace) {
  const Stopwatch whole;
  check_k("search", k, index.rows, options);
  check_rows_left_out("search", index.rows, given.rows, options);
  const FloatGuard guard;
  const DoubleQueries queries("search", index, given, options.threads);
  Keys keys = no_keys(queries.count(), k), proposed;
  KeysSink sink(proposed, proposed_for(k, index.rows, options));
  search(*index.doubles->proposing, queries.floats(), proposed_for(k, index.rows, options), options, sink,
         trace);
  if (queries.count() == 0) return keys;
  const Stopwatch ranked;
  const DoubleRanking ranking(index.metric, index.doubles->rows, options.threads);
  const OpenQueries open = rank_proposed(index, queries, ranking, options, proposed, keys);
  if (trace) {
    trace->ranked_doubles += static_cast<std::int64_t>(proposed.row.size());
    trace->repeated_doubles += static_cast<std::int64_t>(open.numbers.size());
  }
  const SearchOptions rest = options_of_rest(options);
  Trace more = trace ? asked_like(*trace) : Trace{};
  NearRows(index, queries, ranking, rest, trace ? &more : nullptr).each(open, [&](std::size_t i, auto list) {
    write_nearest(list, keys, open.numbers[i]);
  });
  if (trace) {
    add_rest(*trace, more);
    trace->seconds["doubles"] += ranked.seconds();
    trace->total_seconds = whole.seconds();
  }
  return keys;
}

RadiusKeys search_doubles_within(const Index::State& index, const RowsView& given,
                                 std::span<const double> radii, const SearchOptions& options, Trace* trace) {
  const Stopwatch whole;
  check_rows_left_out("within", index.rows, given.rows, options);
  const FloatGuard guard;
  const std::vector<double> most = bounds_of(index.metric, radii, given.rows);
  const DoubleQueries queries("within", index, given, options.threads);
  const DoubleRanking ranking(index.metric, index.doubles->rows, options.threads);
  OpenQueries all;
  for (std::int64_t q = 0; q < queries.count(); ++q) {
    all.numbers.push_back(q);
    all.bounds.push_back(queries.bound(q, most[size(q)]));
  }
  RadiusKeys keys;
  keys.queries = queries.count();
  keys.first = {0};
  keys.arithmetic = Arithmetic::f64;
  if (trace) *trace = asked_like(*trace);
  NearRows(index, queries, ranking, options, trace).each(all, [&](std::size_t i, auto list) {
    for (const RankedRow& one : list) {
      if (one.value > ordered(most[i])) break;
      keys.value64.push_back(one.value);
      keys.row.push_back(one.row);
    }
    keys.first.push_back(static_cast<std::int64_t>(keys.row.size()));
  });
  if (trace) trace->total_seconds = whole.seconds();
  return keys;
}

}  // namespace kith
