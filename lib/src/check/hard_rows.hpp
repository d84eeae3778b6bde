// Makes rows with which inaccurate products fail; proposer_check.cpp lets a device multiply them. Quantized
// rows hold their values exactly, so that only the product is tested.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/device.hpp"
#include "kith/selector.hpp"

namespace kith {

/// Lists the kinds of hard rows; row r has kind r % hard_kinds.
enum HardKind : std::uint32_t {
  hard_spread,     ///< values of both signs
  hard_huge,       ///< one huge addend among small ones
  hard_cancels,    ///< sums that cancel
  hard_subnormal,  ///< subnormal numbers, or subnormal products
  hard_alike,      ///< equal elements, which every product rounds
  hard_cut,        ///< one huge product, and others just below the last place of their sum
};
inline constexpr std::uint32_t hard_kinds = 6;

/// Rows of hard_cut have these sorts in turn. In sort s the small products are just below the last place of a
/// sum that keeps most_extra_places - s binary places more than a float, so that it loses them all. In the
/// last sort they are tiny: a sum that is cut downwards loses a whole place by each of their negatives.
inline constexpr std::uint32_t cut_sorts = 8;
inline constexpr int most_extra_places = 4;

/// Returns hard rows, [rows, dims].
///   salt  chooses other random values
std::vector<float> hard_rows(Proposer proposer, DeviceKind device, std::uint32_t rows, std::uint32_t dims,
                             std::uint32_t salt);

}  // namespace kith
