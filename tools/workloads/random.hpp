// Makes random numbers that are the same on every machine. Each depends only on its number, so any thread can
// make any element of a set, in any order.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace kith::workloads {

/// Scrambles 64 bits, one to one, by the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
constexpr std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Returns number `count` of the series `seed`.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t count) {
  return scramble(seed + (count + 1) * 0x9E3779B97F4A7C15u);
}

/// Returns a uniform number in [0, 1) of 24 bits, exactly.
constexpr float uniform(std::uint64_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 40)) * 0x1p-24f;
}

/// Returns a nearly normal number with mean 0 and variance 1: the sum of four 16-bit uniforms, scaled once.
/// The sum is an integer, so the bits do not depend on a mathematical library.
constexpr float normal(std::uint64_t bits) {
  const auto part = [bits](int shift) { return static_cast<std::int32_t>((bits >> shift) & 0xFFFFu); };
  const std::int32_t sum = part(0) + part(16) + part(32) + part(48) - 2 * 0xFFFF;
  return static_cast<float>(sum) * 0x1.bb67aep-16f;  // sqrt(3) / 65536
}

/// Makes random decisions one after another.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : seed_(seed) {}

  constexpr std::uint64_t next() { return random_bits(seed_, count_++); }

  /// Returns 0 .. limit - 1; limit >= 1. The bias of the remainder is below limit / 2^64.
  constexpr std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
  }
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  constexpr bool one_in(std::int64_t count) { return below(count) == 0; }

  template <class T>
  constexpr T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<std::int64_t>(values.size()))];
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

}  // namespace kith::workloads
