#include "device.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::PrepareStep& step) const {
  const std::uint32_t block = step.rows.block;
  if (block != info.query_block && block != info.train_block)
    return {"rows come in blocks of " + std::to_string(block) + ", but this device takes " +
                std::to_string(info.query_block) + " or " + std::to_string(info.train_block) +
                "; pack them again",
            0};
  // Making these quantized rows needs no tensor cores; multiplying them does.
  if (spi::is_scaled(step.proposer) && family_ == Family::groups && limits_.double_precision) return {};
  return {refuse_proposer(info.proposers, step.proposer, step.rows.dims), 0};
}

void Device::enqueue(const spi::PrepareStep& step) {
  const spi::RowBlocks& rows = step.rows;
  if (rows.rows == 0) return;
  if (step.proposer == Proposer::fp16) return prepare_halves(step);
  if (spi::multiplies_bytes(step.proposer)) return prepare_bytes(step);
  if (step.proposer == Proposer::dot) return prepare_dot(step);
  const spi::QuantizedRows& out = step.out;
  const bool lanes = family_ == Family::lanes;
  const std::size_t items = lanes ? 1 : 256;
  launch(lanes ? "prepare/prepare_lanes.cl" : "prepare/prepare.cl", lanes ? define("LANES", rows.block) : "",
         lanes ? "kith_prepare_lanes" : "kith_prepare",
         Range{{items * tiles_of(rows, 1), 1, 1}, {items, 1, 1}}, buffer_of(rows.memory), rows.first,
         rows.rows, rows.dims, buffer_of(step.centre.memory), cl_ulong{step.centre.first}, out.rows,
         out.row_terms);
}

/// Writes blocks with the same layout as the rows, from row 0 of the grid on.
void Device::prepare_dot(const spi::PrepareStep& step) {
  const spi::RowBlocks& rows = step.rows;
  const spi::QuantizedRows& out = step.out;
  const bool lanes = family_ == Family::lanes;
  const std::size_t items = lanes ? 1 : 256;
  launch(lanes ? "prepare/prepare_lanes.cl" : "prepare/prepare.cl", lanes ? define("LANES", rows.block) : "",
         lanes ? "kith_prepare_dot_lanes" : "kith_prepare_dot",
         Range{{items * divide_up(rows.rows, rows.block), 1, 1}, {items, 1, 1}}, buffer_of(rows.memory),
         rows.first, rows.rows, rows.dims, buffer_of(step.centre.memory), cl_ulong{step.centre.first},
         buffer_of(out.rows.memory), cl_ulong{out.rows.first}, out.row_terms);
}

/// Also writes rows behind the last, as zeros.
void Device::prepare_halves(const spi::PrepareStep& step) {
  const spi::RowBlocks& rows = step.rows;
  const spi::QuantizedRows& out = step.out;
  constexpr std::size_t items = 256, rows_a_group = 32;
  const std::size_t padded =
      divide_up(rows.rows, spi::quantized_block_rows) * std::size_t{spi::quantized_block_rows};
  const cl_uint columns = half_columns(rows.dims);
  const cl_ulong first = out.rows.first * columns;
  const std::string line = define("LINE", half_line(rows.dims));
  if (rows.dims <= spi::most_split_dims)
    return launch("prepare/prepare_fp16.cl", line, "kith_prepare_fp16_split",
                  Range{{padded, 1, 1}, {spi::quantized_block_rows, 1, 1}}, buffer_of(rows.memory),
                  rows.first, rows.rows, rows.dims, buffer_of(step.centre.memory),
                  cl_ulong{step.centre.first}, step.scale, cl_uint{step.queries}, buffer_of(out.rows.memory),
                  first, out.row_terms, step.copy);
  launch("prepare/prepare_fp16.cl", line, "kith_prepare_fp16",
         Range{{padded / rows_a_group * items, 1, 1}, {items, 1, 1}}, buffer_of(rows.memory), rows.first,
         rows.rows, rows.dims, buffer_of(step.centre.memory), cl_ulong{step.centre.first}, step.scale,
         buffer_of(out.rows.memory), first, columns, out.row_terms, step.copy);
}

/// Also writes rows behind the last, as zeros.
void Device::prepare_bytes(const spi::PrepareStep& step) {
  const spi::RowBlocks& rows = step.rows;
  constexpr std::size_t items = 256, rows_a_group = 32;
  const std::size_t padded =
      divide_up(rows.rows, spi::quantized_block_rows) * std::size_t{spi::quantized_block_rows};
  const Lines lines(step.proposer, rows.dims);
  const spi::OnGrid on_grid = step.out.on_grid;
  const int least = on_grid == spi::OnGrid::no ? -spi::most_on_grid : spi::least_on_grid;
  const bool half_bytes = step.proposer == Proposer::int4;
  constexpr auto most_half = static_cast<float>(spi::most_half_byte),
                 unit = static_cast<float>(spi::half_byte_unit);
  spi::Grid<float> row_terms = step.out.row_terms;
  if (row_terms.rows == 1) row_terms.stride = 0;  // this tells the kernel to write only half norms
  launch("prepare/prepare_int8.cl", define("PIECES", lines.pieces) + (half_bytes ? " -D HALF_BYTES" : ""),
         "kith_prepare_int8", Range{{padded / rows_a_group * items, 1, 1}, {items, 1, 1}},
         buffer_of(rows.memory), rows.first, rows.rows, rows.dims, buffer_of(step.centre.memory),
         cl_ulong{step.centre.first}, half_bytes ? step.scale / unit : step.scale,
         buffer_of(step.out.rows.memory), cl_ulong{step.out.rows.first * lines.row_pieces()},
         lines.row_pieces(), row_terms, step.copy, half_bytes ? -most_half : static_cast<float>(least),
         half_bytes ? most_half : static_cast<float>(spi::most_on_grid),
         cl_uint{on_grid == spi::OnGrid::exactly});
}

}  // namespace kith::opencl
