// Ranks the rows that coarse rows propose: fine rows tell which of them may be near, and the chain ranks
// those, nearest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "certified/host_chains.hpp"
#include "search/picked/picked_queries.hpp"
#include "search/projected/coarse_lists.hpp"
#include "search/projected/projected_rows.hpp"

namespace kith {

/// What was proposed for some queries.
struct ProjectedLists {
  const PickedQueries& queries;
  std::int64_t first = 0, count = 0;       ///< those of the queries whose lists these are
  const Projected& projected;              ///< of all queries
  MatrixView<const std::uint32_t> filter;  ///< of all queries: one, one for each, or none
  ListedPlaces places;                     ///< [count]
  std::span<const float> low;              ///< Bounds::low of them
};

class ProjectedRanking {
 public:
  /// All arguments must outlive this.
  ProjectedRanking(const ResidentRows& index, const ProjectedRows& rows, const CoarseLists& coarse,
                   std::int64_t k, std::uint32_t threads);

  /// Ranks rows until no other listed row can be among the k nearest. Returns the nearest, [count, k],
  /// ascending and padded with no_key, valid until the next call.
  std::span<const Key> nearest(const ProjectedLists& lists);
  /// Returns how many chains the last call computed, of all queries.
  std::int64_t ranked() const { return ranked_; }
  /// Returns whether it took bytes for them.
  bool by_bytes() const { return query_bytes_.has_value(); }

 private:
  /// A listed place, and a number that is small if its row may be near.
  struct Entry {
    float low;
    std::uint32_t place;
  };

  void take_listed(const ProjectedLists& lists, std::int64_t i);
  void keep_near(const ProjectedLists& lists, std::int64_t i);
  void drop_far(const ProjectedLists& lists, std::int64_t i);
  void take_batch(std::int64_t i, std::size_t most);
  std::span<const Key> keys_of_bytes(const ProjectedLists& lists, const ListedPlaces& batch);
  bool rank_batch(const ProjectedLists& lists, std::size_t most);
  std::span<Entry> entries(std::int64_t i);
  std::span<Key> best(std::int64_t i);
  float bound(const ProjectedLists& lists, std::int64_t i, std::int64_t columns);

  const ResidentRows& index_;
  const ProjectedRows& rows_;
  const CoarseLists& coarse_;
  const std::size_t k_;
  const std::uint32_t threads_;
  HostChains chains_;
  std::optional<ByteRows> query_bytes_;         ///< if queries and rows are on one grid
  std::vector<Key> keys_;                       ///< of these
  std::size_t longest_ = 0;                     ///< list
  std::vector<Entry> entries_;                  ///< [count, longest]
  std::vector<std::size_t> left_;               ///< [count]  entries that are not ranked
  std::vector<std::uint32_t> batch_, lengths_;  ///< [count, most] and [count]  places that are ranked next
  std::vector<Key> best_;                       ///< [count, k]
  std::int64_t ranked_ = 0;
};

}  // namespace kith
