#include "steps/select/published/select_blocks.hpp"

namespace kith::opencl {
namespace {

/// Returns blocks of 1024, as published. On GPUs eight keys per item stay in registers (select_k_min.cl), so
/// that a work-group has one block.
Blocks blocks_of_k_min(const spi::SelectStep& step, Family family, const Limits& limits) {
  const bool lanes = family == Family::lanes;
  Blocks blocks(step, family, lanes ? keys_that_fit(limits, 1, 1024) : 1024);
  if (!lanes) {
    blocks.size = std::max(blocks.size, 32 * keys_an_item);
    blocks.keep = std::min(step.k, blocks.size);
    blocks.items = blocks.size / keys_an_item;
  }
  blocks.keys = blocks.size;
  return blocks;
}

}  // namespace

std::size_t Device::k_min_scratch_bytes(const spi::SelectStep& step) const {
  return blocks_scratch_bytes(step, blocks_of_k_min(step, family_, limits_));
}

void Device::select_k_min(const spi::SelectStep& step) {
  const Blocks blocks = blocks_of_k_min(step, family_, limits_);
  const auto run = [&](const char* name, const auto&... more) {
    launch_blocks(step, blocks, "select/published/select_k_min.cl", name, more...);
  };
  if (family_ == Family::lanes)
    run("kith_select_k_min_lanes", Local{blocks.size * sizeof(Key)});
  else
    run("kith_select_k_min");
  merge_whole_blocks(step, blocks);
}

}  // namespace kith::opencl
