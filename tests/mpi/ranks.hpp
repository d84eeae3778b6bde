// Declares the devices of the ranks of kith_mpi_tests, and divides rows among them. A case is collective, so
// it uses CHECK: if a rank left by REQUIRE, the others would wait for it.
#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/data.hpp"
#include "common/parted/shards.hpp"
#include "kith/error.hpp"
#include "kith/filter.hpp"
#include "kith/mpi.hpp"

namespace kith::tests {

/// Returns the device of this rank.
const Device& my_device();

inline int rank() {
  int mine = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  return mine;
}

inline int ranks() {
  int all = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  return all;
}

/// Returns the name of a temporary file, the same on all ranks of this machine and different for
/// every mpirun.
inline std::string shared_path(const std::string& name) {
  unsigned number = rank() == 0 ? static_cast<unsigned>(std::random_device{}()) : 0u;
  MPI_Bcast(&number, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  return (std::filesystem::temp_directory_path() / (std::to_string(number) + name)).string();
}

/// Returns a random uneven part for each rank. With `one_empty` the last of several ranks has no rows.
inline std::vector<Part> parts_of(std::int64_t n, std::mt19937& random, bool one_empty = false) {
  const bool empty = one_empty && ranks() > 1;
  std::vector<Part> parts = uneven_parts(n, ranks() - (empty ? 1 : 0), random);
  if (empty) parts.push_back({n, 0});
  return parts;
}

/// Returns the rows of this rank.
inline RowsView mine_of(const Matrix& rows, const std::vector<Part>& parts) {
  const Part& part = parts[static_cast<std::size_t>(rank())];
  return RowsView(rows.view()).slice(part.first, part.rows);
}

/// Compares searches among every third row.
///   mine  the part of this rank
inline void check_filtered(const mpi::Index& shared, const Index& whole, const RowsView& queries,
                           std::int64_t k, const Part& mine) {
  std::vector<std::int64_t> counted;
  for (std::int64_t row = 0; row < whole.rows(); row += 3) counted.push_back(row);
  const RowFilter all = RowFilter::only(whole.rows(), counted), some = all.slice(mine.first, mine.rows);
  SearchOptions one, part;
  one.filter = all;
  part.filter = some;
  CHECK(shared.search(queries, k, part) == whole.search(queries, k, one));
}

/// Returns a label and a value for each of n rows.
inline std::pair<std::vector<std::int64_t>, std::vector<double>> answers_of(std::int64_t n) {
  std::pair<std::vector<std::int64_t>, std::vector<double>> answers;
  for (std::int64_t row = 0; row < n; ++row) {
    answers.first.push_back(row * row % 5);
    answers.second.push_back(static_cast<double>(row % 17) / 3);
  }
  return answers;
}

}  // namespace kith::tests
