// Inner products of signed bytes by the dot products of Armv8.2. Compiled with the flags of cpu.cmake.
//
// One instruction adds the four products of each of 4 lanes to sums of 32 bits. 4 queries by 16 rows are in
// registers at once.
#if defined(__aarch64__)
#define KITH_ISA bytes_neon
#include <arm_neon.h>

#include "cpu/steps/propose/propose.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Four dimensions of 16 rows, 4 rows in a register.
struct Bytes {
  int8x16_t v[4];
};
/// The sums of 16 rows, 32 bits each.
struct Sums {
  int32x4_t v[4];
};

constexpr std::size_t most_groups = 1;
constexpr std::size_t blocks_beside(std::size_t) {
  return 1;
}

inline Bytes load_bytes(const std::int8_t* at) {
  return {{vld1q_s8(at), vld1q_s8(at + 16), vld1q_s8(at + 32), vld1q_s8(at + 48)}};
}
inline Bytes repeated(int8x16_t v) {
  return {{v, v, v, v}};
}
inline Bytes repeat_byte(char byte) {
  return repeated(vdupq_n_s8(static_cast<std::int8_t>(byte)));
}
inline Bytes repeat_four(const std::int8_t* at) {
  std::int32_t bytes;
  __builtin_memcpy(&bytes, at, sizeof bytes);
  return repeated(vreinterpretq_s8_s32(vdupq_n_s32(bytes)));
}
/// Signed bytes are multiplied as they are.
constexpr std::int32_t added_to_rows = 0;
inline Bytes without_sign(Bytes bytes) {
  return bytes;
}
inline Sums all_sums(std::int32_t value) {
  const int32x4_t v = vdupq_n_s32(value);
  return {{v, v, v, v}};
}
inline void store_sums(std::int32_t* to, Sums sums) {
  for (int i = 0; i < 4; ++i) vst1q_s32(to + 4 * i, sums.v[i]);
}

/// Computes sums + rows * queries.
inline void add_products(Sums& sums, Bytes rows, Bytes queries) {
  for (int i = 0; i < 4; ++i) sums.v[i] = vdotq_s32(sums.v[i], rows.v[i], queries.v[i]);
}

/// Tests the products of a query with 16 training rows from `first` on.
inline void test(const Products& p, std::size_t q, std::size_t first, Sums sums) {
  if (q < p.query_begin || q >= p.query_end) return;
  const float32x4_t threshold = vdupq_n_f32(p.threshold[q * p.threshold_stride]),
                    unscale = vdupq_n_f32(p.unscale);
  const uint32x4_t lanes = {1, 2, 4, 8};
  alignas(64) float lows[16];
  std::uint32_t passed = 0;
  for (int i = 0; i < 4; ++i) {
    const float32x4_t place = vfmsq_f32(vld1q_f32(p.low + first + 4 * static_cast<std::size_t>(i)),
                                        vcvtq_f32_s32(sums.v[i]), unscale);
    vst1q_f32(lows + 4 * i, place);
    passed |= vaddvq_u32(vandq_u32(vcleq_f32(place, threshold), lanes)) << 4 * i;
  }
  passed &= present(p, first);
  if (__builtin_expect(passed != 0, 0)) append_candidates(p, q, first, passed, lows);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA

#include "cpu/isa/bytes_source.hpp"

namespace kith::cpu {

void propose_int8_neon(const Products& products) {
  KITH_ISA::propose_bytes(products);
}

}  // namespace kith::cpu
#endif
