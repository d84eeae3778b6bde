// recover: computes rows from the bytes of quantized rows on a grid, which represent them exactly: c + byte /
// scale, without rounding. docs/certificate.md, section 4.
#include <algorithm>

#include "cpu/steps/propose/quantized_order.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// Computes rows begin ... end - 1 of a block of the rows, and writes zeros behind the last.
void recover_block(const spi::RecoverStep& step, const ByteOrder& order, std::size_t begin, std::size_t end) {
  const std::size_t dims = step.out.dims, block = step.out.block;
  const auto* const bytes = reinterpret_cast<const std::int8_t*>(bytes_of(*step.rows.rows.memory)) +
                            step.rows.rows.first * order.places.columns;
  const float* const centre = elements(step.centre);
  const auto unscale = static_cast<float>(order.unscale);
  float* const to = reinterpret_cast<float*>(bytes_of(*step.out.memory)) + (step.out.first + begin) * dims;
  for (std::size_t d = 0; d < dims; ++d) {
    float* const column = to + d * block;
    for (std::size_t r = begin; r < end; ++r)
      column[r - begin] = centre[d] + static_cast<float>(bytes[order.places.place_of(r, d)]) * unscale;
    std::fill(column + (end - begin), column + block, 0.0f);
  }
}

}  // namespace

spi::Support check(const spi::RecoverStep&, const Resources& with) {
  const auto& has = with.proposers();
  if (std::find(has.begin(), has.end(), Proposer::int8) == has.end())
    return {"it prepares no rows for proposer int8, and has none to recover", 0};
  return {};
}

void run(const spi::RecoverStep& step, const Resources& with) {
  const std::size_t rows = step.out.rows, block = step.out.block, dims = step.out.dims;
  const ByteOrder order(ByteOrder::places_of_train(dims), step.scale, spi::least_on_grid, spi::most_on_grid);
  const std::size_t blocks = (rows + block - 1) / block;
  run_team(blocks, rows * dims * 2, with.team, [&](std::size_t b, std::size_t) {
    recover_block(step, order, b * block, std::min(rows, (b + 1) * block));
  });
}

}  // namespace kith::cpu
