// Searches many groups in one step of the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "search/groups/row_groups.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/query_set.hpp"

namespace kith {

/// Groups first ... first + count - 1, whose rows are all in one chunk.
struct GroupRange {
  std::int64_t first = 0, count = 0;
  std::size_t chunk = 0;
};

/// Describes a search of groups. It refers to memory of others.
struct GroupsAsked {
  const Index::State& index;
  const RowGroups& groups;
  const std::vector<std::int64_t>& query_borders;
  std::int64_t k;
  const SearchOptions& options;

  RowRange queries(std::int64_t g) const {
    const std::int64_t first = query_borders[static_cast<std::size_t>(g)];
    return {first, query_borders[static_cast<std::size_t>(g) + 1] - first};
  }
  bool asks_itself() const { return options.self.has_value(); }
};

class GroupsTogether {
 public:
  /// All arguments must outlive this. Locks the device.
  GroupsTogether(const GroupsAsked& asked, const ResidentRows& rows);

  /// Returns why the device does not search groups in one step; empty if it does.
  static std::string refusal(const GroupsAsked& asked, const ResidentRows& rows);

  /// Returns whether a GPU searches groups by products, if there is room (docs/certificate.md, section 8).
  static bool multiplies(const GroupsAsked& asked, const ResidentRows& rows);

  /// Returns how many queries a step takes.
  static std::int64_t queries_of_step(const GroupsAsked& asked);

  /// Passes the answers of all queries of these groups to `sink`.
  ///   queries  all of the search, prepared
  ///   trace    is added to; null: not wanted
  void search(const GroupRange& range, const QuerySet& queries, AnswerSink& sink, Trace* trace) const;

 private:
  void search_tile(const GroupRange& range, const QuerySet& queries, RowRange tile, AnswerSink& sink,
                   Trace* trace) const;
  void put_tile(const spi::Grid<Key>& found, std::int64_t first, AnswerSink& sink, Trace* trace) const;
  spi::GroupsStep step(const GroupRange& range, RowRange tile) const;
  DeviceMemory scratch_of(const spi::GroupsStep& step, std::size_t held) const;

  const GroupsAsked& asked_;
  const ResidentRows& rows_;
  const std::shared_ptr<Device::State> state_;
  const std::shared_ptr<const DeviceMemory> row_borders_;
  const std::shared_ptr<const DeviceMemory> query_borders_;
};

}  // namespace kith
