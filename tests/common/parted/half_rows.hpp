// Makes indices of f16 and bf16 rows that stay in this form on the device, and indices of the same rows
// as floats.
#pragma once

#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "kith/index.hpp"

namespace kith::tests {

inline constexpr Element halves[] = {Element::f16, Element::bf16};

inline float value_of_half(Element element, std::uint32_t pattern) {
  const auto half = static_cast<std::uint16_t>(pattern);
  return element == Element::f16 ? value_of_f16(half) : value_of_bf16(half);
}

/// Returns numbers that the element type can hold. Every third row has values of all sizes, down to the
/// smallest; the others have only five values, so that distances tie.
inline Matrix rows_of_halves(std::int64_t rows, std::int64_t cols, Element element, std::uint64_t seed) {
  Matrix made{rows, cols, {}};
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto any = static_cast<std::uint32_t>(state >> 40);
    const std::uint32_t exponent = any >> 16 & 31;  // for bf16: 0, or near the exponent of 1
    const std::uint32_t pattern = element == Element::f16
                                      ? any & (any & 0x10000u ? 0x83FFu : 0xBBFFu)
                                      : (any & 0x807Fu) | (exponent ? 112 + exponent : 0) << 7;
    made.values.push_back(i / cols % 3 == 0 ? value_of_half(element, pattern)
                                            : static_cast<float>(any % 5) - 1.5f);
  }
  return made;
}

/// Returns the same device, but described with `memory` bytes: rows are kept as floats if they take at most
/// half of it.
inline Device device_of(std::size_t memory) {
  Device made = open_device(one_device().info().spec);
  made.state()->info.memory_bytes = memory;
  return made;
}

inline std::size_t bytes_of_floats(std::int64_t rows, std::int64_t cols) {
  return size(rows * cols) * sizeof(float);
}

/// Holds an index of halves with room for floats as well, one without, and one of floats.
struct HalvesAndFloats {
  Index roomy, crowded, floats;

  HalvesAndFloats(const Matrix& rows, Element element, Metric metric, const IndexOptions& options = {})
      : roomy(one_device(), Stored(rows, element).view(), metric, kept(options)),
        crowded(device_of(crowd(rows)), Stored(rows, element).view(), metric, kept(options)),
        floats(one_device(), rows, metric, options) {}

  static IndexOptions kept(IndexOptions options) {
    options.reserve = 1;
    return options;
  }
  /// Returns a memory size that is too small for all rows as floats, but enough for some of them at a time.
  static std::size_t crowd(const Matrix& rows) {
    return 2 * bytes_of_floats(rows.rows, rows.cols) - 2 * sizeof(float);
  }

  template <class Ask>
  void check(const Ask& ask) const {
    const auto expected = ask(floats);
    for (const Index* const index : {&roomy, &crowded}) {
      CAPTURE(index == &crowded);
      CHECK(ask(*index) == expected);
    }
  }
};

/// Returns whether the device can convert halves. The planted back end cannot, so its rows are floats
/// from the beginning.
inline bool lands_halves() {
  return device().info().backend != "planted";
}

}  // namespace kith::tests
