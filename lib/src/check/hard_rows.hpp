// Rows whose products go wrong in the usual ways: what test_proposer.cpp has a device multiply. Their numbers
// are such that quantized rows hold them as they are, so that nothing but the product is tested.
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

/// Rows of hard_cut are of these sorts, one after another. In sort s the small products stand just below the
/// last place of a sum that keeps most_extra_places - s binary places more than a float: it loses them all.
/// In the last sort they are tiny: a sum of their negatives that is cut downwards loses a whole place by
/// each.
inline constexpr std::uint32_t cut_sorts = 8;
inline constexpr int most_extra_places = 4;

/// [rows, dims]
///   salt  other rows of the kinds that are drawn
std::vector<float> hard_rows(Proposer proposer, DeviceKind device, std::uint32_t rows, std::uint32_t dims,
                             std::uint32_t salt);

}  // namespace kith
