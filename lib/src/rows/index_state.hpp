// The contents of an Index.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kith/index.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/numbers/numbers_on_device.hpp"
#include "rows/numbers/removed_rows.hpp"
#include "rows/numbers/row_numbers.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

class PreparedMetric;
class RowGroups;
class RowStore;
struct DoubleIndex;

/// The numbers of the rows of an Index, by their places.
struct RowNumbering {
  /// Returns the number of rows that are not removed.
  std::int64_t live() const { return rows - removed.count(); }
  /// Returns the places of rows that are not removed, ascending.
  std::vector<std::int64_t> live_places() const {
    std::vector<std::int64_t> places;
    places.reserve(static_cast<std::size_t>(live()));
    for (std::int64_t place = 0; place < rows; ++place)
      if (!removed.has(place)) places.push_back(place);
    return places;
  }

  std::int64_t rows = 0;  ///< number of places, including those of removed rows
  RowNumbers numbers;
  RemovedRows removed;
  std::int64_t first_row = 0;  ///< IndexOptions::first_row
};

struct Index::State : RowSchema, RowNumbering {
  explicit State(RowSchema schema) : RowSchema(std::move(schema)) {}
  /// Says in a plan by which metric distances are shown, if it is not that of the problem.
  void tell_metric(Plan& plan) const {
    if (shown.metric != plan.problem.metric) plan.shown = shown.metric;
  }

  std::shared_ptr<const RowStore> store;  ///< the rows; in double precision the floats that propose for them
  std::shared_ptr<const DoubleIndex> doubles;  ///< null: the Index computes in single precision
  Arithmetic arithmetic = Arithmetic::f32;     ///< f32 or f64
  std::shared_ptr<NumbersOnDevice> numbers_there = std::make_shared<NumbersOnDevice>(device.info());
  std::shared_ptr<const RowGroups> groups;  ///< IndexOptions::groups; null: none
  std::vector<double> shift;  ///< [columns] IndexOptions::centre, subtracted from all rows but a caller's
  std::shared_ptr<const PreparedMetric> prepared;  ///< changes all rows but a caller's; null: nothing does

  /// Sets `prepared`, and what follows from it: terms of columns, and how raw values are shown.
  void set_prepared(std::shared_ptr<const PreparedMetric> metric);
  /// Sets `box`, and its terms.
  void set_box(std::shared_ptr<const PeriodicBox> in);
};

}  // namespace kith
