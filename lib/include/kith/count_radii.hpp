// Holds the radii within which rows are counted.
#pragma once

#include "kith/matrix_view.hpp"

namespace kith {

/// Says within which distances Index::count() and Index::two_point() count rows.
struct CountRadii {
  /// [1 or m, r], no NaN, ascending in each row; one row is for all queries. A list is one column: a radius
  /// for each query, or one for all.
  MatrixView<const double> radius;
  /// Counts rows whose distance is below a radius, and not those at the radius itself.
  bool strict = false;
};

}  // namespace kith
