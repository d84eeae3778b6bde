// What KNN in CUDA (Batlle, Ballber 2020) compares beside its versions, as tables.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/key.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/points.hpp"

namespace kith::experiments {

/// Returns the sequential programs in double and in float; their answers are checked.
///   right  kith's, of question_15
Table sequential_table(const Settings& settings, const Points& points, const workloads::Answer& right,
                       Result& result);

/// Copies of n points, 8 bytes each, and of ten times as many, through pageable and through pinned memory.
Table transfer_table(const Settings& settings, std::int64_t n);

/// Returns the vote by atomic additions and without branches, of 15 and of all neighbours; the counts
/// are checked.
///   nearest  keys, nearest first
Table vote_table(const Settings& settings, const Points& points, const std::vector<Key>& nearest,
                 Result& result);

}  // namespace kith::experiments
