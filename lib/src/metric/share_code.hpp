// Codes of quotients of whole numbers, for rows of so many bits that different quotients become one float.
// Codes are floats below 0, in the order of the quotients (docs/contract.md, section 1).
#pragma once

#include <bit>
#include <cstdint>

#include "kith/metric.hpp"

namespace kith {

/// The most bits of rows with codes: two quotients of at most so many differ by a step of the codes or more.
inline constexpr std::int64_t most_coded_bits = 46250;

/// The code of 1, counted from that of 0.
inline constexpr std::uint64_t last_share_code = 0x7F7FFFFE;
static_assert(most_coded_bits * most_coded_bits < static_cast<std::int64_t>(last_share_code));

/// Is share_code() of metrics.def.
inline float share_code(float p, float q) {
  const auto code =
      p == 0 ? 0 : static_cast<std::uint64_t>(p) * last_share_code / static_cast<std::uint64_t>(q);
  return std::bit_cast<float>(0xFF7FFFFFu - static_cast<std::uint32_t>(code));
}

/// Returns the distance by `metric`, one of those with codes, of a pair whose raw value is the code `value`.
float share_of_code(Metric metric, float value);

}  // namespace kith
