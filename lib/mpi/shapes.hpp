// Says which rows each rank has, and what follows for all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "communicator.hpp"
#include "kith/choices.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "kith/rows_view.hpp"

namespace kith::mpi {

/// Holds what a rank says about its rows.
struct Shape {
  std::int64_t rows = 0, cols = 0, first = -1, given = 0;
  Arithmetic arithmetic =
      Arithmetic::automatic;  ///< of its Index; automatic: it has no rows, and may be either
};

/// Returns the shapes of all ranks, rank after rank, on every rank.
std::vector<Shape> shapes_of(const Communicator& ranks, const Shape& mine);

/// Numbers the rows of ranks that gave no first_row, rank after rank. Throws invalid_argument: only some gave
/// one.
void number(std::vector<Shape>& shapes);

/// Refuses shapes that make no Index. Returns the number of rows of all ranks.
std::int64_t check_shapes(const std::vector<Shape>& shapes);

/// Returns the arithmetic of an Index of these rows; automatic if there are none and none is asked for.
Arithmetic arithmetic_of(const RowsView& rows, const IndexOptions& options);

/// Returns the arithmetic that all ranks with rows have. Throws invalid_argument: they differ.
Arithmetic common_arithmetic(const std::vector<Shape>& shapes);

/// Returns the centre of the rows of all ranks, which equals that of one Index, because sums are added in the
/// order of row numbers: each rank continues from the sums of the rank before.
std::vector<double> learned_centre(const Communicator& ranks, const std::vector<Shape>& shapes,
                                   const RowsView& my_rows);

}  // namespace kith::mpi
