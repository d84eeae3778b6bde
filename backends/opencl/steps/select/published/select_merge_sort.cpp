#include "steps/select/published/select_blocks.hpp"

namespace kith::opencl {
namespace {

Blocks blocks_of_merge_sort(const spi::SelectStep& step, Family family, const Limits& limits) {
  return {step, family, keys_that_fit(limits, 2, 2048)};
}

}  // namespace

std::size_t Device::merge_sort_scratch_bytes(const spi::SelectStep& step) const {
  return blocks_scratch_bytes(step, blocks_of_merge_sort(step, family_, limits_));
}

void Device::select_merge_sort(const spi::SelectStep& step) {
  const Blocks blocks = blocks_of_merge_sort(step, family_, limits_);
  launch_blocks(step, blocks, "select/published/select_merge_sort.cl", "kith_select_merge_sort",
                Local{blocks.local_bytes()}, Local{blocks.local_bytes()});
  merge_blocks(step, blocks);
}

}  // namespace kith::opencl
