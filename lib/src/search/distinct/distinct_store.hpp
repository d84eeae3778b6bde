// Stores equal rows once. docs/howto/repeated-rows.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rows/copies/row_copies.hpp"
#include "search/distinct/distinct_filter.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

/// Makes a store of rows of the caller.
using MakeStore = std::function<std::shared_ptr<const RowStore>(const RowsForIndex& rows)>;

/// Keeps distinct rows in another store. A search finds the nearest of these, and lists the copies of each.
class DistinctStore final : public RowStore {
 public:
  ///   rows     the distinct rows
  ///   reserve  IndexOptions::reserve
  DistinctStore(const RowSchema& schema, std::shared_ptr<const RowStore> rows, RowCopies copies,
                std::int64_t reserve);

  /// Returns which rows of the caller are copies of others; none if they are on a device.
  static RowCopies copies_among(const RowsForIndex& given);
  /// Stores the distinct rows among `given` by `make`.
  ///   first  the training row that the first of them becomes
  /// Throws what `make` throws for all rows, so that messages name rows by their numbers.
  static std::shared_ptr<const RowStore> stored(const RowsForIndex& given, const RowCopies& copies,
                                                std::int64_t first, const MakeStore& make);

  StoreInfo info() const override { return rows_->info(); }
  bool merges_rows() const override { return true; }
  std::shared_ptr<const ResidentRows> resident(const SearchRequest&) const override { return nullptr; }
  void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const override;
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
            const Feedback& feedback) const override;
  void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const override;
  std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                         std::span<const std::int64_t> places) const override;

 private:
  std::int64_t searched_for(std::int64_t k, const DistinctFilter& filter) const;
  void find_nearest(const SearchRequest& request, const SearchRequest& distinct, const DistinctFilter& filter,
                    const VisitPart& visit, Trace* trace) const;
  void find_within(const SearchRequest& request, const SearchRequest& distinct, const DistinctFilter& filter,
                   const VisitPart& visit, Trace* trace) const;
  std::vector<std::int64_t> list_all(const Keys& found, const DistinctFilter& filter, Keys& keys) const;
  void list_open(const SearchRequest& distinct, const DistinctFilter& filter,
                 const std::vector<std::int64_t>& open, Keys& keys, const VisitPart& visit,
                 Trace* trace) const;
  std::vector<float> rows_of(std::span<const std::int64_t> distinct, std::uint32_t threads) const;

  const ShownBy shown_;
  const std::int64_t dims_, reserve_;
  const std::shared_ptr<const RowStore> rows_;
  const RowCopies copies_;
};

/// Returns whether the store lists copies of distinct rows.
bool keeps_distinct_rows(const RowStore& store);

}  // namespace kith
