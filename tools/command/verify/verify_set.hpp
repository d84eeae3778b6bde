// The rows of files that `kith verify --train` searches, and an earlier answer to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/verify/verify.hpp"
#include "kith/neighbors.hpp"

namespace kith::command {

/// Rows of files, as they are searched.
struct WholeSet {
  Training training;
  Rows own_queries;
  std::vector<unsigned char> picked;  ///< where -m takes some of the queries
  RowsView queries;
  std::int64_t asked = 0;  ///< queries before -m took some
  std::int64_t k = 1;

  RowsView train() const { return training.rows.searched(); }
  bool is_double() const { return training.arithmetic == Arithmetic::f64; }
};

/// The right answer.
struct Expected {
  std::string name;
  Neighbors found;
  bool without_distances = false;  ///< only the rows of an earlier answer are known
};

/// Reads the rows and the queries, in the arithmetic that `kith search` would choose.
WholeSet read_set(const VerifyFlags& flags);

/// Reads the earlier answer to the queries that are searched. Its k becomes that of the search. Throws
/// invalid_argument: it has another shape, or distances of the other arithmetic.
Expected read_earlier(const VerifyFlags& flags, WholeSet& set);

}  // namespace kith::command
