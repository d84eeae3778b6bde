// Decides in which steps a proposer visits the training rows, and how long its lists are.
#pragma once

#include "plan/rules/plan_rules.hpp"

namespace kith {

/// The shortest list of candidates, and the number of its places for each neighbour.
inline constexpr std::int64_t fewest_places = 1024, places_a_neighbour = 32;

/// Sets visit_rows, seed_rows and candidates for matrix libraries, `dot`, and the kernels of a CPU.
void visit_blocks(const Problem& problem, const SearchOptions& options, Choice& choice);

/// Sets visit_rows, seed_rows, candidates, sample_rows, growth and query_tile for tensor cores.
void visit_fast(const KernelProfile& profile, const Problem& problem, const SearchOptions& options,
                Choice& choice);

}  // namespace kith
