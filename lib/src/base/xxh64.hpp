// XXH64 with seed 0, a checksum that shows whether bytes are still those that were written (Collet, "xxHash",
// 2012; github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
//
// It reads 32 bytes at a time; FNV-1a (checksum.hpp) needs a multiplication for each byte and is slower than
// disks. It detects accidental damage, but not a forgery.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kith {

class Xxh64 {
 public:
  static std::uint64_t of(const void* bytes, std::size_t size) {
    const auto* from = static_cast<const unsigned char*>(bytes);
    const unsigned char* const end = from + size;
    std::uint64_t sum = prime_5;
    if (size >= 32) {
      std::uint64_t lanes[4] = {prime_1 + prime_2, prime_2, 0, 0 - prime_1};
      for (; end - from >= 32; from += 32)
        for (std::size_t i = 0; i < 4; ++i) lanes[i] = round(lanes[i], word(from + 8 * i));
      sum =
          std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
      for (const std::uint64_t lane : lanes) sum = (sum ^ round(0, lane)) * prime_1 + prime_4;
    }
    sum += size;
    for (; end - from >= 8; from += 8) sum = std::rotl(sum ^ round(0, word(from)), 27) * prime_1 + prime_4;
    if (end - from >= 4) {
      std::uint32_t half = 0;
      std::memcpy(&half, from, sizeof half);
      sum = std::rotl(sum ^ (ordered(half) * prime_1), 23) * prime_2 + prime_3;
      from += 4;
    }
    for (; from < end; ++from) sum = std::rotl(sum ^ (*from * prime_5), 11) * prime_1;
    sum = (sum ^ (sum >> 33)) * prime_2;
    sum = (sum ^ (sum >> 29)) * prime_3;
    return sum ^ (sum >> 32);
  }

 private:
  static constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87u, prime_2 = 0xC2B2AE3D27D4EB4Fu,
                                 prime_3 = 0x165667B19E3779F9u, prime_4 = 0x85EBCA77C2B2AE63u,
                                 prime_5 = 0x27D4EB2F165667C5u;

  static std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
    return std::rotl(lane + input * prime_2, 31) * prime_1;
  }
  /// Reads bytes as little-endian numbers on every machine.
  static std::uint64_t ordered(std::uint32_t value) {
    return std::endian::native == std::endian::big ? __builtin_bswap32(value) : value;
  }
  static std::uint64_t word(const unsigned char* from) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return std::endian::native == std::endian::big ? __builtin_bswap64(value) : value;
  }
};

}  // namespace kith
