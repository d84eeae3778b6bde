// Converts elements of binary files to float32 and to labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "files/table.hpp"

namespace kith::files {

enum class ElementType { u8, i8, boolean, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

std::size_t size_of(ElementType type);

/// A block of elements that was converted.
struct Block {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t bad = none;  ///< the first element that could not be converted, if any
  std::string why;         ///< `holds NaN; ...`
};
/// missing  whether NaN stays; else it is refused
/// wide     whether a float64 beyond float32 becomes an infinity; else it is refused
/// advice   what the text about it advises then
Block to_floats(ElementType type, bool big_endian, const unsigned char* from, std::size_t count, float* to,
                bool missing = false, bool wide = false, std::string_view advice = scale_down);
/// The same as float64, in which only integers beyond 2^53 are rounded.
Block to_doubles(ElementType type, bool big_endian, const unsigned char* from, std::size_t count, double* to,
                 bool missing = false);
/// Returns the element of kith that floating-point numbers of this type are; nothing for others.
std::optional<Element> floats_of(ElementType type);
/// Returns the element there if it is a whole number and to_doubles() rounds it; else nothing.
std::string rounded_element(ElementType type, bool big_endian, const unsigned char* from);
/// Returns whether some element of this type may not fit a float32.
bool may_round(ElementType type);
Block to_labels(ElementType type, bool big_endian, const unsigned char* from, std::size_t count,
                std::int64_t* to);

}  // namespace kith::files
