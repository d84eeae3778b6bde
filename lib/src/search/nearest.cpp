#include "search/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/mapped_options.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/doubles/double_search.hpp"
#include "search/groups/group_search.hpp"
#include "search/lists/count_sum.hpp"
#include "search/stores/counts.hpp"
#include "search/stores/row_store.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

/// Lasts as long as a search: all of it computes under one guard, and its end tells the metric.
class WholeCall {
 public:
  WholeCall(const Index::State& index, Trace* trace) : index_(index), trace_(trace) {}
  WholeCall(const WholeCall&) = delete;
  WholeCall& operator=(const WholeCall&) = delete;
  ~WholeCall() {
    if (trace_) index_.tell_metric(trace_->plan);
  }

 private:
  const FloatGuard guard_;
  const Index::State& index_;
  Trace* const trace_;
};

}  // namespace

void find_nearest(const Index::State& index, const RowsView& given, std::int64_t k,
                  const SearchOptions& options, Neighbors& found, Trace* trace) {
  if (!index.doubles) {
    NeighborsSink sink(index.shown, found);
    return find_nearest(index, given, k, options, static_cast<AnswerSink&>(sink), trace);
  }
  const WholeCall call(index, trace);
  DoubleNeighborsSink sink(index.shown, found);
  if (index.groups) return search_groups(index, given, k, options, static_cast<DoubleSink&>(sink), trace);
  search_doubles(index, given, k, options, sink, trace);
}

void find_nearest(const Index::State& index, const RowsView& given, std::int64_t k,
                  const SearchOptions& options, AnswerSink& sink, Trace* trace) {
  const WholeCall call(index, trace);
  if (index.groups) return search_groups(index, given, k, options, sink, trace);
  search(index, MovedRows("search", "query", index, given, options), k, options, sink, trace);
}

namespace {

template <class Radii>
RadiusNeighbors find_in_groups(const Index::State& index, const RowsView& given, Radii radii,
                               const SearchOptions& options, Trace* trace) {
  const auto find = [](const Index::State& group, const RowsView& some, Radii theirs,
                       const SearchOptions& own,
                       Trace* more) { return find_within(group, some, theirs, own, more); };
  return within_groups<Radii>(index, given, radii, options, trace, find);
}

}  // namespace

RadiusNeighbors find_within(const Index::State& index, const RowsView& given, std::span<const double> radii,
                            const SearchOptions& options, Trace* trace) {
  const WholeCall call(index, trace);
  if (index.groups) return find_in_groups(index, given, radii, options, trace);
  if (!index.doubles) return find_within(index, given, floats_below(radii), options, trace);
  RadiusNeighbors found;
  finish_doubles(index.shown, search_doubles_within(index, given, radii, options, trace), found);
  return found;
}

RadiusNeighbors find_within(const Index::State& index, const RowsView& given, std::span<const float> radii,
                            const SearchOptions& options, Trace* trace) {
  const WholeCall call(index, trace);
  if (index.groups) return find_in_groups(index, given, radii, options, trace);
  if (index.doubles) return find_within(index, given, doubles_of(radii), options, trace);
  const MovedRows queries("within", "query", index, given, options);
  return search_within(index, queries, radii, options, trace);
}

namespace {

/// Counts rows; `options` name them by their places.
void find_counts(const Index::State& index, const RowsView& given, const CountRadii& radii,
                 const SearchOptions& options, CountSum& sum, Trace* trace) {
  if (index.groups) return count_groups(index, given, radii, options, sum, trace, find_counts);
  if (index.doubles) {
    const DoubleQueries queries(sum.where(), index, given, options);
    return count_doubles(index, queries, radii, options, sum, trace);
  }
  const MovedRows moved(sum.where(), "query", index, given, options);
  QuerySet queries(sum.where(), index, index.store->largest(), moved);
  search_counts(index, queries, radii, options, sum, trace);
}

}  // namespace

void count_into(const Index::State& index, const RowsView& given, const CountRadii& radii,
                const SearchOptions& options, bool totals, std::span<std::int64_t> counts, Trace* trace) {
  const WholeCall call(index, trace);
  const std::string where = totals ? "two_point" : "count";
  const MappedOptions mapped(where, index, options, given.rows, std::nullopt);
  if (totals) std::fill(counts.begin(), counts.end(), 0);
  CountSum sum(where, radii.radius.cols(), totals, counts, options.threads);
  find_counts(index, given, radii, mapped.options(), sum, trace);
  sum.finish();
}

std::vector<float> floats_below(std::span<const double> radii) {
  const FloatGuard guard;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> floats;
  for (const double radius : radii) {
    const float nearest = static_cast<float>(radius);
    floats.push_back(static_cast<double>(nearest) > radius ? std::nextafter(nearest, -infinity) : nearest);
  }
  return floats;
}

std::vector<double> doubles_of(std::span<const float> radii) {
  const FloatGuard guard;
  return {radii.begin(), radii.end()};
}

}  // namespace kith
