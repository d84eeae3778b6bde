#include "search/parted/parted_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/radius/radius.hpp"
#include "search/shard_lists.hpp"

namespace kith {
namespace {

/// self, self + 1, ..., a row for each query.
std::vector<std::int64_t> own_rows(std::int64_t self, std::int64_t m) {
  std::vector<std::int64_t> rows(size(m));
  std::iota(rows.begin(), rows.end(), self);
  return rows;
}

PlanOptions without_self(const PlanOptions& options) {
  PlanOptions way = options;
  way.self.reset();
  return way;
}

/// What a search has checked before it begins: the shapes and values of `queries`, k, filter and `self`.
///   k  nothing: within radii
PreparedRows checked(std::string_view where, const Index::State& index, const RowsView& queries,
                     std::optional<std::int64_t> k, const PlanOptions& options) {
  const std::string begin = std::string(where) + ": ";
  if (queries.cols != index.columns)
    throw Error(Errc::invalid_argument, begin + "queries have " + std::to_string(queries.cols) +
                                            " columns but the index has " + std::to_string(index.columns) +
                                            "; give as many");
  check_rows(where, "query", queries);
  if (k) check_k(where, *k, index.rows, options);
  check_rows_left_out(where, index.rows, queries.rows, options);
  PreparedRows rows = prepare_rows(where, "query", queries, index.metric, options.threads, index.mask());
  const FloatGuard guard;
  check_range(where, index.metric, rows.view, index.largest_of_all());
  return rows;
}

}  // namespace

void search_parted(const Index::State& index, const RowsView& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace, const MakeRoom& make_room) {
  const Stopwatch total;
  const PreparedRows rows = checked("search", index, queries, k, options);
  search_parted(index, CheckedQueries{queries, rows.view, rows.largest}, k, options, trace, make_room);
  if (trace) trace->total_seconds = total.seconds();
}

void search_parted(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace, const MakeRoom& make_room) {
  const Stopwatch total;
  if (trace) restart(*trace);
  const std::int64_t searched = k + (options.self ? 1 : 0);
  Keys keys = index.parted->search_keys(index, queries, searched, without_self(options), trace);
  const Stopwatch finishing;
  if (options.self) keys = leave_out(keys, own_rows(*options.self, queries.given.rows));
  const FoundPlaces found = make_room();
  if (found.value) {
    std::copy(keys.value.begin(), keys.value.end(), found.value);
    std::transform(keys.row.begin(), keys.row.end(), found.index, [&](std::int64_t place) {
      return place < 0 ? place : index.first_row + index.numbers.number(place);
    });
  } else {
    const FloatGuard guard;
    finish_keys(index.metric, keys, found.distance, found.index);
  }
  index.parted->take_back(std::move(keys));
  if (!trace) return;
  trace->plan.self = options.self;
  trace->seconds["finish"] += finishing.seconds();
  trace->total_seconds = total.seconds();
}

RadiusKeys within_parted(const Index::State& index, const RowsView& queries, std::span<const float> radii,
                         const PlanOptions& options, Trace* trace) {
  const Stopwatch total;
  const PreparedRows rows = checked("within", index, queries, std::nullopt, options);
  static_cast<void>(bounds_of(index.metric, radii, queries.rows));  // all of them, before parts see some
  RadiusKeys keys =
      within_parted(index, CheckedQueries{queries, rows.view, rows.largest}, radii, options, trace);
  if (trace) trace->total_seconds = total.seconds();
  return keys;
}

RadiusKeys within_parted(const Index::State& index, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options, Trace* trace) {
  const Stopwatch total;
  if (trace) restart(*trace);
  RadiusKeys keys = index.parted->within_keys(index, queries, radii, without_self(options), trace);
  if (options.self) keys = leave_out(keys, own_rows(*options.self, queries.given.rows));
  if (trace) {
    trace->plan.self = options.self;
    trace->total_seconds = total.seconds();
  }
  return keys;
}

}  // namespace kith
