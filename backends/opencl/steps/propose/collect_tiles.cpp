#include "device.hpp"
#include "propose/shapes.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

/// Runs collect_fp16.cl or collect_tiles.cl.
void Device::collect_tiles(const spi::CollectStep& step) {
  constexpr std::uint32_t halves_a_piece = 8, at_once = 2,  // groups per multiprocessor
      start = 1;
  // Two groups of 256 items share the 65536 registers of a multiprocessor. NVIDIA's compiler heeds this only
  // for kernels without reqd_work_group_size.
  constexpr const char* limit_of_registers = " -cl-nv-maxrregcount=128";
  const spi::Grid<float>&queries = step.queries.rows, &train = step.train.rows;
  const Lines lines(step.proposer, train.cols);
  const std::uint32_t pitch = lines.row_pieces();
  const std::size_t places = places_of(step);
  const std::uint32_t tiles = divide_up(places, spi::quantized_block_rows);
  const std::string bytes = step.proposer == Proposer::int8 ? " -D BYTES" : "";
  const auto run = [&](const char* source, const std::string& defines, const char* name, std::uint32_t rows,
                       std::size_t items, std::uint32_t steps, std::uint32_t a_block) {
    const std::uint32_t query_blocks = divide_up(step.values.rows, rows);
    const std::uint32_t a_part =
        divide_up(tiles, parts_of(tiles, query_blocks, at_once * info.compute_units, start));
    launch_listing_or_sampling(
        step, source, bytes + defines, name,
        Range{{std::size_t{query_blocks} * divide_up(tiles, a_part) * items, 1, 1}, {items, 1, 1}},
        buffer_of(queries.memory), buffer_of(train.memory),
        Products{queries.first * pitch, train.first * pitch, static_cast<cl_uint>(step.values.rows),
                 static_cast<cl_uint>(train.rows), tiles, query_blocks, a_part, steps, a_block,
                 step.first_row, step.unscale},
        visits_of(step), buffer_of(step.scratch.memory), cl_ulong{places}, step.threshold);
  };
  const InRegisters few(step, lines);
  if (limits_.tensor_cores && few.fit())
    return run("propose/collect_fp16.cl",
               limit_of_registers + define("LINE", lines.pieces * halves_a_piece) +
                   define("STEPS", few.steps) + define("ACROSS", few.across),
               "kith_collect_fp16", few.across * spi::quantized_block_rows, 256, few.steps, 0);
  const std::uint32_t stage_bytes = std::min(lines.pieces * Lines::piece_bytes, 64u);
  const char* const items = limits_.tensor_cores ? "" : " -D ITEMS";
  const char* const language = limits_.dot_products && !limits_.tensor_cores ? " -cl-std=CL3.0" : "";
  run("propose/collect_tiles.cl", define("LINE_PIECES", lines.pieces) + items + language,
      "kith_collect_tiles", spi::quantized_block_rows, 128, divide_up(row_bytes(step), stage_bytes),
      pitch * spi::quantized_block_rows);
}

}  // namespace kith::opencl
