// What an Index tells and prepares before a search: Index::plan(), prepare() and memory_bytes() of one State.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/plan.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// The plan of search_to(): options by place.
Plan plan_of(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options,
             const Feedback& feedback);

/// Make what a search by such a plan makes of the rows: options by place.
void prepare_for(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options);

Feedback feedback_of(const Index::State& index);

/// Device memory of the rows, and of what is made of them.
std::size_t memory_of(const Index::State& index);

}  // namespace kith
