#include "search/stores/counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "metric/radius_bound.hpp"
#include "rows/row_filter.hpp"
#include "search/lists/whole_search.hpp"
#include "search/radius/counts.hpp"
#include "search/stores/part_sink.hpp"
#include "search/stores/row_store.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

/// Counts a part of the rows, as a whole or in smaller parts.
class PartCounts {
 public:
  ///   bounds  [1 or m, r], of all queries
  PartCounts(ShownBy shown, MatrixView<const float> bounds, CountSum& sum)
      : shown_(shown), bounds_(bounds), sum_(sum) {}

  void visit(const RowStore& part, const SearchRequest& request, Trace* trace) {
    if (part.merges_rows()) return count_lists(part, request, trace);
    if (const auto rows = part.resident(request)) return count(*rows, request, trace);
    part.each_part(
        request,
        [this](const RowStore& smaller, const SearchRequest& own, Trace* more) { visit(smaller, own, more); },
        trace);
  }

 private:
  MatrixView<const float> bounds_of(const SearchRequest& request) const {
    return bounds_.rows() > 1 ? bounds_.slice(request.first_query, request.m()) : bounds_;
  }

  /// Lists the rows within the largest radius of each query, and counts them.
  void count_lists(const RowStore& part, const SearchRequest& request, Trace* trace) {
    const MatrixView<const float> bounds = bounds_of(request);
    const std::int64_t radii = bounds.cols();
    std::vector<float> largest;
    {
      const FloatGuard guard;
      for (std::int64_t q = 0; q < bounds.rows(); ++q) {
        const float distance = finish(shown_, bounds(q, radii - 1));
        largest.push_back(std::isnan(distance) ? -std::numeric_limits<float>::infinity() : distance);
      }
    }
    SearchRequest lists = request;
    lists.radii = largest;
    const RadiusKeys found = keys_of_part(part, lists, trace);
    std::vector<std::uint32_t> counts(size(radii));
    for (std::int64_t q = 0; q < request.m(); ++q) {
      const auto begin = found.value.begin() + found.first[size(q)],
                 end = found.value.begin() + found.first[size(q) + 1];
      for (std::int64_t r = 0; r < radii; ++r) {
        const float bound = bounds(bounds.rows() > 1 ? q : 0, r);
        counts[size(r)] = static_cast<std::uint32_t>(std::upper_bound(begin, end, ordered(bound)) - begin);
      }
      sum_.add(request.first_query + q, {counts.data(), 1, radii});
    }
  }

  void count(const ResidentRows& rows, const SearchRequest& request, Trace* trace) {
    const TakeCounts take = [&](std::int64_t first, MatrixView<const std::uint32_t> counts) {
      sum_.add(request.first_query + first, counts);
    };
    count_resident(rows, {sum_.where(), request, bounds_of(request), take}, trace);
  }

  const ShownBy shown_;
  const MatrixView<const float> bounds_;
  CountSum& sum_;
};

/// Takes each query's own row away, if it was counted: row `self` + q, by place.
///   queries  [m, dims], prepared
void take_own_away(const Index::State& index, MatrixView<const float> queries, std::int64_t self,
                   MatrixView<const float> bounds, const SearchOptions& options, CountSum& sum) {
  constexpr std::int64_t most_rows = 1 << 14, at_once = 64;  // queries
  const MatrixView<const std::uint32_t>& filter = options.filter;
  std::vector<float> rows(size(std::min(most_rows, queries.rows()) * queries.cols()));
  for (std::int64_t first = 0; first < queries.rows(); first += most_rows) {
    const std::int64_t count = std::min(most_rows, queries.rows() - first);
    index.store->read(self + first, count, rows.data(), options.threads);
    const auto from = [&](std::int64_t i) -> std::int64_t {
      const std::int64_t q = first + i, cols = queries.cols();
      if (has_filter(options) &&
          !counts(filter.row(filter.rows() > 1 ? q : 0), static_cast<std::uint32_t>(self + q)))
        return bounds.cols();
      const std::span<const float> terms =
          index.terms ? std::span(index.terms->floats()) : std::span<const float>();
      const float value = chain(index.metric, {queries.row(q), size(cols)},
                                {rows.data() + i * cols, size(cols)}, terms, index.columns);
      const float* const of_query = bounds.row(bounds.rows() > 1 ? q : 0);
      return std::lower_bound(of_query, of_query + bounds.cols(), value) - of_query;
    };
    parallel_for(divide_up(count, at_once), count * queries.cols(), options.threads, [&](std::int64_t share) {
      std::array<std::int64_t, at_once> all{};
      const std::int64_t begin = share * at_once, some = std::min(at_once, count - begin);
      for (std::int64_t i = 0; i < some; ++i) all[size(i)] = from(begin + i);
      sum.take_away(first + begin, std::span(all).first(size(some)));
    });
  }
}

}  // namespace

void check_radii_of_counts(std::string_view where, const CountRadii& asked, std::int64_t m) {
  const MatrixView<const double>& radii = asked.radius;
  if ((radii.rows() != 1 && radii.rows() != m) || radii.cols() < 1)
    refuse(where, "the radii are [" + std::to_string(radii.rows()) + ", " + std::to_string(radii.cols()) +
                      "] for " + std::to_string(m) + " queries; give [1, r] for all or [m, r], r at least 1");
  for (std::int64_t q = 0; q < radii.rows(); ++q)
    for (std::int64_t r = 0; r < radii.cols(); ++r) {
      if (std::isnan(radii(q, r)))
        refuse(where, "radius " + std::to_string(r) + " of row " + std::to_string(q) +
                          " is NaN; every radius must be a number");
      if (r > 0 && radii(q, r) < radii(q, r - 1))
        refuse(where, "radius " + std::to_string(r) + " of row " + std::to_string(q) + " is " +
                          text_of(radii(q, r)) + ", below that before it; give radii that ascend");
    }
}

template <class Real>
std::vector<Real> bounds_of_counts(ShownBy shown, const CountRadii& asked, std::uint32_t threads) {
  const FloatGuard guard;
  const std::int64_t each = asked.radius.cols(), all = asked.radius.rows() * each;
  std::vector<Real> bounds(size(all));
  parallel_for(all, all * work_of_bound(shown.metric), threads, [&](std::int64_t i) {
    bounds[size(i)] = bound_of<Real>(shown, asked.radius(i / each, i % each), asked.strict);
  });
  return bounds;
}

template std::vector<float> bounds_of_counts(ShownBy, const CountRadii&, std::uint32_t);
template std::vector<double> bounds_of_counts(ShownBy, const CountRadii&, std::uint32_t);

void search_counts(const Index::State& index, QuerySet& queries, const CountRadii& asked,
                   const SearchOptions& options, CountSum& sum, Trace* trace) {
  const WholeSearch whole(index.device);
  check_checkpoint(sum.where(), *index.store, options);
  const std::vector<float> all = bounds_of_counts<float>(index.shown, asked, options.threads);
  const MatrixView<const float> bounds(all.data(), asked.radius.rows(), asked.radius.cols());
  check_rows_left_out(sum.where(), index.store->rows(), queries.count(), options);
  queries.prepare(options.threads);
  if (trace) restart(*trace);
  if (queries.count() == 0) return;
  SearchOptions own = options;
  own.self.reset();
  const std::vector<float> unused(1);  // the request is for radii; bounds come beside it
  ListMerger nothing(index.store->buffers());
  SearchRequest request{queries, own, 0, std::span(unused)};
  request.parts = &nothing;
  PartCounts(index.shown, bounds, sum).visit(*index.store, request, trace);
  if (options.self) take_own_away(index, queries.rows().on_host(), *options.self, bounds, options, sum);
  if (trace) trace->plan.self = options.self;
  whole.tell(trace);
}

}  // namespace kith
