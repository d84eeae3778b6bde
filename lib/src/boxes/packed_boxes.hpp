// Packs rows and the boxes around them on the host, as BoxesStep takes them. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

struct PackedBoxes {
  std::vector<float> rows;    ///< in their order, in blocks of a leaf; the last is padded with its last row
  std::vector<float> bounds;  ///< spi::Boxes::bounds
};

/// Makes the boxes around rows in an order.
///   rows     [n, dims]
///   numbers  [n]  the row at each position
PackedBoxes packed_boxes(MatrixView<const float> rows, const std::vector<std::uint32_t>& numbers,
                         std::uint32_t threads);

}  // namespace kith
