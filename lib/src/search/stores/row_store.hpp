// The training rows of an Index, however they are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/lists/key_buffers.hpp"
#include "search/resident/search_request.hpp"
#include "search/stores/index_rows.hpp"

namespace kith {

/// What a store says of itself.
struct StoreInfo {
  Residence residence = Residence::resident;  ///< where the rows stay
  std::size_t bytes = 0;                      ///< of devices, as Index::memory_bytes()
  bool compact = true;                        ///< subset() of all places would change nothing
  std::uint64_t state = 0;                    ///< Source::state() of rows that pass; 0 where nobody knows
  Feedback feedback = {};                     ///< as Index::feedback()
};

class RowStore;
/// Searches a part of the rows: a store of its own, by a request of its own.
using VisitPart = std::function<void(const RowStore& part, const SearchRequest& request, Trace* trace)>;

/// Immutable, but for what searches make of the rows. Rows go by their places: 0, 1, ... Any number of
/// threads may search at once.
class RowStore {
 public:
  ///   largest  max |element| of all rows, those that are removed included; 0 of bits
  RowStore(std::int64_t rows, float largest) : rows_(rows), largest_(largest) {}
  virtual ~RowStore() = default;
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  std::int64_t rows() const { return rows_; }
  float largest() const { return largest_; }
  /// Memory that searches in parts use one after the other.
  KeyBuffers& buffers() const { return buffers_; }

  virtual StoreInfo info() const = 0;
  /// All rows on one device, where a search takes them as a whole; null: it takes each_part().
  virtual std::shared_ptr<const ResidentRows> resident(const SearchRequest& request) const = 0;
  /// Hand the rows to `visit` in parts, one after the other, or on a set of devices at the same time. Queries
  /// are prepared; `request` has no `self`.
  ///   trace  gets the sums of what the parts did; null: nobody asks
  virtual void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const = 0;
  /// What a search for the k nearest of m queries would do.
  virtual Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                    const Feedback& feedback) const = 0;
  /// Rows first ... first + count - 1 as they are searched, row-major.
  ///   to  [count, dims]  out
  virtual void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const = 0;
  /// These rows, and more behind them.
  ///   all  the schema of both
  virtual std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const = 0;
  /// The rows at these places alone, in memory of their own.
  ///   places  ascending, at least one
  virtual std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                                 std::span<const std::int64_t> places) const = 0;

 private:
  const std::int64_t rows_;
  const float largest_;
  mutable KeyBuffers buffers_;
};

}  // namespace kith
