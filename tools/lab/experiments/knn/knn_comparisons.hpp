// Makes the other comparisons of KNN in CUDA (Batlle, Ballber 2020), besides those of its versions.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/key.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/points.hpp"

namespace kith::experiments {

/// Times the sequential programs in double and in float, and checks their answers.
///   right  kith's answer to question_15
Table sequential_table(const Settings& settings, const Points& points, const workloads::Answer& right,
                       Result& result);

/// Times copies of n points, 8 bytes each, and of ten times as many, through pageable and through
/// pinned memory.
Table transfer_table(const Settings& settings, std::int64_t n);

/// Times the vote by atomic additions and without branches, of 15 and of all neighbours, and checks
/// the counts.
///   nearest  keys, nearest first
Table vote_table(const Settings& settings, const Points& points, const std::vector<Key>& nearest,
                 Result& result);

}  // namespace kith::experiments
