// Keeps what a streamed search has found so far in a file, from which the same search can continue on
// any device.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "kith/keys.hpp"
#include "kith/unstable/plan.hpp"
#include "search/lists/search_pieces.hpp"
#include "search/stores/part_sink.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

/// Keeps the findings of a search; the threads of a set add to one checkpoint.
class Checkpoint final : public PartSink {
 public:
  /// Continues from the file that options.checkpoint names, if there is one. Reads a sample of the rows.
  /// Throws invalid_argument: the file belongs to another search; bad_file: it is damaged, or no checkpoint;
  /// and what Source::read() throws.
  ///   queries  prepared
  ///   k        number of rows that are searched for
  ///   options  by place
  Checkpoint(const RowSchema& schema, const RowStore& store, MatrixView<const float> queries, std::int64_t k,
             const SearchOptions& options);

  std::vector<SearchPiece> left(const SearchPiece& asked) const override;
  FoundBefore known(const SearchRequest& part, std::vector<std::uint32_t>& room) const override;
  /// Replaces the file. Throws bad_file.
  void take(const SearchRequest& part, std::int64_t rows, Keys keys) override;
  void take_within(const SearchRequest&, RadiusKeys) override {}  // checkpoints do not keep radius searches

  /// Returns everything that was found.
  Keys keys();

  /// Holds digests of everything that decides an answer.
  struct Digests {
    std::uint64_t rows = 0;     ///< of their shape, Source::state(), and a sample of the prepared rows
    std::uint64_t queries = 0;  ///< of the prepared queries
    std::uint64_t options = 0;  ///< of metric, columns, k, filter
  };

 private:
  void read(const std::vector<unsigned char>& bytes);
  void read_pieces(const unsigned char* bytes, std::size_t count);
  void read_keys(const unsigned char* bytes);
  void write() const;

  const std::string path_;
  const Digests of_;
  const std::int64_t all_rows_;
  mutable std::mutex mutex_;       // guards all members below
  std::vector<SearchPiece> done_;  // by join_pieces(); they do not overlap
  Keys keys_;
};

}  // namespace kith
