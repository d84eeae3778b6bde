#include "rows/numbers/removed_rows.hpp"

#include <algorithm>

#include "base/numbers.hpp"

namespace kith {

bool RemovedRows::has(std::int64_t row) const {
  const std::size_t word = size(row) / bits_a_word, block = word / words_a_block;
  if (block >= blocks_.size() || !blocks_[block]) return false;
  return ((*blocks_[block])[word % words_a_block] >> size(row) % bits_a_word & 1u) != 0;
}

RemovedRows RemovedRows::with(std::span<const std::int64_t> more) const {
  RemovedRows grown = *this;
  std::vector<std::shared_ptr<Block>> own(blocks_.size());
  for (const std::int64_t row : more) {
    const std::size_t word = size(row) / bits_a_word, block = word / words_a_block;
    if (block >= own.size()) own.resize(block + 1);
    if (block >= grown.blocks_.size()) grown.blocks_.resize(block + 1);
    if (!own[block]) {
      own[block] =
          grown.blocks_[block] ? std::make_shared<Block>(*grown.blocks_[block]) : std::make_shared<Block>();
      grown.blocks_[block] = own[block];
    }
    (*own[block])[word % words_a_block] |= 1u << size(row) % bits_a_word;
  }
  grown.count_ += static_cast<std::int64_t>(more.size());
  return grown;
}

void RemovedRows::strike(std::span<std::uint32_t> words) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!blocks_[b]) continue;
    const std::size_t first = b * words_a_block;
    for (std::size_t w = first; w < std::min(first + words_a_block, words.size()); ++w)
      words[w] &= ~(*blocks_[b])[w - first];
  }
}

}  // namespace kith
