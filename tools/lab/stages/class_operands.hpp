// What the stages of filters and classes read beside distances and neighbours, from a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/stages/operations.hpp"

namespace kith::workloads {

/// Labels as places in the sorted list of all classes; a filter for each query, of those that leave out half,
/// most, few or whole words of rows; weights below 1, some of them 0.
struct ClassOperands {
  std::int64_t classes = 0;           ///< that occur
  std::vector<std::uint32_t> labels;  ///< [n]
  std::vector<std::uint32_t> filter;  ///< [m, ceil(n / 32)]
  std::vector<float> weights;         ///< [m, k]

  ClassOperands(std::uint64_t seed, const std::vector<std::int64_t>& labels_given, std::int64_t m,
                std::int64_t k);
  void put(Operation& operation, Operands& operands) const;
};

}  // namespace kith::workloads
