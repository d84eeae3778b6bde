// A search from the caller's queries to finished neighbours: what Index and Classifier share.
#pragma once

#include "kith/neighbors.hpp"
#include "search/pipeline.hpp"

namespace kith {

/// Check and prepare `queries`, search, and write distances and rows to `found`.
///   also  called for each query tile when it is in `found` and while its keys are on the device, without a
///         lock; may be empty. With `self` or a filter keys of rows that do not count are still among these
void search_with(const Index::State& index, MatrixView<const float> queries, std::int64_t k,
                 const PlanOptions& options, Trace* trace, Neighbors& found, const Take& also);

}  // namespace kith
