// Rows in boxes, as the step takes them, in memory of the host. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

struct PackedBoxes {
  std::vector<float> rows;    ///< in their places, in blocks of a leaf; the last is padded with its last row
  std::vector<float> bounds;  ///< spi::Boxes::bounds
};

/// The boxes around rows in an order.
///   rows     [n, dims]
///   numbers  [n]  the row in each place
PackedBoxes packed_boxes(MatrixView<const float> rows, const std::vector<std::uint32_t>& numbers,
                         std::uint32_t threads);

}  // namespace kith
