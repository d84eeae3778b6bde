// Tiles of the class sums of a Structure: decided without data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/plan.hpp"

namespace kith {

/// What is to be computed, by tiles of samples (queries) and of samples (training rows).
struct SumsProblem {
  std::int64_t n = 0;        ///< samples
  std::int64_t dims = 0;     ///< columns that count
  std::int64_t classes = 0;  ///< 0: distances alone, without sums
};

struct SumsTiles {
  std::int64_t queries = 0, rows = 0;

  bool operator==(const SumsTiles&) const = default;
};

/// Floats of the sums of a sample and a class: smallest, high, low.
inline constexpr std::size_t floats_a_sum = 3;

/// Device bytes of `queries` samples and their sums.
std::size_t sums_bytes(const DeviceInfo& device, const SumsProblem& problem, std::int64_t queries);
/// Device bytes of a tile of distances.
std::size_t distances_bytes(const SumsTiles& tiles);

/// Tiles that fit `budget` bytes and single blocks of the device. options.query_tile and train_tile are taken
/// where they are given and fit. Many queries and few rows, since a step shares out queries.
/// Throws invalid_argument: options.query_tile or train_tile is negative.
///        out_of_memory:    not even one query and one row fit.
SumsTiles sums_tiles(const DeviceInfo& device, const SumsProblem& problem, std::size_t budget,
                     const PlanOptions& options);

}  // namespace kith
