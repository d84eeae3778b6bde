// The format of MNIST: two zero bytes, the type, the number of axes, their sizes as big-endian u32.
// Source: LeCun, Cortes, Burges, The MNIST database of handwritten digits.
#include <array>

#include "files/formats.hpp"

namespace kith::files {
namespace {

ElementType type_of(const Source& source, unsigned char code) {
  switch (code) {
    case 0x08:
      return ElementType::u8;
    case 0x09:
      return ElementType::i8;
    case 0x0B:
      return ElementType::i16;
    case 0x0C:
      return ElementType::i32;
    case 0x0D:
      return ElementType::f32;
    case 0x0E:
      return ElementType::f64;
    default:
      break;
  }
  source.fail(
      "has type " + std::to_string(code) +
      ", which idx does not define; it has 8 (u8), 9 (i8), 11 (i16), 12 (i32), 13 (f32) and 14 (f64)");
}

}  // namespace

ArrayLayout read_idx_header(Source& source) {
  std::array<unsigned char, 4> start{};
  source.read_exactly(start.data(), start.size(), "its header");
  if (start[0] != 0 || start[1] != 0)
    source.fail("does not begin with two zero bytes, as idx files do; name it by the format it has");
  ArrayLayout layout;
  layout.type = type_of(source, start[2]);
  layout.big_endian = true;
  for (int axis = 0; axis < start[3]; ++axis) {
    std::array<unsigned char, 4> size{};
    source.read_exactly(size.data(), size.size(), "its header");
    layout.shape.push_back(std::uint64_t{size[0]} << 24 | std::uint64_t{size[1]} << 16 |
                           std::uint64_t{size[2]} << 8 | std::uint64_t{size[3]});
  }
  return layout;
}

}  // namespace kith::files
