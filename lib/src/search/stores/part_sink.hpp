// Where a search of rows in parts gathers what it finds.
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

/// Parts of one member of a set follow each other; those of different members come at the same time.
class PartSink {
 public:
  PartSink() = default;
  virtual ~PartSink() = default;
  PartSink(const PartSink&) = delete;
  PartSink& operator=(const PartSink&) = delete;

  /// What of `asked` is not searched yet, in pieces that do not overlap: by queries, then by rows.
  virtual std::vector<SearchPiece> left(const SearchPiece& asked) const { return {asked}; }
  /// Values of the nearest rows so far of the queries of `part`.
  ///   room  memory that the result may refer to
  virtual FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const = 0;
  /// Keys whose memory may be used for the next part.
  virtual Keys buffer() { return {}; }
  /// What was found in `part`, of so many rows, by places there.
  virtual void take(const SearchRequest& part, std::int64_t rows, Keys keys) = 0;
  /// The same of a search within radii.
  virtual void take_within(const SearchRequest& part, RadiusKeys keys) = 0;
};

/// Merges the lists of parts, in memory alone.
class ListMerger final : public PartSink {
 public:
  explicit ListMerger(KeyBuffers& buffers) : buffers_(buffers) {}

  FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const override;
  Keys buffer() override { return buffers_.take(); }
  void take(const SearchRequest& part, std::int64_t rows, Keys keys) override;
  void take_within(const SearchRequest& part, RadiusKeys keys) override;

  /// The lists of all queries. At least one part was taken.
  Keys keys();
  RadiusKeys within();

 private:
  /// What one member found.
  struct Found {
    std::int64_t first_query = 0;
    Keys keys;
    std::vector<RadiusKeys> within;
  };
  Found& found_of(const SearchRequest& part);
  bool share_queries() const;

  KeyBuffers& buffers_;
  mutable std::mutex mutex_;  // around the map, whose elements are those of one thread each
  std::map<std::size_t, Found> members_;
};

}  // namespace kith
