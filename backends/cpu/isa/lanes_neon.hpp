// 16 floats, one for each row of a training block: NEON, four registers. Every AArch64 processor has it. Only
// kernels_neon.cpp includes this, so that it stays in one object file.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace kith::cpu::KITH_ISA {
namespace {

struct Lanes {
  float32x4_t v[4];
};
struct Mask {
  uint32x4_t v[4];  // all bits of a lane, or none
};

/// The most queries and accumulators of a tile: as many as fit into the 32 registers beside the operands.
constexpr int most_queries = 4, most_accumulators = 4;
/// How many 64-bit numbers an instruction compares; 0: too few to pay.
constexpr std::size_t key_lanes = 0;
/// Tiles are compiled for each number of dimensions up to this.
constexpr int most_fixed_dims = 4;

/// Returns what `operation` makes of each register.
template <class Registers, class Operation>
[[gnu::always_inline]] inline Registers of_each(Operation operation) {
  return {{operation(0), operation(1), operation(2), operation(3)}};
}

inline Lanes load(const float* from) {
  return of_each<Lanes>([=](int i) { return vld1q_f32(from + 4 * i); });
}
inline void store(float* to, Lanes a) {
  for (int i = 0; i < 4; ++i) vst1q_f32(to + 4 * i, a.v[i]);
}
inline Lanes all(float value) {
  const float32x4_t v = vdupq_n_f32(value);
  return {{v, v, v, v}};
}
inline Lanes operator+(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
inline Lanes operator-(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
inline Lanes operator*(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
inline Lanes operator-(Lanes a) {
  return of_each<Lanes>([&](int i) { return vnegq_f32(a.v[i]); });
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return of_each<Lanes>([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}
inline Lanes fabs(Lanes a) {
  return of_each<Lanes>([&](int i) { return vabsq_f32(a.v[i]); });
}
inline Lanes fmax(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return vbslq_f32(vcgtq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}

/// Returns the number of ones in each 32 bits, as a float.
inline float32x4_t count_bits(uint32x4_t words) {
  return vcvtq_f32_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(words)))));
}
inline uint32x4_t words(float32x4_t a) {
  return vreinterpretq_u32_f32(a);
}
/// Returns the number of bits of each pair that differ, as a float.
inline Lanes bits_apart(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return count_bits(veorq_u32(words(a.v[i]), words(b.v[i]))); });
}
/// Returns the number of bits that are 1 in both of each pair, as a float.
inline Lanes ones_both(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return count_bits(vandq_u32(words(a.v[i]), words(b.v[i]))); });
}

/// Returns the lanes of `a` whose mask is all bits, and 0 elsewhere.
inline float32x4_t where(uint32x4_t mask, float32x4_t a) {
  return vreinterpretq_f32_u32(vandq_u32(mask, words(a)));
}
/// Returns the lanes that are numbers, and 0 where they are NaN.
inline Lanes known(Lanes a) {
  return of_each<Lanes>([&](int i) { return where(vceqq_f32(a.v[i], a.v[i]), a.v[i]); });
}
/// Returns 1 in lanes that are numbers, and 0 where they are NaN.
inline Lanes is_known(Lanes a) {
  return of_each<Lanes>([&](int i) { return where(vceqq_f32(a.v[i], a.v[i]), vdupq_n_f32(1)); });
}

/// Returns 1 in lanes that are above 0; others, which are 0 or NaN, as they are.
inline Lanes above_0(Lanes a) {
  return of_each<Lanes>([&](int i) { return vbslq_f32(vcgtzq_f32(a.v[i]), vdupq_n_f32(1), a.v[i]); });
}
inline Lanes root(Lanes a) {
  return of_each<Lanes>([&](int i) { return vsqrtq_f32(a.v[i]); });
}
/// Returns a / b; 0 where b is 0.
inline Lanes quotient(Lanes a, Lanes b) {
  return of_each<Lanes>(
      [&](int i) { return where(vmvnq_u32(vceqzq_f32(b.v[i])), vdivq_f32(a.v[i], b.v[i])); });
}

/// Returns the smaller of each pair; b if either is NaN.
inline Lanes fmin(Lanes a, Lanes b) {
  return of_each<Lanes>([&](int i) { return vbslq_f32(vcltq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}
/// Returns the lanes that are not at least `threshold`: all of them if it is NaN.
inline Mask passes(Lanes values, float threshold) {
  const float32x4_t bound = vdupq_n_f32(threshold);
  return of_each<Mask>([&](int i) { return vmvnq_u32(vcgeq_f32(values.v[i], bound)); });
}
/// Returns the lanes that are at most `bound`: none of them if it is NaN.
inline Mask at_most(Lanes values, float bound) {
  const float32x4_t most = vdupq_n_f32(bound);
  return of_each<Mask>([&](int i) { return vcleq_f32(values.v[i], most); });
}
inline Mask either(Mask a, Mask b) {
  return of_each<Mask>([&](int i) { return vorrq_u32(a.v[i], b.v[i]); });
}
/// Returns one bit per lane.
inline std::uint32_t bits(Mask mask) {
  const uint32x4_t places = {1, 2, 4, 8};
  std::uint32_t all = 0;
  for (int i = 0; i < 4; ++i) all |= vaddvq_u32(vandq_u32(mask.v[i], places)) << 4 * i;
  return all;
}
inline bool any(Mask mask) {
  return vmaxvq_u32(vorrq_u32(vorrq_u32(mask.v[0], mask.v[1]), vorrq_u32(mask.v[2], mask.v[3]))) != 0;
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
