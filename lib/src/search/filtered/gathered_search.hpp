// Filters that keep few rows: these are put on the device once more, and searched alone.
#pragma once

#include <cstdint>

#include "kith/plan.hpp"
#include "search/search.hpp"

namespace kith {

/// Whether a search goes so: by one filter for all queries, which keeps few rows, and for so many queries
/// that reading the rows from the device is little beside comparing all of them.
///   options  by place
bool gathers(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options);

/// The plan for the rows that count alone.
Plan plan_gathered(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options);

/// search_to(). Returns false where there is no memory for the rows that count; then nothing was written.
bool search_gathered(const Index::State& index, const RowsView& queries, std::int64_t k,
                     const PlanOptions& options, Trace* trace, const MakeRoom& make_room, const Take& also);

}  // namespace kith
