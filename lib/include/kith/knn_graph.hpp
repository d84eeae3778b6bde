// Finds the nearest rows of every row (all-kNN), from which clustering, embeddings and outlier scores start.
#pragma once

#include <cstdint>

#include "kith/device.hpp"
#include "kith/device_neighbors.hpp"
#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/options.hpp"
#include "kith/rows_view.hpp"
#include "kith/trace.hpp"

namespace kith {

/// Finds the k rows nearest to each row, except itself, exactly: the graph whose edges go from row r to
/// Neighbors::row[r, 0 ... k - 1]. Returns the same bits as Index::search() of the rows with
/// SearchOptions::self = 0, and is right even if rows are equal.
///   rows           [n, dims]  on the host or the device, of any element (bits for metrics of bits), finite
///   index_options  for the Index that is searched: columns, a centre, the placement on a set of devices
///   returns        distance and row, both [n, k], nearest first, of equally near rows the smaller
///                  number first
/// Throws invalid_argument: no rows, k outside 1 ... n - 1, options.self, a NaN or infinity; and as Index and
///                          Index::search() do.
KITH_API Neighbors knn_graph(const Device& device, const RowsView& rows, std::int64_t k,
                             Metric metric = default_metric, const SearchOptions& options = {},
                             Trace* trace = nullptr, const IndexOptions& index_options = {});

/// Does the same into memory of the device: [n, k] each, complete when this returns. Rows on the device do
/// not pass through the host. Throws as Index::search_into() does, too.
KITH_API void knn_graph_into(const Device& device, const RowsView& rows, std::int64_t k,
                             const DeviceNeighbors& found, Metric metric = default_metric,
                             const SearchOptions& options = {}, Trace* trace = nullptr,
                             const IndexOptions& index_options = {});

}  // namespace kith
