#include "search/doubles/double_search.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/floats.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"
#include "metric/radius_bound.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/doubles/near_rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/lists/whole_search.hpp"
#include "search/radius/radius.hpp"
#include "search/stores/search.hpp"
#include "search/stores/some_queries.hpp"

namespace kith {
namespace {

/// Receives the rows that floats propose.
class ProposalSink final : public AnswerSink {
 public:
  void begin(std::int64_t m, std::int64_t k) override {
    k_ = k;
    places_.resize(cells_of(m, k));
    last_.resize(size(m));
  }
  void put(std::int64_t query, std::span<const Key> nearest) override {
    std::transform(nearest.begin(), nearest.end(), places_.begin() + query * k_, row_of);
    last_[size(query)] = value_of(nearest.back());
  }
  void put_all(Keys& keys) override {
    std::transform(keys.row.begin(), keys.row.end(), places_.begin(),
                   [](std::int64_t row) { return row < 0 ? no_row : static_cast<std::uint32_t>(row); });
    for (std::size_t q = 0; q < last_.size(); ++q)
      last_[q] = value_of(Key{keys.value[(q + 1) * size(k_) - 1]} << 32);
  }

  /// Returns the places of the rows, [m, k]; no_row: there is none.
  MatrixView<const std::uint32_t> places() const {
    return {places_.data(), static_cast<std::int64_t>(last_.size()), k_};
  }
  /// Returns the largest chain of floats of a list that is full.
  float last(std::int64_t query) const { return last_[size(query)]; }

 private:
  std::int64_t k_ = 0;
  std::vector<std::uint32_t, LeftAsItIs<std::uint32_t>> places_;
  Floats last_;
};

/// Sorts rows that are nearly in order: that of their floats.
void sort_nearly_sorted(std::vector<RankedRow>& list) {
  constexpr std::size_t most = 64;
  if (list.size() > most) return std::sort(list.begin(), list.end());
  for (std::size_t i = 1; i < list.size(); ++i) {
    const RankedRow one = list[i];
    std::size_t at = i;
    for (; at > 0 && one < list[at - 1]; --at) list[at] = list[at - 1];
    list[at] = one;
  }
}

/// Ranks what was proposed, passes the k nearest to `sink`, and returns the queries for which other rows may
/// be as near.
///   k  fewer than are proposed for a query
OpenQueries rank_proposed(const Index::State& index, const DoubleQueries& queries, DoubleRanking& ranking,
                          const SearchOptions& options, const ProposalSink& proposed, std::int64_t k,
                          DoubleSink& sink, Trace* trace) {
  const MatrixView<const std::uint32_t> places = proposed.places();
  const std::int64_t m = queries.count(), width = places.cols();
  const bool are_all = width == index.rows - (options.self ? 1 : 0);
  std::vector<float> bounds(size(m));
  std::vector<unsigned char> open(size(m));
  const auto rank_query = [&](std::int64_t q, const double* values, std::vector<RankedRow>& list) {
    list.clear();
    for (std::int64_t j = 0; j < width && places(q, j) != no_row; ++j)
      list.push_back({ordered(values[j]), places(q, j)});
    sort_nearly_sorted(list);
    sink.put(q, std::span(list).first(std::min(list.size(), size(k))));
    if (are_all || list.size() < size(width)) return;  // there is no other row
    bounds[size(q)] = queries.bound(q, unordered_double(list[size(k) - 1].value));
    open[size(q)] = !(proposed.last(q) > bounds[size(q)]);
  };
  const auto take = [&](std::int64_t first, std::int64_t count, std::span<const double> values) {
    constexpr std::int64_t work_a_row = 16;  // rough work of sorting it
    const std::int64_t share = std::max<std::int64_t>(1, (1 << 12) / width);
    parallel_for(divide_up(count, share), count * width * work_a_row, options.threads, [&](std::int64_t s) {
      std::vector<RankedRow> list;
      list.reserve(size(width));
      for (std::int64_t q = s * share; q < std::min(count, (s + 1) * share); ++q)
        rank_query(first + q, values.data() + q * width, list);
    });
  };
  ranking.rank(queries.doubles(), places, take, trace);
  OpenQueries rest;
  for (std::int64_t q = 0; q < m; ++q) {
    if (open[size(q)] == 0) continue;
    rest.numbers.push_back(q);
    rest.bounds.push_back(bounds[size(q)]);
  }
  return rest;
}

}  // namespace

std::int64_t proposed_for(std::int64_t k, std::int64_t rows, const SearchOptions& options) {
  constexpr std::int64_t least_more = 4, share = 8;
  return std::min(k + std::max(least_more, k / share), rows - (options.self ? 1 : 0));
}

void search_doubles(const Index::State& index, const RowsView& given, std::int64_t k,
                    const SearchOptions& options, DoubleSink& sink, Trace* trace) {
  if (options.radius) {  // floats propose whatever the radius
    CutDoubleSink cut(sink, bound_of_search<double>("search", index.shown, *options.radius));
    SearchOptions all = options;
    all.radius.reset();
    return search_doubles(index, given, k, all, cut, trace);
  }
  const WholeSearch whole(index.device);
  check_k("search", k, index.rows, options);
  check_rows_left_out("search", index.rows, given.rows, options);
  const DoubleQueries queries("search", index, given, options);
  const double rounded = whole.seconds();
  ProposalSink proposed;
  search(*index.doubles->proposing, queries.floats(), proposed_for(k, index.rows, options), options, proposed,
         trace);
  sink.begin(queries.count(), k);
  if (queries.count() == 0) return;
  const Stopwatch ranked;
  DoubleRanking ranking(index, options);
  const OpenQueries open = rank_proposed(index, queries, ranking, options, proposed, k, sink, trace);
  const SearchOptions rest = options_of_rest(options);
  Trace more = trace ? asked_like(*trace) : Trace{};
  NearRows(index, queries, ranking, rest, trace ? &more : nullptr).each(open, [&](std::size_t i, auto list) {
    sink.put(open.numbers[i], list.first(std::min(list.size(), size(k))));
  });
  if (!trace) return;
  trace->ranked_doubles += queries.count() * proposed.places().cols();
  trace->repeated_doubles += static_cast<std::int64_t>(open.numbers.size());
  add_rest(*trace, more);
  trace->seconds["round"] += rounded;
  trace->seconds["doubles"] += ranked.seconds();
  trace->plan.double_chains = ranking.ranker().said();
  whole.tell(trace);
}

RadiusKeys search_doubles_within(const Index::State& index, const RowsView& given,
                                 std::span<const double> radii, const SearchOptions& options, Trace* trace) {
  const WholeSearch whole(index.device);
  check_rows_left_out("within", index.rows, given.rows, options);
  const DoubleQueries queries("within", index, given, options);
  RadiusKeys keys = search_doubles_within(index, queries, radii, options, trace);
  whole.tell(trace);
  return keys;
}

RadiusKeys search_doubles_within(const Index::State& index, const DoubleQueries& queries,
                                 std::span<const double> radii, const SearchOptions& options, Trace* trace) {
  const WholeSearch whole(index.device);
  const std::vector<double> most = bounds_of(index.shown, radii, queries.count(), options.threads);
  DoubleRanking ranking(index, options);
  OpenQueries all;
  std::vector<std::uint64_t> last;  // [m]  the largest code of a row that counts
  for (std::int64_t q = 0; q < queries.count(); ++q) {
    last.push_back(ordered(most[size(q)]));
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
      if (one.value > last[i]) break;
      keys.value64.push_back(one.value);
      keys.row.push_back(one.row);
    }
    keys.first.push_back(static_cast<std::int64_t>(keys.row.size()));
  });
  if (trace) trace->plan.double_chains = ranking.ranker().said();
  whole.tell(trace);
  return keys;
}

}  // namespace kith
