#include "kith/knn_graph.hpp"

#include <string>

#include "base/border.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"

namespace kith {

namespace {

SearchOptions leaving_own_out(const SearchOptions& options) {
  if (options.self)
    throw Error(Errc::invalid_argument, "knn_graph: self = " + std::to_string(*options.self) +
                                            ", but each row is left out by itself already; leave self alone");
  SearchOptions way = options;
  way.self = 0;
  return way;
}

}  // namespace

Neighbors knn_graph(const Device& device, const RowsView& rows, std::int64_t k, Metric metric,
                    const SearchOptions& options, Trace* trace, const IndexOptions& index_options) try {
  const SearchOptions way = leaving_own_out(options);
  return Index(device, rows, metric, index_options).search(rows, k, way, trace);
} catch (...) {
  rethrow_as_error();
}

void knn_graph_into(const Device& device, const RowsView& rows, std::int64_t k, const DeviceNeighbors& found,
                    Metric metric, const SearchOptions& options, Trace* trace,
                    const IndexOptions& index_options) try {
  const SearchOptions way = leaving_own_out(options);
  Index(device, rows, metric, index_options).search_into(rows, k, found, way, trace);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
