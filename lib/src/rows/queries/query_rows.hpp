// The queries of a search: on the host, or in device memory. Those in device memory are copied to the host
// only if somebody needs their values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/floats.hpp"
#include "device/device_state.hpp"
#include "device/host_buffer.hpp"
#include "kith/matrix_view.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/queries/sent_queries.hpp"

namespace kith {

/// Some queries, in memory of others, like a view. Copies of this object share what was copied to the host.
class QueryRows {
 public:
  QueryRows() = default;
  /// Refers to prepared queries on the host.
  ///   sent  all of them; null: they were not sent
  QueryRows(MatrixView<const float> rows, std::shared_ptr<SentQueries> sent = nullptr)
      : host_(rows), rows_(rows.rows()), cols_(rows.cols()), sent_(std::move(sent)) {}
  /// Refers to all of `there`, in device memory.
  explicit QueryRows(const RowsToLand& there) : there_(&there), rows_(there.rows()), cols_(there.dims()) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

  /// Returns what was sent to a device when these queries were checked; null: nothing, or not just these.
  SentQueries* sent() const { return sent_.get(); }

  /// Returns whether they are all on a grid, if that is known without a look at them.
  std::optional<bool> all_on(const ByteGrid& grid) const;

  QueryRows slice(std::int64_t first, std::int64_t count) const { return every(first, 1, count); }
  /// Returns `count` queries: first, first + step, ...
  QueryRows every(std::int64_t first, std::int64_t step, std::int64_t count) const;
  /// Returns the queries with these numbers, as contiguous rows.
  QueryRows chosen(const std::vector<std::int64_t>& numbers) const;

  /// Returns their values on the host. Queries on the device are copied there once, all of the search at a
  /// time. Locks the device.
  MatrixView<const float> on_host() const;
  /// Returns every `step`-th query on the host. Of queries on the device, only these are copied,
  /// unless they were chosen by their numbers.
  ///   to  memory of the view of such queries
  MatrixView<const float> sample(std::int64_t step, Floats& to) const;
  /// Writes them to device memory as RowBlocks of `block`. Locks the device.
  void put(Device::State& state, spi::Allocation& to, std::uint32_t block, std::uint32_t threads) const;
  /// Does the same, and may return earlier: see begin_upload().
  std::unique_ptr<HostBuffer> begin_to_put(Device::State& state, spi::Allocation& to, std::uint32_t block,
                                           std::uint32_t threads) const;

 private:
  void land(spi::Allocation& to, std::uint32_t block) const;
  /// Returns the number of query q among all of `there_`.
  std::int64_t number(std::int64_t q) const {
    const std::int64_t at = first_ + q * step_;
    return numbers_ ? (*numbers_)[static_cast<std::size_t>(at)] : at;
  }

  MatrixView<const float> host_;       ///< these rows; empty if they are on the device
  const RowsToLand* there_ = nullptr;  ///< the source of these rows; null: they are on the host
  std::int64_t first_ = 0, step_ = 1;  ///< within `numbers_`, or within all
  std::int64_t rows_ = 0, cols_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> numbers_;  ///< null: all of `there_`
  std::shared_ptr<SentQueries> sent_;
  mutable std::shared_ptr<const Floats> own_;  ///< chosen queries, once they are on the host
};

}  // namespace kith
