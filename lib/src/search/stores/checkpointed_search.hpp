// Keeps the findings of a streamed search in a file; the threads of a set add to one checkpoint.
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
  /// Continues from the file, if there is one. Throws what Checkpoint::read() throws.
  explicit CheckpointedSearch(Checkpoint file);

  std::vector<SearchPiece> left(const SearchPiece& asked) const override;
  FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const override;
  /// Writes the file. Throws what Checkpoint::write() throws.
  void take(const SearchRequest& part, std::int64_t rows, Keys keys) override;
  void take_within(const SearchRequest&, RadiusKeys) override {}  // checkpoints do not keep radius searches

  /// Returns everything that was found.
  Keys keys();

 private:
  const Checkpoint file_;
  mutable std::mutex mutex_;       // guards all members below
  std::vector<SearchPiece> done_;  // by join_pieces()
  Keys keys_;
};

}  // namespace kith
