// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace kith {

constexpr std::uint64_t split_mix_step = 0x9E3779B97F4A7C15u;

/// Scrambles 64 bits, one to one: the output function of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t split_mix(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

/// The SplitMix64 generator, which draws 64 bits at a time.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() { return split_mix(state_ += split_mix_step); }

  /// Returns a number of 0 ... limit - 1, the remainder of a draw, for limit >= 1. Its bias is below limit
  /// / 2^64.
  constexpr std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

}  // namespace kith
