// A search of rows that pass whose findings are kept in a file: the threads of a set add to one checkpoint.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "kith/keys.hpp"
#include "search/stores/checkpoint.hpp"
#include "search/stores/part_sink.hpp"

namespace kith {

class CheckpointedSearch final : public PartSink {
 public:
  /// Goes on from the file, where there is one. Throws what Checkpoint::read() throws.
  explicit CheckpointedSearch(Checkpoint file);

  std::vector<SearchPiece> left(const SearchPiece& asked) const override;
  FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const override;
  /// Writes the file. Throws what Checkpoint::write() throws.
  void take(const SearchRequest& part, std::int64_t rows, Keys keys) override;
  void take_within(const SearchRequest&, RadiusKeys) override {}  // which no checkpoint keeps

  /// All that was found.
  Keys keys();

 private:
  const Checkpoint file_;
  mutable std::mutex mutex_;       // around all below
  std::vector<SearchPiece> done_;  // joined
  Keys keys_;
};

}  // namespace kith
