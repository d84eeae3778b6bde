// Rows whose products go wrong in the usual ways: what test_proposer.cpp has a device multiply. Their numbers
// are such that a shadow holds them as they are, so that nothing but the product is tested.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/device.hpp"
#include "kith/selector.hpp"

namespace kith {

/// Row r is of kind r % hard_kinds.
enum HardKind : std::uint32_t {
  hard_spread,     ///< of both signs
  hard_huge,       ///< one huge addend among small ones
  hard_cancels,    ///< sums that cancel
  hard_subnormal,  ///< numbers, or their products
  hard_alike,      ///< all alike, and rounded in every product
  hard_cut,        ///< one huge product, and others that stand just below what is cut beside it
};
inline constexpr std::uint32_t hard_kinds = 6;

/// Rows of hard_cut are of so many sorts, one after another. By sort s but the last, the others lose all that
/// they are where addends have 4 - s more binary places, beside the largest, than a float. Of the last they
/// are hardly anything, and become a whole place of that where cuts go down.
inline constexpr std::uint32_t cut_sorts = 8;
inline constexpr int most_extra_places = 4;

/// [rows, dims]
///   salt  other rows of the kinds that are drawn
std::vector<float> hard_rows(Proposer proposer, DeviceKind device, std::uint32_t rows, std::uint32_t dims,
                             std::uint32_t salt);

}  // namespace kith
