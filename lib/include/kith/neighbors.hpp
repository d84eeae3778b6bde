// Declares the results of searches.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/choices.hpp"
#include "kith/cxx20.hpp"

namespace kith {

/// Holds the k nearest training rows of each query: nearest first, and among equally near ones the smaller
/// row first. For l2 the order is that before the root, so that the nearer row is first even if both
/// distances are rounded to the same number. With fewer than k candidates a list is padded with
/// (+infinity, -1). Distances have the arithmetic of the Index: one of the two vectors is empty.
struct Neighbors {
  std::int64_t queries = 0;  ///< m
  std::int64_t k = 0;
  std::vector<float> distance;              ///< [m, k], row-major, finished: as metrics.def defines them
  std::vector<std::int64_t> row;            ///< [m, k], training rows, 0-based; -1 if there is none
  Arithmetic arithmetic = Arithmetic::f32;  ///< f32, or f64: then distances are in `distance64`
  std::vector<double> distance64 = {};      ///< [m, k], as `distance`

  bool operator==(const Neighbors&) const = default;
};

/// Holds all training rows within a radius of each query: nearest first, and among equally near ones the
/// smaller row first, as in Neighbors. Those of query q are at first[q] ... first[q + 1] - 1.
struct RadiusNeighbors {
  std::int64_t queries = 0;                 ///< m
  std::vector<std::int64_t> first;          ///< [m + 1], first[0] = 0
  std::vector<float> distance;              ///< [first[m]], finished
  std::vector<std::int64_t> row;            ///< [first[m]], training rows
  Arithmetic arithmetic = Arithmetic::f32;  ///< as in Neighbors
  std::vector<double> distance64 = {};      ///< [first[m]], as `distance`

  std::int64_t count(std::int64_t q) const {
    return first[static_cast<std::size_t>(q) + 1] - first[static_cast<std::size_t>(q)];
  }
  bool operator==(const RadiusNeighbors&) const = default;
};

}  // namespace kith
