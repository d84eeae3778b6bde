// The queries of a search: their shape is checked at once, their values when the search is planned, by the
// device where they lie there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/rows_view.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/landed/query_rows.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows.hpp"

namespace kith {

class QuerySet {
 public:
  /// Queries of a caller, in memory of the host or of the device, which lives longer, as `schema` does.
  ///   where    the function that is called, for messages
  ///   largest  max |element| of the training rows here
  /// Throws what check_rows() and spi::Device::borrow() throw; invalid_argument: other columns than the rows.
  QuerySet(std::string_view where, const RowSchema& schema, float largest, const RowsView& given);
  /// Queries that are checked and prepared already.
  ///   largest  max |element| of these, or of more
  QuerySet(const RowsView& given, MatrixView<const float> rows, float largest)
      : given_(given), rows_(rows), largest_(largest), prepared_(true) {}
  /// So many queries of which only the number is known, for plans.
  QuerySet(const RowSchema& schema, std::int64_t count)
      : given_(nullptr, schema.element, count, schema.columns) {}
  QuerySet(const QuerySet&) = delete;
  QuerySet& operator=(const QuerySet&) = delete;

  /// Check and prepare the values, once.
  /// Throws what prepare_rows() and check_range() throw.
  void prepare(std::uint32_t threads);

  std::int64_t count() const { return given_.rows; }
  Element element() const { return given_.element; }
  bool is_prepared() const { return prepared_; }
  /// [m, columns]  as they were given, on the host, where they come from the device when it is first asked
  const RowsView& given() const { return on_device_ ? on_device_->given() : given_; }
  /// [m, dims]  as they are searched; of queries that are prepared
  const QueryRows& rows() const { return rows_; }
  /// max |element|; likewise
  float largest() const { return largest_; }
  /// Whether queries on the device are divided by their norms on the host.
  bool passes_host() const { return passes_host_; }

  /// Queries first, first + 1, ... of a set that is prepared, or of which only the number is known. Refers to
  /// this one, which brings its queries to the host.
  QuerySet slice(std::int64_t first, std::int64_t count) const;

 private:
  explicit QuerySet(const RowsView& given) : given_(given) {}
  bool is_in_range(float largest_of_rows) const;

  std::string_view where_;
  const RowSchema* schema_ = nullptr;
  float largest_of_rows_ = 0;
  std::optional<RowsToLand> on_device_;
  std::vector<unsigned char> copy_;
  RowsView given_;
  PreparedRows own_;
  QueryRows rows_;
  float largest_ = 0;
  bool prepared_ = false, passes_host_ = false;
};

}  // namespace kith
