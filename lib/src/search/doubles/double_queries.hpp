// The queries of a search in double precision, and the floats near them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kith/matrix_view.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/doubles/rounded_rows.hpp"
#include "rows/landed/moved_rows.hpp"
#include "search/doubles/double_bounds.hpp"
#include "search/doubles/double_index.hpp"

namespace kith {

class DoubleQueries {
 public:
  ///   index  in double precision; must outlive this
  ///   given  of any element but bits, on the host or on the device of the Index; must outlive this
  /// Throws invalid_argument: other columns than the rows, and as prepare_doubles() and check_range() do.
  DoubleQueries(std::string_view where, const Index::State& index, const RowsView& given,
                const SearchOptions& options);

  /// Takes rows that are prepared already. Throws what check_range() throws.
  DoubleQueries(std::string_view where, const Index::State& index, PreparedDoubles rows,
                std::uint32_t threads)
      : DoubleQueries(where, index, Checked{nullptr, {}, std::move(rows)}, threads) {}

  std::int64_t count() const { return doubles_.rows; }
  MatrixView<const double> doubles() const { return doubles_.view(); }
  MatrixView<const float> floats() const { return {floats_.values.data(), doubles_.rows, doubles_.dims}; }

  /// Returns a number that the chain of floats exceeds for no row whose chain of doubles with query q is at
  /// most `value`. It is infinite for a query that is too far away to be a row of floats.
  float bound(std::int64_t q, double value) const;

 private:
  struct Checked {
    std::unique_ptr<const MovedRows> moved;  ///< `rows` may refer to it,
    std::vector<unsigned char> copy;         ///< or to this, of rows on a device
    PreparedDoubles rows;
  };
  static Checked checked(std::string_view where, const Index::State& index, const RowsView& given,
                         const SearchOptions& options);
  DoubleQueries(std::string_view where, const Index::State& index, Checked checked, std::uint32_t threads);

  const std::unique_ptr<const MovedRows> moved_;
  const std::vector<unsigned char> copy_;
  const PreparedDoubles doubles_;
  const Rounding how_;
  const RoundedRows floats_;
  const DoubleBounds bounds_;
};

}  // namespace kith
