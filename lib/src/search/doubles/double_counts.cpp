// Counts rows within radii by an Index in double precision.

#include <algorithm>
#include <vector>

#include "base/numbers.hpp"
#include "kith/key.hpp"
#include "rows/row_filter.hpp"
#include "search/doubles/double_search.hpp"
#include "search/doubles/near_rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/lists/whole_search.hpp"
#include "search/stores/counts.hpp"

namespace kith {

void count_doubles(const Index::State& index, const DoubleQueries& queries, const CountRadii& asked,
                   const SearchOptions& options, CountSum& sum, Trace* trace) {
  const WholeSearch whole(index.device);
  check_rows_left_out(sum.where(), index.rows, queries.count(), options);
  const std::vector<double> bounds = bounds_of_counts<double>(index.shown, asked, options.threads);
  const std::size_t radii = size(asked.radius.cols());
  DoubleRanking ranking(index, options);
  const auto bounds_of = [&](std::int64_t q) {
    return std::span(bounds).subspan(asked.radius.rows() > 1 ? size(q) * radii : 0, radii);
  };
  OpenQueries all;
  for (std::int64_t q = 0; q < queries.count(); ++q) {
    all.numbers.push_back(q);
    all.bounds.push_back(queries.bound(q, bounds_of(q).back()));
  }
  if (trace) *trace = asked_like(*trace);
  std::vector<std::uint32_t> counts(radii);
  NearRows(index, queries, ranking, options, trace).each(all, [&](std::size_t i, auto list) {
    const auto q = static_cast<std::int64_t>(i);
    std::transform(bounds_of(q).begin(), bounds_of(q).end(), counts.begin(), [&](double bound) {
      const auto is_within = [&](const RankedRow& one) { return one.value <= ordered(bound); };
      return static_cast<std::uint32_t>(std::ranges::partition_point(list, is_within) - list.begin());
    });
    sum.add(q, {counts.data(), 1, static_cast<std::int64_t>(radii)});
  });
  if (trace) trace->plan.double_chains = ranking.ranker().said();
  whole.tell(trace);
}

}  // namespace kith
