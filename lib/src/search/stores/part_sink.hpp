// Declares PartSink, which collects what a search of rows in parts finds.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "certified/found_before.hpp"
#include "kith/keys.hpp"
#include "search/lists/key_buffers.hpp"
#include "search/lists/search_pieces.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Collects the results of parts. Parts of one member of a set come one after another, those of different
/// members at the same time.
class PartSink {
 public:
  PartSink() = default;
  virtual ~PartSink() = default;
  PartSink(const PartSink&) = delete;
  PartSink& operator=(const PartSink&) = delete;

  /// Returns the pieces of `asked` that are not searched yet. They do not overlap, and are sorted by queries,
  /// then by rows.
  virtual std::vector<SearchPiece> left(const SearchPiece& asked) const { return {asked}; }
  /// Returns the values of the nearest rows so far, for the queries of `part`.
  ///   room  memory that the result may refer to
  virtual FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const = 0;
  /// Returns keys whose memory may be used for the next part.
  virtual Keys buffer() { return {}; }
  /// Takes what was found in `part`, which has `rows` rows; keys have places in the part.
  virtual void take(const SearchRequest& part, std::int64_t rows, Keys keys) = 0;
  /// Takes what a radius search found in `part`.
  virtual void take_within(const SearchRequest& part, RadiusKeys keys) = 0;
};

/// Merges the lists of parts in memory.
class ListMerger final : public PartSink {
 public:
  explicit ListMerger(KeyBuffers& buffers) : buffers_(buffers) {}

  FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const override;
  Keys buffer() override { return buffers_.take(); }
  void take(const SearchRequest& part, std::int64_t rows, Keys keys) override;
  void take_within(const SearchRequest& part, RadiusKeys keys) override;

  /// Returns the lists of all queries. At least one part must have been taken.
  Keys keys();
  RadiusKeys within();

 private:
  /// Holds what one member found.
  struct Found {
    std::int64_t first_query = 0;
    Keys keys;
    std::vector<RadiusKeys> within;
  };
  Found& found_of(const SearchRequest& part);
  bool share_queries() const;

  KeyBuffers& buffers_;
  mutable std::mutex mutex_;  // guards the map; each element belongs to one thread
  std::map<std::size_t, Found> members_;
};

}  // namespace kith
