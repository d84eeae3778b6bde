// How a proposer visits the training rows: in which steps, and how long the lists are.
#pragma once

#include "plan/rules/plan_rules.hpp"

namespace kith {

/// Places of a list of candidates, at least.
inline constexpr std::int64_t fewest_places = 1024, places_a_neighbour = 32;

/// The kernels of a CPU, those of `dot`, and matrix libraries: visit_rows, seed_rows, candidates.
void visit_blocks(const Problem& problem, const PlanOptions& options, Choice& choice);

/// Tensor cores: sample_rows, growth and query_tile, too.
void visit_fast(const KernelProfile& profile, const Problem& problem, const PlanOptions& options,
                Choice& choice);

}  // namespace kith
