#include "boxes/packed_boxes.hpp"

#include <algorithm>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/spi/boxes.hpp"

namespace kith {
namespace {

constexpr std::size_t leaf = spi::box_rows;

/// Packs the rows in their order into blocks of a leaf. The last block is padded with copies of the last row.
std::vector<float> packed_leaves(MatrixView<const float> rows, const std::vector<std::uint32_t>& numbers,
                                 std::uint32_t threads) {
  const std::size_t n = numbers.size(), dims = size(rows.cols()), leaves = (n + leaf - 1) / leaf;
  std::vector<float> packed(leaves * leaf * dims);
  parallel_for(static_cast<std::int64_t>(leaves), static_cast<std::int64_t>(packed.size()), threads,
               [&](std::int64_t b) {
                 float* const to = packed.data() + size(b) * leaf * dims;
                 for (std::size_t r = 0; r < leaf; ++r) {
                   const float* const row = rows.row(numbers[std::min(size(b) * leaf + r, n - 1)]);
                   for (std::size_t d = 0; d < dims; ++d) to[d * leaf + r] = row[d];
                 }
               });
  return packed;
}

/// Writes the bounds of box `at`: the least and the largest value in each dimension of the rows or boxes
/// inside it.
///   least, largest  [dims, leaf]  the first `count` entries of a block are inside
///   to              [2, dims, leaf]
void bound(const float* least, const float* largest, std::size_t count, std::size_t dims, float* to,
           std::size_t at) {
  for (std::size_t d = 0; d < dims; ++d) {
    to[d * leaf + at] = *std::min_element(least + d * leaf, least + d * leaf + count);
    to[(dims + d) * leaf + at] = *std::max_element(largest + d * leaf, largest + d * leaf + count);
  }
}

/// Makes spi::Boxes::bounds from packed leaves.
std::vector<float> bounds_of(const std::vector<float>& packed, std::uint32_t n, std::size_t dims) {
  const std::size_t block = 2 * dims * leaf;
  std::vector<float> bounds(spi::box_blocks(n) * block);
  for (std::size_t box = 0; box < spi::boxes_of_level(n, 0); ++box) {
    const float* const rows = packed.data() + box * leaf * dims;
    bound(rows, rows, std::min(leaf, n - box * leaf), dims, bounds.data() + box / leaf * block, box % leaf);
  }
  for (std::uint32_t level = 1; level < spi::box_levels(n); ++level) {
    const float* const inside = bounds.data() + spi::blocks_before_level(n, level - 1) * block;
    float* const to = bounds.data() + spi::blocks_before_level(n, level) * block;
    const std::size_t below = spi::boxes_of_level(n, level - 1);
    for (std::size_t box = 0; box < spi::boxes_of_level(n, level); ++box) {
      const float* const boxes = inside + box * block;
      bound(boxes, boxes + dims * leaf, std::min(leaf, below - box * leaf), dims, to + box / leaf * block,
            box % leaf);
    }
  }
  return bounds;
}

}  // namespace

PackedBoxes packed_boxes(MatrixView<const float> rows, const std::vector<std::uint32_t>& numbers,
                         std::uint32_t threads) {
  const FloatGuard guard;
  PackedBoxes boxes{packed_leaves(rows, numbers, threads), {}};
  boxes.bounds = bounds_of(boxes.rows, static_cast<std::uint32_t>(numbers.size()), size(rows.cols()));
  return boxes;
}

}  // namespace kith
