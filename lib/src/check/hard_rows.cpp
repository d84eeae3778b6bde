#include "check/hard_rows.hpp"

#include <cmath>
#include <cstddef>

#include "kith/spi/product_error.hpp"

namespace kith {
namespace {

struct Numbers {
  int bits;     ///< binary digits of a fraction
  float huge;   ///< the large number beside fractions
  float level;  ///< size of numbers in sums that cancel
  float apart;  ///< difference of two such numbers
  float tiny;   ///< factor of fractions that makes products subnormal
};

Numbers numbers_of(Proposer proposer, DeviceKind device) {
  switch (proposer) {
    case Proposer::fp16:
      return {10, 8000.0f, 1000.0f, 1.0f, 0x1p-14f};
    case Proposer::int8:  // whole numbers up to 127, over 64; no product is subnormal, but 0 occurs
      if (device == DeviceKind::cpu)
        return {5, 0x1.f8p0f, 0x1.fp0f, 0x1p-5f, 0};  // even, since queries may be halved
      return {6, 0x1.fcp0f, 0x1.f8p0f, 0x1p-6f, 0};
    case Proposer::int4:  // whole numbers up to 7, over 4
      return {2, 1.75f, 1.5f, 0.25f, 0};
    case Proposer::bf16:
      return {7, 0x1p25f, 1000.0f, 8.0f, 0x1p-100f};
    default:
      return {23, 3.0e7f, 1000.0f, 0x1p-10f, 0x1p-130f};
  }
}

/// Rows of hard_cut begin with this element. Its square is 2^24, whose last place as a float is 2.
constexpr float cut_beside = 0x1p12f;

/// Returns the other elements of a row of sort `sort`.
float cut_element(std::uint32_t sort, int bits) {
  constexpr float hardly_anything = 0x1p-6f;
  if (sort + 1 == cut_sorts) return hardly_anything;
  const int extra = most_extra_places - static_cast<int>(sort);
  const double root = std::sqrt(std::ldexp(1.0, 1 - extra));
  int exponent = 0;
  const double fraction = std::frexp(root, &exponent);
  const double below = std::ceil(std::ldexp(fraction, bits + 1)) - 1;
  return static_cast<float>(std::ldexp(below, exponent - bits - 1));
}

float element(HardKind kind, const Numbers& numbers, float unit, std::size_t d, std::size_t dims) {
  switch (kind) {
    case hard_spread:
      return unit - 0.5f;
    case hard_huge:
      return d == dims * 3 / 5 ? numbers.huge : unit;
    case hard_cancels:
      return d % 2 ? numbers.level : -numbers.level - std::round(unit) * numbers.apart;
    case hard_subnormal:
      return unit * numbers.tiny;
    default:
      return 1.0f + std::ldexp(1.0f, -numbers.bits);
  }
}

}  // namespace

std::vector<float> hard_rows(Proposer proposer, DeviceKind device, std::uint32_t rows, std::uint32_t dims,
                             std::uint32_t salt) {
  const Numbers numbers = numbers_of(proposer, device);
  std::vector<float> values(std::size_t{rows} * dims);
  std::uint32_t state = 2463534242u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = std::ldexp(static_cast<float>(state >> (32 - numbers.bits)), -numbers.bits);
    const std::size_t row = i / dims, d = i % dims;
    const auto kind = static_cast<HardKind>(row % hard_kinds);
    if (kind != hard_cut)
      values[i] = element(kind, numbers, unit, d, dims);
    else if (spi::multiplies_bytes(
                 proposer))  // sums of bytes cut nothing: puts the largest beside the smallest
      values[i] = d == 0 ? numbers.huge : numbers.apart;
    else
      values[i] = d == 0 ? cut_beside : cut_element(row / hard_kinds % cut_sorts, numbers.bits);
  }
  return values;
}

}  // namespace kith
