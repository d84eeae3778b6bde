// Sorts few keys by their ranks; kernels_source.hpp includes this. The same restrictions hold as there.
//
// The rank of a key is how many of the others are smaller, and its place in the order. Each key is compared
// with all, several at once, without a branch that depends on them: a processor guesses half of those of
// other sorts wrong. It is the CPU's form of the selector rank_sort (docs/methods.md).
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Of more keys, a quick sort that has to find the smallest half alone takes less time.
constexpr std::size_t most_ranked = 96;

/// Keys that are compared at once, as signed numbers, and the vectors whose ranks are counted together, which
/// fit into the registers beside the ranks.
typedef long long KeyLanes __attribute__((vector_size(sizeof(long long) * (key_lanes > 0 ? key_lanes : 2))));
constexpr std::size_t key_vectors = 4, keys_at_once = key_vectors * sizeof(KeyLanes) / sizeof(long long);

bool sort_few(std::uint64_t* keys, std::size_t count) {
  if (key_lanes == 0 || count > most_ranked) return false;
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  alignas(64) long long signed_keys[most_ranked + keys_at_once], rank[most_ranked + keys_at_once];
  for (std::size_t i = 0; i < count; ++i) signed_keys[i] = static_cast<long long>(keys[i] ^ sign);
  for (std::size_t i = count; i < count + keys_at_once; ++i) signed_keys[i] = 0;  // their ranks are not used
  for (std::size_t first = 0; first < count; first += keys_at_once) {
    KeyLanes own[key_vectors], smaller[key_vectors];
    __builtin_memcpy(own, signed_keys + first, sizeof own);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < key_vectors; ++i) smaller[i] = KeyLanes{};
    for (std::size_t j = 0; j < count; ++j) {
      const KeyLanes other = KeyLanes{} + signed_keys[j];
#pragma GCC unroll 4
      for (std::size_t i = 0; i < key_vectors; ++i)
        smaller[i] -= reinterpret_cast<KeyLanes>(other < own[i]);  // -1 where it is
    }
    __builtin_memcpy(rank + first, smaller, sizeof smaller);
  }
  std::uint64_t sorted[most_ranked];
  for (std::size_t i = 0; i < count; ++i) sorted[rank[i]] = keys[i];
  __builtin_memcpy(keys, sorted, count * sizeof *keys);
  return true;
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
