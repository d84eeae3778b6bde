// kernel_limits.def as C++, for the library, its back ends and CUDA C++.
#pragma once

#include <cstdint>

namespace kith::spi {

#define KITH_LIMIT(name, value) inline constexpr std::uint32_t name = value;
#include "kith/spi/kernel_limits.def"
#undef KITH_LIMIT

static_assert(most_fold_low + most_fold_product < most_fold_theta);
static_assert((most_fold_theta + most_fold_product) * most_folded_dims < 2 * 65504);  // which two halves hold

}  // namespace kith::spi
