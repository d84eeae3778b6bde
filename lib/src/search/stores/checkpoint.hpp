// Keeps what a streamed search has found so far in a file, from which the same search can continue on
// any device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kith/keys.hpp"
#include "kith/unstable/plan.hpp"
#include "search/lists/search_pieces.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

class Checkpoint {
 public:
  /// Holds digests of everything that decides an answer.
  struct Digests {
    std::uint64_t rows = 0;     ///< of their shape, Source::state(), and a sample of the prepared rows
    std::uint64_t queries = 0;  ///< of the prepared queries
    std::uint64_t options = 0;  ///< of metric, columns, k, filter
  };

  /// Names the file of a search for k by options.checkpoint. Computes the digests: reads a sample
  /// of the rows. Throws what Source::read() throws.
  ///   queries  are prepared
  ///   options  name rows by their places
  Checkpoint(const RowSchema& schema, const RowStore& store, MatrixView<const float> queries, std::int64_t k,
             const SearchOptions& options);

  struct Found {
    std::vector<SearchPiece> done;  ///< pieces that do not overlap
    Keys keys;
  };

  /// Reads the file. Returns nothing if there is none. Throws invalid_argument: it belongs to another search;
  /// bad_file: it is damaged, or no checkpoint.
  std::optional<Found> read() const;

  /// Replaces the file. Throws bad_file.
  void write(const std::vector<SearchPiece>& done, const Keys& keys) const;

  std::int64_t queries() const { return queries_; }
  std::int64_t k() const { return k_; }

 private:
  std::vector<SearchPiece> pieces_of(const unsigned char* bytes, std::size_t count) const;
  Keys keys_of(const unsigned char* bytes) const;

  const std::string path_;
  const Digests of_;
  const std::int64_t all_rows_, queries_, k_;
};

}  // namespace kith
