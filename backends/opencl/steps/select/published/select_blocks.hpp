// Shares the launches of selectors that divide lists into blocks.
#pragma once

#include "device.hpp"
#include "select/shapes.hpp"

namespace kith::opencl {

/// Runs a kernel that makes ascending runs of keys from blocks of columns.
template <class... More>
void Device::launch_blocks(const spi::SelectStep& step, const Blocks& blocks, const char* source,
                           const char* name, const More&... more) {
  const spi::Grid<float>& d = step.distances;
  const spi::Grid<Key> to = blocks.target(step);
  launch(source, define("GROUP", blocks.items), name, blocks.range(), d, static_cast<cl_uint>(d.cols),
         step.first_row, step.lists, cl_ulong{blocks.lists}, blocks.blocks, blocks.size, blocks.keep, to,
         more...);
}

}  // namespace kith::opencl
