#include <algorithm>

#include "device.hpp"
#include "propose/shapes.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

std::size_t Device::fused_test_bytes(const spi::CollectStep& step) const {
  return FusedTest(step).bytes;
}

/// Runs fused_test_rows.cl and collect_fused_test.cl.
void Device::collect_fused_test(const spi::CollectStep& step) {
  constexpr std::uint32_t group = 256, at_once = 2, start = 32;  // groups per multiprocessor
  const spi::Grid<float>&queries = step.queries.rows, &train = step.train.rows;
  const std::size_t dims = train.cols, places = places_of(step);
  const std::uint32_t steps = steps_of(step), tiles = divide_up(places, spi::quantized_block_rows);
  const Lines lines(Proposer::fp16, dims);
  const FusedTest fused_test(step);
  Products products{queries.first * lines.row_pieces(),
                    train.first * lines.row_pieces(),
                    static_cast<cl_uint>(step.values.rows),
                    static_cast<cl_uint>(train.rows),
                    tiles,
                    0,
                    0,
                    0,
                    0,
                    step.first_row,
                    static_cast<float>(spi::fused_test_factor) * step.unscale};
  const bool halves = sums_squares(step.metric);
  const ErrorNumbers error(step);
  const std::string shape = define("PIECES", lines.pieces) + define("STEPS", steps);
  const std::size_t fused_test_groups =
      std::min<std::size_t>(divide_up(places, group), 2 * std::size_t{info.compute_units});
  launch("propose/fused_test_rows.cl",
         shape + define("GROUP", group) + define("HALVES", halves ? 1 : 0) +
             (step.bounds.low.cols > 0 ? " -D BOUNDS" : ""),
         "kith_fused_test_rows", Range{{fused_test_groups * group, 1, 1}, {group, 1, 1}},
         buffer_of(step.queries.row_terms.memory), buffer_of(step.train.row_terms.memory),
         TermPlaces{step.queries.row_terms, step.train.row_terms}, step.threshold, buffer_of(train.memory),
         products, visits_of(step), cl_ulong{places}, static_cast<cl_uint>(dims), error,
         buffer_of(step.scratch.memory), cl_ulong{fused_test.gap_first},
         cl_ulong{fused_test.fused_test_first});

  const std::uint32_t query_blocks = divide_up(step.values.rows, block_queries);
  const std::uint32_t a_part =
      divide_up(tiles, parts_of(tiles, query_blocks, at_once * info.compute_units, start));
  const std::size_t groups = std::size_t{query_blocks} * divide_up(tiles, a_part);
  products.query_blocks = query_blocks;
  products.a_part = a_part;
  products.unscale = step.unscale;
  launch_listing(step.out, step.bounds, "propose/collect_fused_test.cl", shape,
                 "kith_collect_fp16_fused_test", Range{{groups * group, 1, 1}, {group, 1, 1}},
                 buffer_of(queries.memory), products, visits_of(step), buffer_of(step.scratch.memory),
                 cl_ulong{fused_test.gap_first}, cl_ulong{fused_test.fused_test_first});
}

}  // namespace kith::opencl
