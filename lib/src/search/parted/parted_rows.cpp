#include "search/parted/parted_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/device_memory/device_answers.hpp"
#include "search/parted/kept_search.hpp"
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

/// Queries on a device, copied; members of a set take those of the host alone.
RowsView on_host(std::string_view where, const Index::State& index, const RowsView& queries,
                 std::vector<unsigned char>& copy) {
  if (is_set(index.device)) return queries;
  return rows_on_host(where, "query", index.device.state(), queries, copy);
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

std::shared_ptr<Index::State> one_of_parts(const Index::State& whole, std::int64_t rows, float largest,
                                           std::shared_ptr<MadeOfRows> made) {
  auto state = std::make_shared<Index::State>(whole.device, whole.metric, whole.columns, whole.features,
                                              std::move(made));
  state->rows = rows;
  state->element = whole.element;
  state->largest = largest;
  state->first_row = whole.first_row;
  state->largest_of_shards = whole.largest_of_shards;
  state->numbers = whole.numbers;
  state->removed = whole.removed;
  return state;
}

std::shared_ptr<const Index::State> by_places(const Index::State& one) {
  auto state = std::make_shared<Index::State>(one);
  state->numbers = RowNumbers(one.rows);
  state->first_row = 0;
  return state;
}

void search_parted(const Index::State& index, const RowsView& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace, const MakeRoom& make_room) {
  const Stopwatch total;
  std::vector<unsigned char> copy;
  const RowsView here = on_host("search", index, queries, copy);
  const PreparedRows rows = checked("search", index, here, k, options);
  search_parted(index, CheckedQueries{here, rows.view, rows.largest}, k, options, trace, make_room);
  if (trace) trace->total_seconds = total.seconds();
}

void search_parted(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace, const MakeRoom& make_room) {
  const Stopwatch total;
  if (trace) restart(*trace);
  const std::int64_t searched = k + (options.self ? 1 : 0);
  CheckedQueries asked = queries;
  std::optional<KeptSearch> kept;
  if (!options.checkpoint.empty() && !queries.kept.search) {
    kept.emplace(Checkpoint(options.checkpoint, digests_of(index, queries.rows, searched, options),
                            index.rows, queries.given.rows, searched));
    asked.kept.search = &*kept;
  }
  Keys keys = index.parted->search_keys(index, asked, searched, without_self(options), trace);
  if (kept) keys = kept->take();
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
    std::vector<float> distance(found.on_device ? keys.row.size() : 0);
    std::vector<std::int64_t> row(distance.size());
    finish_keys(index.metric, keys, found.on_device ? distance.data() : found.distance,
                found.on_device ? row.data() : found.index);
    if (found.on_device) found.on_device->write(distance, row);
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
  std::vector<unsigned char> copy;
  const RowsView here = on_host("within", index, queries, copy);
  const PreparedRows rows = checked("within", index, here, std::nullopt, options);
  static_cast<void>(bounds_of(index.metric, radii, queries.rows));  // all of them, before parts see some
  RadiusKeys keys =
      within_parted(index, CheckedQueries{here, rows.view, rows.largest}, radii, options, trace);
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
