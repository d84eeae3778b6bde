// kernel_limits.def, which says what each of them is, as C++: for the library, its back ends and CUDA C++.
#pragma once

#include <cstdint>

#include "kith/spi/kernel_limits.def"

namespace kith::spi {

inline constexpr std::uint32_t rows_a_block = KITH_ROWS_A_BLOCK;
inline constexpr std::uint32_t tile_rows = KITH_TILE_ROWS;
inline constexpr std::uint32_t small_batch = KITH_SMALL_BATCH;
inline constexpr std::uint32_t batch_queries = KITH_BATCH_QUERIES;
inline constexpr std::uint32_t threshold_max_k = KITH_THRESHOLD_MAX_K;

inline constexpr std::uint32_t box_rows = KITH_BOX_ROWS;
inline constexpr std::uint32_t most_box_levels = KITH_MOST_BOX_LEVELS;
inline constexpr std::uint32_t boxes_max_k = KITH_BOXES_MAX_K;

inline constexpr std::uint32_t shadow_rows = KITH_SHADOW_ROWS;
inline constexpr std::uint32_t shadow_dims = KITH_SHADOW_DIMS;
inline constexpr std::uint32_t most_split_dims = KITH_MOST_SPLIT_DIMS;
inline constexpr std::uint32_t sample_rows = KITH_SAMPLE_ROWS;
inline constexpr std::uint32_t most_dims = KITH_MOST_DIMS;
inline constexpr std::uint32_t most_dims_int8 = KITH_MOST_DIMS_INT8;

inline constexpr std::uint32_t most_folded_dims = KITH_MOST_FOLDED_DIMS;
inline constexpr std::uint32_t fold_columns = KITH_FOLD_COLUMNS;
inline constexpr std::uint32_t fold_factor = KITH_FOLD_FACTOR;
inline constexpr std::uint32_t most_fold_low = KITH_MOST_FOLD_LOW;
inline constexpr std::uint32_t most_fold_product = KITH_MOST_FOLD_PRODUCT;
inline constexpr std::uint32_t most_fold_theta = KITH_MOST_FOLD_THETA;

static_assert(most_fold_low + most_fold_product < most_fold_theta);
static_assert((most_fold_theta + most_fold_product) * most_folded_dims <
              2 * 65504);  // which two 16-bit floats hold

}  // namespace kith::spi
