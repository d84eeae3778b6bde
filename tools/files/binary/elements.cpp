#include "files/binary/elements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "files/printed.hpp"
#include "files/text/number.hpp"

namespace kith::files {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8:
    case ElementType::boolean:
      return 1;
    case ElementType::u16:
    case ElementType::i16:
    case ElementType::f16:
      return 2;
    case ElementType::u32:
    case ElementType::i32:
    case ElementType::f32:
      return 4;
    default:
      return 8;
  }
}

namespace {

struct Half {
  std::uint16_t bits;
};

/// Every half is a float32.
float widen(Half half) {
  const int sign = half.bits >> 15, exponent = half.bits >> 10 & 31, fraction = half.bits & 1023;
  float value = 0;
  if (exponent == 31)
    value = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(fraction), -24);
  else
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return sign ? -value : value;
}

template <class T>
T load(const unsigned char* from, bool swap) {
  std::array<unsigned char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

std::string refuse_float(double value, std::string_view advice) {
  if (std::isnan(value)) return why_not(Number::nan, {}) + std::string(or_missing);
  if (std::isinf(value)) return why_not(Number::infinite, {});
  return "holds " + shortest(value) + ", beyond the largest float32, 3.4e38; " + std::string(advice);
}

template <class T>
Block floats_from(const unsigned char* from, bool swap, std::size_t count, float* to, bool missing, bool wide,
                  std::string_view advice) {
  Block block;
  for (std::size_t i = 0; i < count; ++i) {
    const T element = load<T>(from + i * sizeof(T), swap);
    if constexpr (std::is_same_v<T, Half>)
      to[i] = widen(element);
    else
      to[i] = static_cast<float>(element);
    if constexpr (!std::is_integral_v<T>) {
      if (!std::isfinite(to[i])) {
        if (missing && std::isnan(to[i])) continue;
        if constexpr (std::is_same_v<T, double>)
          if (wide && std::isfinite(element)) continue;
        block.bad = i;
        if constexpr (std::is_same_v<T, Half>)
          block.why = refuse_float(to[i], advice);
        else
          block.why = refuse_float(element, advice);
        return block;
      }
    }
  }
  return block;
}

template <class T>
Block doubles_from(const unsigned char* from, bool swap, std::size_t count, double* to, bool missing) {
  for (std::size_t i = 0; i < count; ++i) {
    const T element = load<T>(from + i * sizeof(T), swap);
    if constexpr (std::is_same_v<T, Half>)
      to[i] = widen(element);
    else
      to[i] = static_cast<double>(element);
    if (!std::isfinite(to[i]) && !(missing && std::isnan(to[i])))
      return {i, why_not_wide(std::isnan(to[i]) ? Number::nan : Number::infinite, {})};
  }
  return {};
}

template <class T>
Block labels_from(const unsigned char* from, bool swap, std::size_t count, std::int64_t* to) {
  Block block;
  for (std::size_t i = 0; i < count; ++i) {
    const T element = load<T>(from + i * sizeof(T), swap);
    std::string why;
    if constexpr (std::is_integral_v<T>) {
      to[i] = static_cast<std::int64_t>(element);
      if (std::is_unsigned_v<T> && to[i] < 0)
        why = "holds " + std::to_string(element) + "; labels are at most 2^63 - 1";
    } else {
      double value = 0;
      if constexpr (std::is_same_v<T, Half>)
        value = widen(element);
      else
        value = element;
      if (!(std::fabs(value) <= 0x1p53 && value == std::trunc(value)))
        why = "holds " + shortest(value) + "; " + std::string(labels_are_whole);
      else
        to[i] = static_cast<std::int64_t>(value);
    }
    if (!why.empty()) {
      block.bad = i;
      block.why = std::move(why);
      return block;
    }
  }
  return block;
}

/// Calls `body` with a value of the type that `type` names.
template <class Body>
auto with_type(ElementType type, Body&& body) {
  switch (type) {
    case ElementType::u8:
    case ElementType::boolean:
      return body(std::uint8_t{});
    case ElementType::i8:
      return body(std::int8_t{});
    case ElementType::u16:
      return body(std::uint16_t{});
    case ElementType::i16:
      return body(std::int16_t{});
    case ElementType::u32:
      return body(std::uint32_t{});
    case ElementType::i32:
      return body(std::int32_t{});
    case ElementType::u64:
      return body(std::uint64_t{});
    case ElementType::i64:
      return body(std::int64_t{});
    case ElementType::f16:
      return body(Half{});
    case ElementType::f32:
      return body(float{});
    case ElementType::f64:
      break;
  }
  return body(double{});
}

bool must_swap(bool big_endian) {
  return big_endian != (std::endian::native == std::endian::big);
}

}  // namespace

Block to_floats(ElementType type, bool big_endian, const unsigned char* from, std::size_t count, float* to,
                bool missing, bool wide, std::string_view advice) {
  return with_type(type, [&](auto element) {
    return floats_from<decltype(element)>(from, must_swap(big_endian), count, to, missing, wide, advice);
  });
}

Block to_doubles(ElementType type, bool big_endian, const unsigned char* from, std::size_t count, double* to,
                 bool missing) {
  return with_type(type, [&](auto element) {
    return doubles_from<decltype(element)>(from, must_swap(big_endian), count, to, missing);
  });
}

std::optional<Element> floats_of(ElementType type) {
  if (type == ElementType::f16) return Element::f16;
  if (type == ElementType::f32) return Element::f32;
  if (type == ElementType::f64) return Element::f64;
  return std::nullopt;
}

std::string rounded_element(ElementType type, bool big_endian, const unsigned char* from) {
  return with_type(type, [&](auto element) -> std::string {
    if constexpr (std::is_integral_v<decltype(element)> && sizeof element == 8) {
      element = load<decltype(element)>(from, must_swap(big_endian));
      const auto bits = static_cast<std::uint64_t>(element);
      const std::uint64_t magnitude = element < 0 ? 0 - bits : bits;
      if (magnitude >> std::countr_zero(magnitude | 1u << 11u) >> 53u == 0) return {};
      return std::to_string(element);
    }
    return {};
  });
}

bool may_round(ElementType type) {
  return type == ElementType::f64 || (size_of(type) >= 4 && type != ElementType::f32);
}

Block to_labels(ElementType type, bool big_endian, const unsigned char* from, std::size_t count,
                std::int64_t* to) {
  return with_type(type, [&](auto element) {
    return labels_from<decltype(element)>(from, must_swap(big_endian), count, to);
  });
}

}  // namespace kith::files
