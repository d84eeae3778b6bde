#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::MaskStep&) const {
  return {};
}

void Device::enqueue(const spi::MaskStep& step) {
  const spi::Grid<float>& d = step.distances;
  if (d.rows == 0 || d.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  const std::size_t items = lanes ? 1 : 256, words_a_piece = lanes ? 128 : items;  // mask.cl
  const std::size_t words = (step.first_row + d.cols - 1) / 32 - step.first_row / 32 + 1;
  const std::size_t pieces = (words + words_a_piece - 1) / words_a_piece;
  const auto run = [&](const std::string& defines, const auto&... from) {
    launch("distance/mask.cl", define("GROUP", items) + defines, "kith_mask",
           Range{{d.rows * pieces * items, 1, 1}, {items, 1, 1}}, buffer_of(step.filter.memory),
           cl_ulong{step.filter.first}, cl_ulong{step.filter.rows == 1 ? 0 : step.filter.stride},
           step.first_row, cl_ulong{pieces}, buffer_of(d.memory), cl_ulong{d.first}, cl_ulong{d.stride},
           cl_ulong{d.cols}, from...);
  };
  if (step.from.cols > 0)
    run(" -D FROM", step.from);
  else
    run("");
}

}  // namespace kith::opencl
