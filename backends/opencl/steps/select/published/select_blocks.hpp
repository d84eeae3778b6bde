// Divides the lists of selectors into blocks that fit into local memory (kernels_cl/common/runs.cl).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device.hpp"

namespace kith::opencl {

constexpr std::uint32_t keys_an_item = 8;  // EACH in runs.cl

/// Returns how many keys of local memory `keys` keys take with the gaps between them: PLACE in runs.cl.
inline std::size_t places(std::uint32_t keys, std::uint32_t items) {
  return items == 1 ? keys : keys + keys / 16;
}

/// Returns the largest power of two, up to `most`, so that `copies` times this many keys fit into
/// local memory.
inline std::uint32_t keys_that_fit(const Limits& limits, std::uint32_t copies, std::uint32_t most) {
  while (most > keys_an_item && copies * places(most, 2) * sizeof(Key) + 64 > limits.local_memory_bytes)
    most /= 2;
  return most;
}

/// Returns how many places a list needs: the columns of the widest group, or k if that is more.
inline std::uint32_t list_span(const spi::SelectStep& step) {
  return std::max(group_width(step.distances.cols, step.groups), step.k);
}

/// The lists of a step, divided into blocks of `size` places, a power of two; `keep` keys of each block
/// are kept.
struct Blocks {
  std::uint32_t size, blocks, keep;
  std::uint32_t items;  // work-items per group
  std::uint32_t keys;   // keys per work-group
  std::size_t lists;

  /// Makes blocks as large as a list, but with at most `most` places.
  Blocks(const spi::SelectStep& step, Family family, std::uint32_t most)
      : size(std::min(most, std::max(keys_an_item, std::bit_ceil(list_span(step))))),
        blocks(divide_up(list_span(step), size)),
        keep(std::min(step.k, size)),
        items(family == Family::lanes ? 1 : std::clamp(size / keys_an_item, 64u, 256u)),
        keys(family == Family::lanes ? size : items * keys_an_item),
        lists(step.distances.rows * step.groups) {}

  /// Returns the range of work-items: every work-group has keys / size blocks.
  Range range() const {
    const std::size_t work_groups = (lists * blocks + keys / size - 1) / (keys / size);
    return {{work_groups * items, 1, 1}, {items, 1, 1}};
  }
  std::size_t local_bytes() const { return places(keys, items) * sizeof(Key); }
  std::size_t left() const { return lists * blocks * keep; }  ///< keys that are kept of all blocks

  /// Returns where the kept keys are written: to scratch, or to `out` if a list is one block.
  spi::Grid<Key> target(const spi::SelectStep& step) const {
    const std::size_t cols = std::size_t{step.groups} * blocks * keep;
    return blocks == 1 ? step.out : spi::Grid<Key>{step.scratch.memory, 0, step.distances.rows, cols, cols};
  }
};

/// Runs of `run` keys, of which a list has `total`; the last run may be short.
struct Runs {
  std::uint32_t total, run;

  bool one() const { return run >= total; }
  /// Returns the runs after a merge of pairs that keeps k keys of each.
  Runs merged(std::uint32_t k) const {
    const std::uint64_t pair = 2 * std::uint64_t{run};
    const auto kept = static_cast<std::uint32_t>(std::min<std::uint64_t>(pair, k));
    const auto rest = static_cast<std::uint32_t>(std::min<std::uint64_t>(total % pair, kept));
    return {static_cast<std::uint32_t>(total / pair) * kept + rest, kept};
  }
};

/// Runs a kernel that makes ascending runs of keys from blocks of columns.
template <class... More>
void Device::launch_blocks(const spi::SelectStep& step, const Blocks& blocks, const char* source,
                           const char* name, const More&... more) {
  const spi::Grid<float>& d = step.distances;
  const spi::Grid<Key> to = blocks.target(step);
  launch(source, define("GROUP", blocks.items), name, blocks.range(), d, static_cast<cl_uint>(d.cols),
         step.first_row, step.groups, cl_ulong{blocks.lists}, blocks.blocks, blocks.size, blocks.keep, to,
         more...);
}

}  // namespace kith::opencl
