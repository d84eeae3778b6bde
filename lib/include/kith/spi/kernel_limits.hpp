// Declares the constants of kernel_limits.def, which explains them, for the library, its back ends and
// CUDA C++.
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
inline constexpr std::uint32_t part_rows = KITH_PART_ROWS;
inline constexpr std::uint32_t most_curve_columns = KITH_MOST_CURVE_COLUMNS;
inline constexpr std::uint32_t boxes_max_k = KITH_BOXES_MAX_K;

inline constexpr std::uint32_t quantized_block_rows = KITH_QUANTIZED_BLOCK_ROWS;
inline constexpr std::uint32_t quantized_block_dims = KITH_QUANTIZED_BLOCK_DIMS;
inline constexpr std::uint32_t most_split_dims = KITH_MOST_SPLIT_DIMS;
inline constexpr std::uint32_t sample_rows = KITH_SAMPLE_ROWS;
inline constexpr std::uint32_t most_dims = KITH_MOST_DIMS;
inline constexpr std::uint32_t most_dims_int8 = KITH_MOST_DIMS_INT8;

inline constexpr std::uint32_t most_fused_test_dims = KITH_MOST_FUSED_TEST_DIMS;
inline constexpr std::uint32_t fused_test_columns = KITH_FUSED_TEST_COLUMNS;
inline constexpr std::uint32_t fused_test_factor = KITH_FUSED_TEST_FACTOR;
inline constexpr std::uint32_t most_fused_test_low = KITH_MOST_FUSED_TEST_LOW;
inline constexpr std::uint32_t most_fused_test_product = KITH_MOST_FUSED_TEST_PRODUCT;
inline constexpr std::uint32_t most_fused_test_threshold = KITH_MOST_FUSED_TEST_THRESHOLD;

static_assert(most_fused_test_low + most_fused_test_product < most_fused_test_threshold);
static_assert((most_fused_test_threshold + most_fused_test_product) * most_fused_test_dims <
              2 * 65504);  // the range of two 16-bit floats

}  // namespace kith::spi
