#include <algorithm>
#include <cmath>

#include "device.hpp"
#include "propose/shapes.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

/// Runs collect_small_batch.cl.
void Device::collect_small_batch(const spi::CollectStep& step) {
  const ErrorNumbers error(step);
  const SmallBatch shape(step);
  const bool resident = shape.query_bytes() + finding_bytes <= limits_.local_memory_bytes;
  const std::size_t local = resident ? shape.query_bytes() : Lines::piece_bytes;
  const std::uint32_t chunks = divide_up(step.values.cols, spi::quantized_block_rows) * shape.chunks_a_tile();
  const std::size_t at_once =
      std::clamp<std::size_t>(std::size_t{200} * 1024 / (local + finding_bytes), 1, shape.at_once);
  const std::size_t groups =
      std::min<std::size_t>(divide_up(chunks, warps), at_once * std::size_t{info.compute_units});
  const cl_uint4 visits = visits_of(step);  // tiles of a visit, first, blocks, stride
  const auto tiles_on = static_cast<cl_uint>(groups * warps / shape.chunks_a_tile());
  const cl_ulong visits_on = tiles_on / visits.s[0];
  const auto blocks_on = static_cast<cl_uint>(visits_on * visits.s[3] % visits.s[2]);
  const bool halves = sums_squares(step.metric);
  const spi::QuantizedRows &queries = step.queries, &train = step.train;
  const auto bytes_a_row = [&](const Lines& lines) {
    return cl_ulong{lines.row_pieces()} * Lines::piece_bytes;
  };
  const bool half_bytes = step.proposer == Proposer::int4;
  launch_listing_or_sampling(
      step, "propose/collect_small_batch.cl",
      define("PIECES", shape.lines.pieces) + define("ACROSS", shape.across) +
          define("HALVES", halves ? 1 : 0) + (resident ? " -D RESIDENT" : "") +
          (spi::multiplies_bytes(step.proposer) ? " -D BYTES" : "") +
          (half_bytes ? define("HALF_BYTES", shape.query_lines.pieces) : "") +
          (spi::is_exact(step) ? " -D EXACT" : ""),
      "kith_collect_small_batch", Range{{groups * batch_group, 1, 1}, {batch_group, 1, 1}},
      buffer_of(queries.rows.memory), buffer_of(train.rows.memory),
      Products{queries.rows.first * bytes_a_row(shape.query_lines),
               train.rows.first * bytes_a_row(shape.lines), static_cast<cl_uint>(step.values.rows),
               static_cast<cl_uint>(train.rows.rows), chunks, blocks_on, tiles_on % visits.s[0],
               shape.lines.slabs, shape.query_lines.slabs, step.first_row, step.unscale},
      visits, buffer_of(queries.row_terms.memory), buffer_of(train.row_terms.memory),
      TermPlaces{queries.row_terms, train.row_terms}, step.threshold, error, Local{local});
}

}  // namespace kith::opencl
