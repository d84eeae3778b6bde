// Decides how a proposer visits the training rows: in which steps, and how long its lists are.
#pragma once

#include "plan/rules/plan_rules.hpp"

namespace kith {

/// The least length of a list of candidates, and its places for each neighbour.
inline constexpr std::int64_t fewest_places = 1024, places_a_neighbour = 32;

/// Sets visit_rows, seed_rows and candidates for the kernels of a CPU, those of `dot`, and matrix libraries.
void visit_blocks(const Problem& problem, const SearchOptions& options, Choice& choice);

/// Sets these, sample_rows, growth and query_tile for tensor cores.
void visit_fast(const KernelProfile& profile, const Problem& problem, const SearchOptions& options,
                Choice& choice);

}  // namespace kith
