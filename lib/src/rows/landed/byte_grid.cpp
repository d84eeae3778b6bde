#include "rows/landed/byte_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kith/spi/byte_grid.hpp"

namespace kith {

bool is_of_floats(const ByteGrid& grid) {
  const double steps = static_cast<double>(grid.centre) * static_cast<double>(grid.scale);
  return grid.exact && steps == std::nearbyint(steps);
}

spi::FloatGrid float_grid(const ByteGrid& grid) {
  return is_of_floats(grid) ? spi::FloatGrid{grid.centre, static_cast<float>(grid.step()), grid.scale}
                            : spi::FloatGrid{};
}

/// Each comparison becomes a number of its own: compilers vectorise neither a branch nor `&&`, which took six
/// times as long.
bool lies_on(const ByteGrid& grid, const float* row, std::int64_t dims) {
  constexpr float to_whole = 0x1.8p23f;  // adding and subtracting it rounds a float to a whole number
  constexpr float least = spi::least_on_grid, most = spi::most_on_grid;
  const auto step = static_cast<float>(grid.step());
  const float centre = grid.centre, scale = grid.scale;
  unsigned off = 0;
  for (std::int64_t d = 0; d < dims; ++d) {
    const float i = ((row[d] - centre) * scale + to_whole) - to_whole;
    const auto beside = static_cast<unsigned>(!(centre + i * step == row[d]));
    off |= beside | static_cast<unsigned>(!(i >= least)) | static_cast<unsigned>(!(i <= most));
  }
  return off == 0;
}

std::optional<Element> element_of(const ByteGrid& grid) {
  if (!grid.exact || grid.scale != 1) return std::nullopt;
  if (grid.centre == 0) return Element::i8;
  return grid.centre == -static_cast<float>(spi::least_on_grid) ? std::optional(Element::u8) : std::nullopt;
}

/// The sum with `big` has a whole number from 0 to 255, or -128 to 127, in its last bits, and no other bits
/// than those of `big`. This vectorises, too.
bool to_bytes(Element element, const float* row, std::int64_t dims, unsigned char* bytes) {
  constexpr float big = 0x1.8p23f;
  const std::uint32_t least = element == Element::i8 ? 128 : 0,
                      zero = std::bit_cast<std::uint32_t>(big) - least;
  std::uint32_t off = 0;
  for (std::int64_t d = 0; d < dims; ++d) {
    const float sum = row[d] + big;
    const std::uint32_t above = std::bit_cast<std::uint32_t>(sum) - zero;
    const std::uint32_t rest = std::bit_cast<std::uint32_t>(sum - big) ^ std::bit_cast<std::uint32_t>(row[d]);
    off |= rest | (above & ~0xFFu);
    bytes[d] = static_cast<unsigned char>(above - least);
  }
  return off == 0;
}

/// A maximum of whole numbers vectorises.
std::int32_t range_bits(const float* row, const std::vector<float>& centre) {
  std::int32_t most = 0;
  for (std::size_t d = 0; d < centre.size(); ++d)
    most = std::max(most, std::bit_cast<std::int32_t>(row[d] - centre[d]) & 0x7FFFFFFF);
  return most;
}

}  // namespace kith
