// Declares RowStore, which keeps the training rows of an Index in one of several ways.
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

/// Describes a store.
struct StoreInfo {
  Residence residence = Residence::resident;  ///< where the rows stay
  std::size_t bytes = 0;                      ///< device memory, as Index::memory_bytes()
  bool compact = true;                        ///< subset() of all places would change nothing
  std::uint64_t state = 0;                    ///< Source::state() of streamed rows; 0 if unknown
  Feedback feedback = {};                     ///< as Index::feedback()
};

class RowStore;
/// Searches a part of the rows, which has its own store and request.
using VisitPart = std::function<void(const RowStore& part, const SearchRequest& request, Trace* trace)>;

/// Stores rows. It is immutable, except for what searches make of the rows. Rows are identified by their
/// places: 0, 1, ... Any number of threads may search at once.
class RowStore {
 public:
  ///   largest  max |element| of all rows, including removed ones; 0 for bits
  RowStore(std::int64_t rows, float largest) : rows_(rows), largest_(largest) {}
  virtual ~RowStore() = default;
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  std::int64_t rows() const { return rows_; }
  float largest() const { return largest_; }
  /// Returns memory that searches in parts use again.
  KeyBuffers& buffers() const { return buffers_; }

  virtual StoreInfo info() const = 0;
  /// Returns whether parts hold only one of several equal rows, so that only lists tell how many there are.
  virtual bool merges_rows() const { return false; }
  /// Returns all rows on one device if the search can take them as a whole; null if it must use each_part().
  virtual std::shared_ptr<const ResidentRows> resident(const SearchRequest& request) const = 0;
  /// Passes the rows to `visit` in parts, one after another, or on a set of devices at the same time. Queries
  /// must be prepared, and `request` must not have `self`.
  ///   trace  gets the sums over the parts; null: not wanted
  virtual void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const = 0;
  /// Returns the plan of a search for the k nearest rows of m queries.
  virtual Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                    const Feedback& feedback) const = 0;
  /// Reads rows first ... first + count - 1 as they are searched, row-major.
  ///   to  [count, dims]  out
  virtual void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const = 0;
  /// Returns a store of these rows, with more behind them.
  ///   all  the schema of all rows
  virtual std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const = 0;
  /// Returns a store with only the rows at these places, in separate memory.
  ///   places  ascending, at least one
  virtual std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                                 std::span<const std::int64_t> places) const = 0;

 private:
  const std::int64_t rows_;
  const float largest_;
  mutable KeyBuffers buffers_;
};

}  // namespace kith
