// Says why a step cannot be done, in sentences that back ends share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kith/export.hpp"
#include "kith/spi.hpp"

namespace kith::spi {

/// Says why no device does the step; empty if one may. Device::check() of an opened device returns this
/// first, so that a back end is asked only about the other steps, and refuses those that its own kernels
/// cannot do.
KITH_API std::string refusal_of(const Step& step);

/// Says why rows cannot be read or written in their blocks; empty if they can.
///   what   the rows, in the plural
///   takes  rows of a block, as the device packs them
KITH_API std::string refusal_of_block(const char* what, const RowBlocks& rows, std::uint32_t takes);

/// Says why a proposer's bound does not hold for products of so many columns; empty if it does.
///   most  the most columns for which it is proved
KITH_API std::string refusal_of_columns(Proposer proposer, std::size_t dims, std::size_t most);

/// Says why kernels for up to small_batch queries cannot take the step; empty if they can.
KITH_API std::string refusal_of_many_queries(const CollectStep& step);

}  // namespace kith::spi
