#include "steps/select/published/select_blocks.hpp"

namespace kith::opencl {
namespace {

/// Returns the blocks of a padded list: one in local memory, or several runs.
Blocks blocks_of_bitonic(const spi::SelectStep& step, Family family, const Limits& limits) {
  Blocks blocks(step, family, keys_that_fit(limits, 1, 2048));
  blocks.blocks = std::bit_ceil(blocks.blocks);
  if (blocks.blocks > 1) blocks.keep = blocks.size;
  return blocks;
}

}  // namespace

std::size_t Device::bitonic_scratch_bytes(const spi::SelectStep& step) const {
  const Blocks blocks = blocks_of_bitonic(step, family_, limits_);
  return blocks.blocks == 1 ? 0 : blocks.left() * sizeof(Key);
}

void Device::select_bitonic(const spi::SelectStep& step) {
  const Blocks blocks = blocks_of_bitonic(step, family_, limits_);
  launch_blocks(step, blocks, "select/published/select_bitonic.cl", "kith_select_bitonic",
                Local{blocks.local_bytes()});
  const std::size_t padded = std::size_t{blocks.blocks} * blocks.size;
  for (std::size_t width = 2 * std::size_t{blocks.size}; width <= padded; width *= 2)
    bitonic_level(step, blocks, width, width == padded);
}

/// Merges runs of width / 2 into runs of `width`; the last level writes the first k of each list to `out`.
void Device::bitonic_level(const spi::SelectStep& step, const Blocks& blocks, std::size_t width, bool last) {
  const spi::Grid<Key> keys = blocks.target(step);
  const std::string defines = define("GROUP", blocks.items);
  const cl_ulong total = blocks.left();
  const auto pass = [&](std::size_t stride, bool mirrored) {
    launch("select/published/select_bitonic.cl", defines, "kith_bitonic_pass",
           Range{{total / keys_an_item, 1, 1}, {64, 1, 1}}, buffer_of(keys.memory), total, cl_ulong{stride},
           cl_uint{mirrored});
  };
  std::size_t span = width / keys_an_item;
  pass(span, true);
  for (; span > blocks.size; span /= keys_an_item) pass(span / keys_an_item, false);

  // Each work-group handles one run, even if it could handle several.
  const spi::Grid<Key>& to = last ? step.out : keys;
  launch("select/published/select_bitonic.cl", defines, "kith_bitonic_clean",
         Range{{blocks.lists * blocks.blocks * blocks.items, 1, 1}, {blocks.items, 1, 1}},
         buffer_of(keys.memory), blocks.blocks, blocks.size, static_cast<cl_uint>(span), step.lists,
         cl_ulong{last ? step.k : std::size_t{blocks.blocks} * blocks.size}, to,
         Local{places(blocks.size, blocks.items) * sizeof(Key)});
}

}  // namespace kith::opencl
