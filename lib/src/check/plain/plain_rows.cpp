// Lands rows, and makes them unit rows.
#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "check/plain/plain_memory.hpp"
#include "check/plain/plain_steps.hpp"
#include "rows/landed/byte_grid.hpp"
#include "rows/landing.hpp"
#include "rows/rows.hpp"

namespace kith::spi {

void plain(const LandStep& s) {
  const auto* const bytes =
      reinterpret_cast<const unsigned char*>(static_cast<const PlainMemory*>(s.from.memory)->data.data());
  const bool counts = s.from.element != Element::bits;
  std::vector<float> row(static_cast<std::size_t>(landed_cols(s.from.element, s.from.cols)));
  for (std::size_t r = 0; r < s.from.rows; ++r) {
    const std::uint32_t at = s.chosen.cols > 0 ? row_of_grid(s.chosen, 0)[r] : static_cast<std::uint32_t>(r);
    land_row(s.from.element, bytes + s.from.first + at * s.from.stride, s.from.cols, row.data());
    std::span<const float> to = row_at(s.out, r);
    for (std::size_t d = 0; d < s.out.dims; ++d) {
      const float value = row[s.columns.cols > 0 ? row_of_grid(s.columns, 0)[d] : d];
      const_cast<float&>(to[d]) = value;
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
      std::uint32_t* const found = row_of_grid(s.found, 0);
      if (!counts) continue;
      found[largest_bits] = std::max(found[largest_bits], magnitude);
      if (magnitude >= 0x7F800000u) found[bad_row] = std::min(found[bad_row], s.first_row + at);
      const bool asked = s.grid.step != 0;
      if (asked && !lies_on({s.grid.centre, s.grid.scale, true}, &value, 1)) found[off_grid] = 1;
    }
  }
}

void plain(const UnitStep& s) {
  std::vector<float> row(s.rows.dims), unit(s.rows.dims);
  std::uint32_t* const found = row_of_grid(s.found, 0);
  for (std::size_t r = 0; r < s.rows.rows; ++r) {
    const auto to = row_at(s.rows, r);
    for (std::size_t d = 0; d < row.size(); ++d) row[d] = to[d];
    if (!make_unit_row(row.data(), s.rows.dims, unit.data())) {
      found[zero_row] = std::min(found[zero_row], s.first_row + static_cast<std::uint32_t>(r));
      continue;
    }
    for (std::size_t d = 0; d < row.size(); ++d) {
      const_cast<float&>(to[d]) = unit[d];
      found[largest_unit_bits] =
          std::max(found[largest_unit_bits], std::bit_cast<std::uint32_t>(unit[d]) & 0x7FFFFFFFu);
    }
  }
}

}  // namespace kith::spi
