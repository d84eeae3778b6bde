// Finds the nearest of some rows once, without an Index that is kept.
#pragma once

#include <cstdint>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/options.hpp"
#include "kith/rows_view.hpp"
#include "kith/trace.hpp"

namespace kith {

/// Finds the k rows nearest to each query, exactly: with the bits of Index(device, rows, metric,
/// index_options).search(queries, k, options). On a CPU few queries are compared with the rows where
/// these lie, without a copy of all; else an Index is made, searched and forgotten. The plan of the trace
/// says which. For several searches of the same rows make an Index.
///   rows           [n, dims]  finite, on the host or the device, of any element (bits for metrics of bits)
///   queries        [m, dims]  finite, of any element
///   index_options  columns, a centre, the placement on a set of devices
///   returns        distance and row, both [m, k]: nearest first, and among equally near rows the smaller
///                  number first
/// Throws as Index and Index::search() do.
KITH_API Neighbors knn(const Device& device, const RowsView& rows, const RowsView& queries, std::int64_t k,
                       Metric metric = default_metric, const SearchOptions& options = {},
                       Trace* trace = nullptr, const IndexOptions& index_options = {});

/// Does the same into `found`, whose memory is reused. After an exception its content is undefined. No
/// part of it may be among the rows or the queries.
KITH_API void knn_into(const Device& device, const RowsView& rows, const RowsView& queries, std::int64_t k,
                       Neighbors& found, Metric metric = default_metric, const SearchOptions& options = {},
                       Trace* trace = nullptr, const IndexOptions& index_options = {});

}  // namespace kith
