// Packs rows, and the boxes around them, on the host in the format of BoxesStep. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

struct PackedBoxes {
  std::vector<float> rows;    ///< blocks of a leaf, in the order of boxes; padded with the last row
  std::vector<float> bounds;  ///< spi::Boxes::bounds
};

/// Makes the boxes around rows that are in a given order.
///   rows     [n, dims]
///   numbers  [n]  the row at each position
PackedBoxes packed_boxes(MatrixView<const float> rows, const std::vector<std::uint32_t>& numbers,
                         std::uint32_t threads);

}  // namespace kith
