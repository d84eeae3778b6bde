// Training rows that no single device holds as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kith/keys.hpp"
#include "kith/plan.hpp"
#include "kith/rows_view.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/checked_queries.hpp"
#include "search/device_memory/index_rows.hpp"
#include "search/search.hpp"

namespace kith {

/// What a search asks of rows, before it is known how they lie.
struct AskedOfRows {
  const RowsView& queries;                  ///< [m, columns], as given
  const MatrixView<const float>* prepared;  ///< the same as they are searched; null: not made yet
  std::optional<std::int64_t> k;            ///< nothing: all within radii
  const PlanOptions& options;               ///< by place
};

/// Rows as one Index in chunks, and how it is searched.
struct AsOne {
  std::shared_ptr<const Index::State> index;
  PlanOptions options;
};

/// Rows of an Index that lie in parts: members of a set hold one each, or chunks pass through one device. The
/// Index itself has their numbers, and which of them are removed. So here rows go by place, options too, and
/// keys name places. Any number of threads may search at once. Immutable: with() and of() make others.
class PartedRows {
 public:
  PartedRows() = default;
  virtual ~PartedRows() = default;
  PartedRows(const PartedRows&) = delete;
  PartedRows& operator=(const PartedRows&) = delete;

  /// The rows as one Index, of the same places and numbers, where a single device can search them as such;
  /// nothing: it cannot, and search_keys() or within_keys() does.
  virtual std::optional<AsOne> as_one(const Index::State& whole, const AskedOfRows& asked) const {
    static_cast<void>(whole);
    static_cast<void>(asked);
    return std::nullopt;
  }

  /// [m, k] keys, padded where fewer rows count; none where queries.kept takes them. All is checked already.
  ///   whole    the Index of these rows
  ///   options  by place, without `self`
  ///   trace    restarted already; total_seconds is the caller's to set
  virtual Keys search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                           const PlanOptions& options, Trace* trace) const = 0;
  /// Likewise all within radii, [1 or m].
  virtual RadiusKeys within_keys(const Index::State& whole, const CheckedQueries& queries,
                                 std::span<const float> radii, const PlanOptions& options,
                                 Trace* trace) const = 0;
  /// Keys that are no longer needed, whose memory a later search may use.
  virtual void take_back(Keys&&) const {}

  /// As Index::plan(), prepare() and feedback() do.
  virtual Plan plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
                    const Feedback& feedback) const = 0;
  virtual void prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
                       const PlanOptions& options) const = 0;
  virtual Feedback feedback() const = 0;
  /// max |element| of all rows, those that are removed included; 0 of bits.
  virtual float largest_element() const = 0;
  /// Where the rows stay.
  virtual Residence residence() const { return Residence::resident; }
  /// Of devices, as Index::memory_bytes().
  virtual std::size_t memory_bytes() const = 0;

  /// Source::state() of the rows that pass; 0 where nobody knows.
  virtual std::uint64_t state() const { return 0; }
  /// Rows first ... first + count - 1 as they are searched, row-major.
  ///   to  [count, dims]  out
  virtual void read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const = 0;
  /// These rows, and more behind them, as a caller has them; null: with() takes them prepared.
  ///   whole  as for with()
  virtual std::shared_ptr<const PartedRows> with_as_they_are(const Index::State& whole,
                                                             const RowsForIndex& more) const {
    static_cast<void>(whole);
    static_cast<void>(more);
    return nullptr;
  }
  /// All rows as floats, in chunks on one device; none: they have no room, or no single device. Asked where
  /// with() returns null: more rows are put behind these.
  virtual std::vector<Chunk> as_chunks(const Index::State& whole) const {
    static_cast<void>(whole);
    return {};
  }
  /// These rows, and more behind them.
  ///   whole  the Index of all of them, but for its rows: metric, columns and largest element
  ///   more   prepared
  ///   returns  null: these rows are not of a kind with them; as_chunks() has them then
  virtual std::shared_ptr<const PartedRows> with(const Index::State& whole, MatrixView<const float> more,
                                                 std::uint32_t threads) const = 0;
  /// The rows at these places alone, in memory of their own.
  ///   places  ascending, at least one
  virtual std::shared_ptr<const PartedRows> of(const Index::State& whole,
                                               std::span<const std::int64_t> places) const = 0;
  /// Whether of() of all places would change nothing.
  virtual bool is_compact() const = 0;
};

/// Rows in parts as one Index of `rows` rows, without its chunks and what a sample of them tells.
///   whole  the Index of them
///   made   of these rows, by searches
std::shared_ptr<Index::State> one_of_parts(const Index::State& whole, std::int64_t rows, float largest,
                                           std::shared_ptr<MadeOfRows> made);
/// Such an Index, the numbers of whose rows are their places: what search_keys() and within_keys() go by.
std::shared_ptr<const Index::State> by_places(const Index::State& one);

/// search_to() of such an Index.
void search_parted(const Index::State& index, const RowsView& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace, const MakeRoom& make_room);
/// The same, once all is checked.
void search_parted(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace, const MakeRoom& make_room);
/// Keys of all rows within radii, by their places; `options` by place, `self` heeded.
RadiusKeys within_parted(const Index::State& index, const RowsView& queries, std::span<const float> radii,
                         const PlanOptions& options, Trace* trace);
RadiusKeys within_parted(const Index::State& index, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options, Trace* trace);

}  // namespace kith
