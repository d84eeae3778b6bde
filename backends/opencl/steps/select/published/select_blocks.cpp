#include "steps/select/published/select_blocks.hpp"

#include <utility>

namespace kith::opencl {

/// Returns the bytes of scratch for the keys of all blocks, and for merging them.
std::size_t Device::blocks_scratch_bytes(const spi::SelectStep& step, const Blocks& blocks) const {
  if (blocks.blocks == 1) return 0;
  const Runs first{blocks.blocks * blocks.keep, blocks.keep}, second = first.merged(step.k);
  return (blocks.left() + (second.one() ? 0 : blocks.lists * second.total)) * sizeof(Key);
}

/// If a list has several blocks, merges their keys, which are in scratch, in pairs into `out`.
void Device::merge_blocks(const spi::SelectStep& step, const Blocks& blocks) {
  if (blocks.blocks == 1) return;
  const auto rows = static_cast<std::uint32_t>(step.distances.rows);
  std::size_t spare = blocks.left(), other = 0;  // where the two parts of scratch begin
  spi::Grid<Key> from = blocks.target(step);
  for (Runs now{blocks.blocks * blocks.keep, blocks.keep}; !now.one();) {
    const Runs next = now.merged(step.k);
    const std::size_t cols = std::size_t{step.lists} * next.total;
    const spi::Grid<Key> to =
        next.one() ? step.out : spi::Grid<Key>{step.scratch.memory, spare, step.distances.rows, cols, cols};
    merge_runs(from, rows, step.lists, now.total, now.run, to, next.total, next.run);
    from = to;
    now = next;
    std::swap(spare, other);
  }
}

/// Merges all blocks at once, by the kernel of the merge step, if every block has k keys and local memory has
/// room for them.
void Device::merge_whole_blocks(const spi::SelectStep& step, const Blocks& blocks) {
  if (blocks.blocks <= 2 || blocks.keep < step.k || !merges_at_once(step.k))
    return merge_blocks(step, blocks);
  merge_at_once(blocks.target(step), static_cast<std::uint32_t>(step.distances.rows), step.lists,
                blocks.blocks, step.k, step.out);
}

}  // namespace kith::opencl
