// 16 floats, one for each row of a training block: plain C++, for other architectures, and for processors
// without FMA instructions, where std::fma is a library call, which is correct but slow.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kith::cpu::KITH_ISA {
namespace {

struct Lanes {
  float v[16];
};
using Mask = std::uint32_t;  // one bit per lane

/// The most queries and accumulators of a tile. With calls of std::fma nothing stays in registers.
#if defined(FP_FAST_FMAF) || defined(__aarch64__)
constexpr int most_queries = 4, most_accumulators = 4;
#else
constexpr int most_queries = 1, most_accumulators = 1;
#endif
/// How many 64-bit numbers an instruction compares; 0: none does.
constexpr std::size_t key_lanes = 0;
/// Tiles are compiled for each number of dimensions up to this.
constexpr int most_fixed_dims = 0;

template <class Operation>
inline Lanes each(Operation operation) {
  Lanes result;
  for (int lane = 0; lane < 16; ++lane) result.v[lane] = operation(lane);
  return result;
}

inline Lanes load(const float* from) {
  return each([=](int lane) { return from[lane]; });
}
inline void store(float* to, const Lanes& a) {
  for (int lane = 0; lane < 16; ++lane) to[lane] = a.v[lane];
}
inline Lanes all(float value) {
  return each([=](int) { return value; });
}
inline Lanes operator+(const Lanes& a, const Lanes& b) {
  return each([&](int lane) { return a.v[lane] + b.v[lane]; });
}
inline Lanes operator-(const Lanes& a, const Lanes& b) {
  return each([&](int lane) { return a.v[lane] - b.v[lane]; });
}
inline Lanes operator*(const Lanes& a, const Lanes& b) {
  return each([&](int lane) { return a.v[lane] * b.v[lane]; });
}
inline Lanes operator-(const Lanes& a) {
  return each([&](int lane) { return -a.v[lane]; });
}
inline Lanes fma(const Lanes& a, const Lanes& b, const Lanes& c) {
  return each([&](int lane) { return std::fma(a.v[lane], b.v[lane], c.v[lane]); });
}
inline Lanes fabs(const Lanes& a) {
  return each([&](int lane) { return std::fabs(a.v[lane]); });
}
/// Does the same as std::fmax, for operands that are neither NaN nor zeros of different signs.
inline Lanes fmax(const Lanes& a, const Lanes& b) {
  return each([&](int lane) { return a.v[lane] > b.v[lane] ? a.v[lane] : b.v[lane]; });
}

inline std::uint32_t word(float lane) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &lane, sizeof bits);
  return bits;
}
/// Returns the number of bits of each pair that differ, as a float.
inline Lanes bits_apart(const Lanes& a, const Lanes& b) {
  return each(
      [&](int lane) { return static_cast<float>(__builtin_popcount(word(a.v[lane]) ^ word(b.v[lane]))); });
}
/// Returns the number of bits that are 1 in both of each pair, as a float.
inline Lanes ones_both(const Lanes& a, const Lanes& b) {
  return each(
      [&](int lane) { return static_cast<float>(__builtin_popcount(word(a.v[lane]) & word(b.v[lane]))); });
}

/// Returns the lanes that are numbers, and 0 where they are NaN.
inline Lanes known(const Lanes& a) {
  return each([&](int lane) { return a.v[lane] == a.v[lane] ? a.v[lane] : 0.0f; });
}
/// Returns 1 in lanes that are numbers, and 0 where they are NaN.
inline Lanes is_known(const Lanes& a) {
  return each([&](int lane) { return a.v[lane] == a.v[lane] ? 1.0f : 0.0f; });
}

/// Returns 1 in lanes that are above 0; others, which are 0 or NaN, as they are.
inline Lanes above_0(const Lanes& a) {
  return each([&](int lane) { return a.v[lane] > 0 ? 1.0f : a.v[lane]; });
}
inline Lanes root(const Lanes& a) {
  return each([&](int lane) { return __builtin_sqrtf(a.v[lane]); });
}
/// Returns a / b; 0 where b is 0.
inline Lanes quotient(const Lanes& a, const Lanes& b) {
  return each([&](int lane) { return b.v[lane] == 0 ? 0.0f : a.v[lane] / b.v[lane]; });
}

/// Returns the smaller of each pair; b if either is NaN.
inline Lanes fmin(const Lanes& a, const Lanes& b) {
  return each([&](int lane) { return a.v[lane] < b.v[lane] ? a.v[lane] : b.v[lane]; });
}
/// Returns the lanes that are not at least `threshold`: all of them if it is NaN.
inline Mask passes(const Lanes& values, float threshold) {
  Mask mask = 0;
  for (int lane = 0; lane < 16; ++lane) mask |= static_cast<Mask>(!(values.v[lane] >= threshold)) << lane;
  return mask;
}
/// Returns the lanes that are at most `bound`: none of them if it is NaN.
inline Mask at_most(const Lanes& values, float bound) {
  Mask mask = 0;
  for (int lane = 0; lane < 16; ++lane) mask |= static_cast<Mask>(values.v[lane] <= bound) << lane;
  return mask;
}
inline Mask either(Mask a, Mask b) {
  return a | b;
}
/// Returns one bit per lane.
inline std::uint32_t bits(Mask mask) {
  return mask;
}
inline bool any(Mask mask) {
  return mask != 0;
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
