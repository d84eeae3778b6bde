// Stores rows on the members of a set of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/lists/search_pieces.hpp"
#include "search/sets/shares.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

/// Names a range of all rows, on one member.
struct SetPart {
  std::size_t member = 0;
  RowRange places = {};  ///< range of its rows among all
  std::shared_ptr<const RowStore> rows;
};

/// Says which rows each member of a set holds.
struct SetLayout {
  Placement placement = Placement::split;   ///< never automatic
  std::vector<double> shares;               ///< [members], [members], with the sum 1
  std::vector<RowRange> rows;               ///< [members]  places; empty for a member without a share
  std::int64_t reserve = 0;                 ///< IndexOptions::reserve
  std::optional<bool> deduplicate = false;  ///< IndexOptions::deduplicate
};

/// Returns the layout of `count` rows, the first of which has the place `first`.
SetLayout set_layout(Placement placement, std::vector<double> shares, std::int64_t first, std::int64_t count);
/// Returns the layout of the `count` rows of a new Index. Throws as shares_of() does; invalid_argument: a
/// member would hold more rows than a device can.
SetLayout set_layout(const RowSchema& schema, Placement placement, std::span<const double> shares,
                     std::int64_t count);

/// Returns the schema of the rows of one member.
RowSchema schema_of_member(const RowSchema& set, std::size_t member);

/// Returns max |element| of rows that come from devices; 0 for bits.
float largest_element(std::span<const float> rows, Metric metric);

/// Makes the parts of `layout` by `make`, on all members at the same time.
std::vector<SetPart> make_parts(
    const RowSchema& schema, const SetLayout& layout,
    const std::function<std::shared_ptr<const RowStore>(const RowSchema& member, RowRange places)>& make);

class SetStore final : public RowStore {
 public:
  ///   set    the schema of the set whose members have the parts
  ///   parts  sorted by member, then by place
  SetStore(const RowSchema& set, SetLayout layout, std::vector<SetPart> parts, std::int64_t rows);

  std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                         std::span<const std::int64_t> places) const override;
  std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const override;
  void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  StoreInfo info() const override;
  std::shared_ptr<const ResidentRows> resident(const SearchRequest&) const override { return nullptr; }
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
            const Feedback& feedback) const override;
  /// Visits members at the same time, and the parts of each one after another.
  void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const override;

 private:
  /// Describes what one member does in a search.
  struct MemberShare {
    std::size_t member = 0;
    std::vector<const SetPart*> parts;
    std::int64_t rows = 0;  ///< rows of all its parts
    RowRange queries;
  };

  const SetPart& largest_part() const;
  std::vector<MemberShare> shares_of_search(std::int64_t m) const;
  void visit_member(const MemberShare& share, const SearchRequest& request, const SearchOptions& options,
                    const VisitPart& visit, Trace* trace, MemberTrace* told) const;
  void join_traces(const SearchRequest& request, const std::vector<Trace>& traces,
                   std::vector<MemberTrace> told, Trace& trace) const;
  Plan plan_of_whole(Plan of_part, std::int64_t m, std::int64_t k) const;
  std::vector<float> rows_at(std::span<const std::int64_t> places) const;

  const Device set_;
  const std::int64_t dims_;
  const SetLayout layout_;
  const std::vector<SetPart> parts_;
};

}  // namespace kith
