#include "steps/select/published/select_blocks.hpp"

namespace kith::opencl {
namespace {

/// Returns blocks of which two fit into local memory twice, for a merge-split. A list of several blocks is
/// sorted completely, in place.
Blocks blocks_of_odd_even(const spi::SelectStep& step, Family family, const Limits& limits) {
  Blocks blocks(step, family, keys_that_fit(limits, 4, 1024));
  if (blocks.blocks > 1) blocks.keep = blocks.size;
  return blocks;
}

}  // namespace

std::size_t Device::odd_even_scratch_bytes(const spi::SelectStep& step) const {
  const Blocks blocks = blocks_of_odd_even(step, family_, limits_);
  return blocks.blocks == 1 ? 0 : blocks.left() * sizeof(Key);
}

void Device::select_odd_even(const spi::SelectStep& step) {
  const Blocks blocks = blocks_of_odd_even(step, family_, limits_);
  const char* source = "select/published/select_odd_even.cl";
  const std::size_t half_bytes = blocks.size / 2 * sizeof(Key);
  if (family_ == Family::lanes)
    launch_blocks(step, blocks, source, "kith_select_odd_even_lanes", Local{half_bytes}, Local{half_bytes});
  else
    launch_blocks(step, blocks, source, "kith_select_odd_even");
  if (blocks.blocks == 1) return;

  const cl::Buffer& keys = buffer_of(step.scratch.memory);
  const std::uint32_t items = family_ == Family::lanes ? 1 : 2 * blocks.size / keys_an_item;
  const Local pair{places(2 * blocks.size, items) * sizeof(Key)};
  for (std::uint32_t phase = 0; phase < blocks.blocks; ++phase) {
    const std::uint32_t pairs = (blocks.blocks - phase % 2) / 2;
    if (pairs == 0) continue;
    launch(source, define("GROUP", items), "kith_merge_split",
           Range{{blocks.lists * pairs * items, 1, 1}, {items, 1, 1}}, keys, blocks.blocks, blocks.size,
           phase % 2, pair, pair);
  }
  const std::size_t group = family_ == Family::lanes ? 1 : 64;
  launch(source, define("GROUP", items), "kith_first_keys", Range{{step.k, blocks.lists, 1}, {group, 1, 1}},
         keys, cl_ulong{blocks.blocks} * blocks.size, step.k, step.lists, step.out);
}

}  // namespace kith::opencl
