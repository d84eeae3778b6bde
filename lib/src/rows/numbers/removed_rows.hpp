// Which rows of an Index are removed: blocks of bits, which snapshots share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kith {

/// A set of places of removed rows. Removing a row copies one block of bits and the list of blocks.
class RemovedRows {
 public:
  bool has(std::int64_t row) const;
  std::int64_t count() const { return count_; }

  /// Returns these rows together with `more`, which must be distinct and not yet removed.
  RemovedRows with(std::span<const std::int64_t> more) const;
  /// Clears the bits of removed rows.
  ///   words  a filter over all rows: bit t % 32 of word t / 32 belongs to row t
  void strike(std::span<std::uint32_t> words) const;

 private:
  static constexpr std::size_t words_a_block = 1024, bits_a_word = 32;
  using Block = std::array<std::uint32_t, words_a_block>;

  std::vector<std::shared_ptr<const Block>> blocks_;  ///< null or missing: no row of the block is removed
  std::int64_t count_ = 0;
};

}  // namespace kith
