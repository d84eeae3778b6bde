#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::FinishStep&) const {
  return {};
}

void Device::enqueue(const spi::FinishStep& step) {
  const auto k = static_cast<std::uint32_t>(step.distance.cols);
  const std::size_t cells = step.distance.rows * step.distance.cols, items = 64;
  if (cells == 0) return;
  launch("finish/finish.cl", define("METRIC", name(step.metric)), "kith_finish",
         Range{{cells, 1, 1}, {items, 1, 1}}, step.keys, step.distance, step.rows, k, cl_ulong{cells});
}

}  // namespace kith::opencl
