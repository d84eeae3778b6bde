// A search of rows that pass which keeps what it finds: its threads, one a member of a set, add to one
// checkpoint.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "kith/keys.hpp"
#include "search/parted/checkpoint.hpp"

namespace kith {

class KeptSearch {
 public:
  /// Goes on from the file, where there is one. Throws what Checkpoint::read() throws.
  explicit KeptSearch(Checkpoint file);
  KeptSearch(const KeptSearch&) = delete;
  KeptSearch& operator=(const KeptSearch&) = delete;

  std::int64_t k() const { return file_.k(); }

  /// What of `asked` was not searched yet, in pieces that do not overlap: by queries, then by rows.
  std::vector<SearchPiece> left(const SearchPiece& asked) const;

  /// Values of the k nearest so far, [queries.count, k]; no_value where there are fewer.
  std::vector<std::uint32_t> values(const Stretch& queries) const;

  /// Take what was found in a piece that was left, and write the file.
  ///   keys  [piece.queries.count, k]  by the rows' places among all
  /// Throws what Checkpoint::write() throws.
  void add(const SearchPiece& piece, const Keys& keys);

  /// All that was found.
  Keys take();

 private:
  const Checkpoint file_;
  mutable std::mutex mutex_;       // around all below
  std::vector<SearchPiece> done_;  // joined
  Keys keys_;
};

}  // namespace kith
