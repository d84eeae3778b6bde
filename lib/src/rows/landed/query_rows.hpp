// Queries as a search takes them: on the host, or in memory of the device, from where they come to the host
// only if somebody asks for their values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/floats.hpp"
#include "device/device_state.hpp"
#include "kith/matrix_view.hpp"
#include "rows/landed/landed_rows.hpp"

namespace kith {

/// Refers to memory of others, as a view does. Copies share what came to the host.
class QueryRows {
 public:
  QueryRows() = default;
  /// Prepared, on the host.
  QueryRows(MatrixView<const float> rows) : host_(rows), rows_(rows.rows()), cols_(rows.cols()) {}
  /// All of `there`, in memory of the device.
  explicit QueryRows(const RowsToLand& there) : there_(&there), rows_(there.rows()), cols_(there.dims()) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

  QueryRows slice(std::int64_t first, std::int64_t count) const { return every(first, 1, count); }
  /// `count` queries: first, first + step, ...
  QueryRows every(std::int64_t first, std::int64_t step, std::int64_t count) const;
  /// The queries with these numbers, one behind the other.
  QueryRows chosen(const std::vector<std::int64_t>& numbers) const;

  /// Their values on the host. Of queries on the device all of the search come there once. Locks the device.
  MatrixView<const float> on_host() const;
  /// Every `step`-th of them on the host. Of queries on the device these alone come there.
  ///   to  is what the view of these refers to
  MatrixView<const float> sample(std::int64_t step, Floats& to) const;
  /// Write them to device memory as RowBlocks of `block`. Locks the device.
  void put(Device::State& state, spi::Allocation& to, std::uint32_t block, std::uint32_t threads) const;

 private:
  /// The number of query q among all of `there_`.
  std::int64_t number(std::int64_t q) const {
    const std::int64_t at = first_ + q * step_;
    return numbers_ ? (*numbers_)[static_cast<std::size_t>(at)] : at;
  }

  MatrixView<const float> host_;       ///< these rows; of none where they are on the device
  const RowsToLand* there_ = nullptr;  ///< of which these are some; null: they are on the host
  std::int64_t first_ = 0, step_ = 1;  ///< among `numbers_`, or all
  std::int64_t rows_ = 0, cols_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> numbers_;  ///< null: all of `there_`
  mutable std::shared_ptr<const Floats> own_;                 ///< chosen ones, once they are on the host
};

}  // namespace kith
