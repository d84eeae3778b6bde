#include "device.hpp"
#include "propose/shapes.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

/// Runs collect_fp16.cl or collect_fp16_tiles.cl.
void Device::collect_halves(const spi::CollectStep& step) {
  constexpr std::uint32_t halves_a_piece = 8, at_once = 2,  // groups per multiprocessor
      start = 1;
  const spi::Grid<float>&queries = step.queries.rows, &train = step.train.rows;
  const std::uint32_t pitch = half_columns(train.cols) / halves_a_piece;
  const std::size_t places = places_of(step);
  const std::uint32_t tiles = divide_up(places, spi::quantized_block_rows);
  const auto run = [&](const char* source, const std::string& defines, const char* name, std::uint32_t rows,
                       std::size_t items, std::uint32_t steps, std::uint32_t a_block) {
    const std::uint32_t query_blocks = divide_up(step.values.rows, rows);
    const std::uint32_t a_part =
        divide_up(tiles, parts_of(tiles, query_blocks, at_once * info.compute_units, start));
    launch_listing_or_sampling(
        step, source, defines, name,
        Range{{std::size_t{query_blocks} * divide_up(tiles, a_part) * items, 1, 1}, {items, 1, 1}},
        buffer_of(queries.memory), buffer_of(train.memory),
        Products{queries.first * pitch, train.first * pitch, static_cast<cl_uint>(step.values.rows),
                 static_cast<cl_uint>(train.rows), tiles, query_blocks, a_part, steps, a_block,
                 step.first_row, step.unscale},
        visits_of(step), buffer_of(step.scratch.memory), cl_ulong{places}, step.threshold);
  };
  const InRegisters few(step);
  if (few.fit())
    return run("propose/collect_fp16.cl",
               limits_.tile_options + define("LINE", few.line) + define("STEPS", few.steps) +
                   define("ACROSS", few.across),
               "kith_collect_fp16", few.across * spi::quantized_block_rows, 256, few.steps, 0);
  run("propose/collect_fp16_tiles.cl", "", "kith_collect_fp16_tiles", spi::quantized_block_rows, 128,
      divide_up(train.cols, 32), pitch * spi::quantized_block_rows);
}

}  // namespace kith::opencl
