// A float32 value as an element stores it.
#pragma once

#include <vector>

#include "kith/rows_view.hpp"

namespace kith::files {

/// The smallest normal number of f16, and its largest.
constexpr float least_normal_f16 = 0x1p-14f, most_f16 = 65504;

/// Append `value` as `element` stores it: for f32, and for the words of bits, all 32 of its bits. Returns
/// false and appends nothing where the element has no such value: u8 and i8 have no -0.
bool append_exact(Element element, float value, std::vector<unsigned char>& bytes);

}  // namespace kith::files
