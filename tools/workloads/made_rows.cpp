#include "workloads/made_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <vector>

namespace kith::workloads {
namespace {

/// Returns number `i` of the sequence of SplitMix64 (Steele, Lea, Flood 2014), in any order of calls.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/// Fills `to` from the endless sequence of bytes that `seed` defines, beginning at byte `first`. Each byte
/// depends on its number alone, so that any part can be made without the others.
void fill(std::uint64_t seed, std::uint64_t first, std::span<unsigned char> to) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  for (std::size_t at = 0; at < to.size();) {
    const std::uint64_t place = first + at, bits = mixed(seed, place / word);
    const std::size_t skipped = place % word, some = std::min(word - skipped, to.size() - at);
    if (std::endian::native == std::endian::little && some == word) {
      std::memcpy(to.data() + at, &bits, word);
      at += word;
      continue;
    }
    unsigned char bytes[word];
    for (std::size_t i = 0; i < word; ++i) bytes[i] = static_cast<unsigned char>(bits >> 8 * i);
    std::memcpy(to.data() + at, bytes + skipped, some);
    at += some;
  }
}

}  // namespace

void make_bytes(std::uint64_t seed, std::int64_t first, std::int64_t dims, std::span<unsigned char> to) {
  const std::uint64_t begin = static_cast<std::uint64_t>(first) * static_cast<std::uint64_t>(dims);
  const std::size_t team = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t share = (to.size() + team - 1) / team;
  std::vector<std::jthread> threads;
  for (std::size_t at = 0; at < to.size(); at += share)
    threads.emplace_back([=] { fill(seed, begin + at, to.subspan(at, std::min(share, to.size() - at))); });
}

}  // namespace kith::workloads
