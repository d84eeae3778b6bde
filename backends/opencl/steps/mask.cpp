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
  spi::Grid<std::uint32_t> filter = step.filter;
  if (filter.rows == 1) filter.stride = 0;
  const auto run = [&](const std::string& defines, const auto&... from) {
    launch("distance/mask.cl", define("GROUP", items) + defines, "kith_mask",
           Range{{d.rows * pieces * items, 1, 1}, {items, 1, 1}}, filter, step.first_row, cl_ulong{pieces}, d,
           cl_ulong{d.cols}, from...);
  };
  if (step.from.cols > 0)
    run(" -D FROM", step.from);
  else
    run("");
}

}  // namespace kith::opencl
