#include "kith/knn.hpp"

#include "base/border.hpp"
#include "kith/index.hpp"
#include "plan/reasons.hpp"
#include "search/straight/straight_search.hpp"

namespace kith {

Neighbors knn(const Device& device, const RowsView& rows, const RowsView& queries, std::int64_t k,
              Metric metric, const SearchOptions& options, Trace* trace,
              const IndexOptions& index_options) try {
  Neighbors found;
  knn_into(device, rows, queries, k, found, metric, options, trace, index_options);
  return found;
} catch (...) {
  rethrow_as_error();
}

void knn_into(const Device& device, const RowsView& rows, const RowsView& queries, std::int64_t k,
              Neighbors& found, Metric metric, const SearchOptions& options, Trace* trace,
              const IndexOptions& index_options) try {
  NeighborsSink sink(ShownBy(metric), found);
  if (search_straight({device, rows, queries, k, metric, options, index_options}, sink, trace)) return;
  Index(device, rows, metric, index_options).search_into(queries, k, found, options, trace);
  if (trace) trace->plan.reason += reasons::index_for_once();
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
