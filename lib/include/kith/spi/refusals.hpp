// Why a step cannot be done, in sentences that back ends share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kith/export.hpp"
#include "kith/spi.hpp"

namespace kith::spi {

/// Why no device does the step; empty when one may. Device::check() of an opened device says this first, so
/// that a back end is asked about the other steps alone, and refuses what its own kernels cannot do.
KITH_API std::string refusal_of(const Step& step);

/// Why rows cannot be read or written in their blocks; empty when they can.
///   what   the rows, in the plural
///   takes  rows of a block, as the device packs them
KITH_API std::string refusal_of_block(const char* what, const RowBlocks& rows, std::uint32_t takes);

/// Why a proposer's bound does not hold for products of so many columns; empty when it does.
///   most  for how many columns it is proved
KITH_API std::string refusal_of_columns(Proposer proposer, std::size_t dims, std::size_t most);

/// Why kernels that are for up to small_batch queries cannot take the step; empty when they can.
KITH_API std::string refusal_of_many_queries(const CollectStep& step);

}  // namespace kith::spi
