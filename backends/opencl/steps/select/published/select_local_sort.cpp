#include "steps/select/published/select_blocks.hpp"

namespace kith::opencl {
namespace {

/// Returns the published block size; less if local memory is small.
std::uint32_t sorted_block(const Limits& limits) {
  return keys_that_fit(limits, 1, 256);
}

}  // namespace

std::string Device::refuse_local_sort(const spi::SelectStep& step) const {
  const std::uint32_t block = sorted_block(limits_);
  if (step.k <= block) return "";
  return "k = " + std::to_string(step.k) + " is more than the " + std::to_string(block) +
         " values of a block, of which local_sort keeps the first k; choose k <= " + std::to_string(block) +
         " or another selector";
}

std::size_t Device::local_sort_scratch_bytes(const spi::SelectStep& step) const {
  return blocks_scratch_bytes(step, Blocks(step, family_, sorted_block(limits_)));
}

void Device::select_local_sort(const spi::SelectStep& step) {
  const Blocks blocks(step, family_, sorted_block(limits_));
  launch_blocks(step, blocks, "select/published/select_local_sort.cl", "kith_select_local_sort",
                Local{blocks.local_bytes()});
  merge_whole_blocks(step, blocks);
}

}  // namespace kith::opencl
