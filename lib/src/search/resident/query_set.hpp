// Holds the queries of a search. Their shape is checked at once, their values when the search is planned, and
// on the device if they are there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/rows_view.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/queries/query_rows.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows.hpp"

namespace kith {

class QuerySet {
 public:
  /// Takes queries of a caller, in memory of the host or of the device, which must outlive this, as
  /// `schema` must.
  ///   where    the function that is called, for messages
  ///   largest  max |element| of the training rows here
  /// Throws what check_rows() and spi::Device::borrow() throw; invalid_argument: other columns than the rows.
  QuerySet(std::string_view where, const RowSchema& schema, float largest, const RowsView& given);
  /// Takes queries that were already checked and prepared.
  ///   largest  max |element| of these queries, or of more
  QuerySet(const RowsView& given, MatrixView<const float> rows, float largest)
      : given_(given), rows_(rows), largest_(largest), prepared_(true) {}
  /// Stands for `count` queries whose values are unknown, for plans.
  QuerySet(const RowSchema& schema, std::int64_t count)
      : given_(nullptr, schema.element, count, schema.columns) {}
  QuerySet(const QuerySet&) = delete;
  QuerySet& operator=(const QuerySet&) = delete;

  /// Checks and prepares the values, once. Throws what prepare_rows() and check_range() throw.
  ///   sent  takes them meanwhile, if they can_be_sent(); null: nobody does
  ///   grid  to which a device compares those that it has
  void prepare(std::uint32_t threads, std::shared_ptr<SentQueries> sent = nullptr, const ByteGrid& grid = {});
  /// Returns whether the values are still to be checked, on the host, and are sent as they are.
  bool can_be_sent() const;
  /// Forgets what was sent, whose memory another plan may need.
  void forget_sent();

  std::int64_t count() const { return given_.rows; }
  Element element() const { return given_.element; }
  bool is_prepared() const { return prepared_; }
  bool is_on_device() const { return on_device_.has_value(); }
  /// Returns the queries as given, [m, columns], on the host; the first call copies them from the device if
  /// they are there.
  const RowsView& given() const { return on_device_ ? on_device_->given() : given_; }
  /// Returns the prepared queries, [m, dims]; they must be prepared.
  const QueryRows& rows() const { return rows_; }
  /// Returns max |element|; the queries must be prepared.
  float largest() const { return largest_; }
  /// Returns whether queries on the device pass the host, which divides them by their norms.
  bool passes_host() const { return passes_host_; }

  /// Returns queries first, first + 1, ... of a set that is prepared, or whose values are unknown. The result
  /// refers to this set, which copies its queries to the host.
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
