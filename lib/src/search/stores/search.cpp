#include "search/stores/search.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "metric/radius_bound.hpp"
#include "rows/row_filter.hpp"
#include "search/bands/banded_search.hpp"
#include "search/gaps/gapped_search.hpp"
#include "search/lists/shard_lists.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/lists/whole_search.hpp"
#include "search/projected/projected_search.hpp"
#include "search/radius/radius.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/resident_search.hpp"
#include "search/stores/checkpoint.hpp"
#include "search/stores/part_sink.hpp"
#include "search/stores/row_store.hpp"
#include "search/stores/some_queries.hpp"

namespace kith {
namespace {

/// Removes each query's own row from lists that have one row more than was asked for.
///   queries  their numbers
template <class Lists>
Lists without_own_rows(const Lists& keys, std::int64_t self, std::vector<std::int64_t> queries) {
  for (std::int64_t& q : queries) q += self;
  return leave_out(keys, queries);
}
template <class Lists>
Lists without_own_rows(const Lists& keys, std::int64_t self) {
  std::vector<std::int64_t> all(size(keys.queries));
  std::iota(all.begin(), all.end(), 0);
  return without_own_rows(keys, self, std::move(all));
}

Keys rest_of(const RowStore& store, const SearchRequest& request, const std::vector<std::int64_t>& open,
             Trace* trace);

/// Searches rows of one device, by bands if these are asked for, by products of gaps, or by projections.
/// Returns the queries that are left open.
std::vector<std::int64_t> search_whole(const ResidentRows& rows, const SearchRequest& request,
                                       AnswerSink& sink, Trace* trace) {
  if (request.stream_plan) return search_resident(rows, request, sink, trace);
  if (takes_bands(rows, request.options))
    search_banded(rows, request, sink, trace);
  else if (takes_gap_products(rows, request.m(), request.k, request.options))
    search_gapped(rows, request, sink, trace);
  else if (takes_projections(rows, request.m(), request.k, request.options))
    search_projected(rows, request, sink, trace);
  else
    return search_resident(rows, request, sink, trace);
  return {};
}

/// Searches a part of the rows, as a whole or in smaller parts, and passes what it finds to the PartSink.
void search_part(const RowStore& part, const SearchRequest& request, Trace* trace) {
  SearchRequest own = request;
  own.k = std::min(request.k, part.rows());
  const auto rows = part.resident(own);
  if (!rows) return part.each_part(request, search_part, trace);
  if (request.radii) return request.parts->take_within(request, keys_within_resident(*rows, request, trace));
  std::vector<std::uint32_t> values;
  own.known = request.parts->known(request, values);
  Keys keys = request.parts->buffer();
  KeysSink sink(keys, request.k);
  const std::vector<std::int64_t> open = search_whole(*rows, own, sink, trace);
  if (!open.empty()) {
    const Keys rest = rest_of(part, request, open, trace);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto from = static_cast<std::ptrdiff_t>(i * size(rest.k)),
                 to = static_cast<std::ptrdiff_t>(open[i] * rest.k);
      std::copy_n(rest.value.begin() + from, rest.k, keys.value.begin() + to);
      std::copy_n(rest.row.begin() + from, rest.k, keys.row.begin() + to);
    }
  }
  request.parts->take(request, rows->rows, std::move(keys));
}

/// Finds the nearest rows of queries that a search of all rows as a whole left open.
Keys rest_of(const RowStore& store, const SearchRequest& request, const std::vector<std::int64_t>& open,
             Trace* trace) {
  SomeQueries some(request, open);
  ListMerger found(store.buffers());
  const bool leaves_own = request.options.self.has_value();
  SearchRequest rest{some.queries(), some.options(), request.k + (leaves_own ? 1 : 0)};
  rest.parts = &found;
  Trace more;
  store.each_part(rest, search_part, trace ? &more : nullptr);
  if (trace) {
    more.fallbacks = 0;  // these queries were already counted
    add_rest(*trace, more);
  }
  const Keys keys = found.keys();
  return leaves_own ? without_own_rows(keys, *request.options.self, open) : keys;
}

/// Passes them to the sink. Places on a single device fit into a Key.
void put_rest(const Keys& rest, const std::vector<std::int64_t>& open, AnswerSink& sink) {
  const std::size_t k = size(rest.k);
  std::vector<Key> list(k);
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      const std::int64_t row = rest.row[i * k + j];
      list[j] = row < 0 ? no_key : Key{rest.value[i * k + j]} << 32 | static_cast<std::uint32_t>(row);
    }
    sink.put(open[i], list);
  }
}

/// Searches rows in parts: holds what is asked of each part, and merges what the parts find.
class PartsSearch {
 public:
  /// Checks what is asked, and prepares the queries. All arguments must outlive this.
  PartsSearch(const Index::State& index, const SearchRequest& asked, Trace* trace)
      : index_(index),
        asked_(asked),
        own_(without_self(asked.options)),
        merged_(index.store->buffers()),
        request_{asked.queries, own_, asked.k + (asked.options.self && !asked.radii ? 1 : 0), asked.radii} {
    const std::int64_t rows = index.store->rows(), m = asked.m();
    if (!asked.radii) check_k("search", asked.k, rows, asked.options);
    check_rows_left_out(asked.radii ? "within" : "search", rows, m, asked.options);
    asked.queries.prepare(asked.options.threads);
    if (asked.radii)
      static_cast<void>(bounds_of(ShownBy(index.metric), *asked.radii, m,
                                  asked.options.threads));  // checks all, before parts get some
    if (trace) restart(*trace);
    if (!asked.options.checkpoint.empty())
      checkpoint_.emplace(index, *index.store, asked.queries.rows().on_host(), request_.k, asked.options);
    request_.parts = checkpoint_ ? static_cast<PartSink*>(&*checkpoint_) : &merged_;
  }

  /// Returns the request that search_part() takes.
  const SearchRequest& request() const { return request_; }

  /// Passes what the parts found to `sink`.
  void put_all(AnswerSink& sink, Trace* trace) {
    const Stopwatch joining;
    Keys keys = checkpoint_ ? checkpoint_->keys() : merged_.keys();
    if (trace && is_set(index_.device)) trace->seconds["join"] += joining.seconds();
    const Stopwatch finishing;
    if (asked_.options.self) keys = without_own_rows(keys, *asked_.options.self);
    sink.begin(asked_.m(), asked_.k);
    sink.put_all(keys);
    index_.store->buffers().put(std::move(keys));
    if (!trace) return;
    trace->plan.self = asked_.options.self;
    trace->seconds["finish"] += finishing.seconds();
  }

  /// Returns what the parts of a search within radii found, with places.
  RadiusKeys within(Trace* trace) {
    RadiusKeys keys = merged_.within();
    if (asked_.options.self) keys = without_own_rows(keys, *asked_.options.self);
    if (trace) trace->plan.self = asked_.options.self;
    return keys;
  }

 private:
  const Index::State& index_;
  const SearchRequest& asked_;
  const SearchOptions own_;
  ListMerger merged_;
  std::optional<Checkpoint> checkpoint_;
  SearchRequest request_;
};

RadiusKeys within_in_parts(const Index::State& index, const SearchRequest& request, Trace* trace) {
  PartsSearch parts(index, request, trace);
  index.store->each_part(parts.request(), search_part, trace);
  return parts.within(trace);
}

}  // namespace

RadiusKeys keys_of_part(const RowStore& part, const SearchRequest& request, Trace* trace) {
  ListMerger merger(part.buffers());
  SearchRequest own = request;
  own.first_query = own.first_row = 0;
  own.parts = &merger;
  search_part(part, own, trace);
  return merger.within();
}

void check_checkpoint(const std::string& where, const RowStore& store, const SearchOptions& options) {
  if (options.checkpoint.empty()) return;
  if (where == "search" && store.info().residence == Residence::stream) return;
  throw Error(
      Errc::unsupported,
      where +
          ": a checkpoint is kept of a search for k among rows that stay in a source (residence stream); "
          "leave it out, or choose these");
}

void search(const Index::State& index, const RowsView& given, std::int64_t k, const SearchOptions& options,
            AnswerSink& to, Trace* trace) {
  const WholeSearch whole(index.device);
  check_checkpoint("search", *index.store, options);
  std::optional<CutSink> cut;
  if (options.radius) cut.emplace(to, bound_of_search<float>("search", index.shown, *options.radius));
  AnswerSink& sink = cut ? *cut : to;
  QuerySet queries("search", index, index.store->largest(), given);
  const SearchRequest request{queries, options, k};
  if (const auto rows = index.store->resident(request)) {
    const std::vector<std::int64_t> open = search_whole(*rows, request, sink, trace);
    if (!open.empty()) put_rest(rest_of(*index.store, request, open, trace), open, sink);
  } else {
    PartsSearch parts(index, request, trace);
    index.store->each_part(parts.request(), search_part, trace);
    parts.put_all(sink, trace);
  }
  whole.tell(trace);
}

RadiusNeighbors search_within(const Index::State& index, const RowsView& given, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) {
  QuerySet queries("within", index, index.store->largest(), given);
  return search_within(index, queries, radii, options, trace);
}

RadiusNeighbors search_within(const Index::State& index, QuerySet& queries, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) {
  const WholeSearch whole(index.device);
  check_checkpoint("within", *index.store, options);
  const SearchRequest request{queries, options, 0, radii};
  RadiusNeighbors found;
  if (const auto rows = index.store->resident(request)) {
    found = within_resident(*rows, request, trace);
  } else {
    RadiusKeys keys = within_in_parts(index, request, trace);
    found = {keys.queries, std::move(keys.first), {}, std::move(keys.row)};
    found.distance.resize(keys.value.size());
    const FloatGuard guard;
    finish_values(index.shown, keys.value, found.distance.data());
  }
  whole.tell(trace);
  return found;
}

RadiusKeys search_keys_within(const Index::State& index, const RowsView& given, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) {
  const WholeSearch whole(index.device);
  check_checkpoint("within", *index.store, options);
  QuerySet queries("within", index, index.store->largest(), given);
  const SearchRequest request{queries, options, 0, radii};
  const auto rows = index.store->resident(request);
  RadiusKeys found =
      rows ? keys_within_resident(*rows, request, trace) : within_in_parts(index, request, trace);
  whole.tell(trace);
  return found;
}

}  // namespace kith
