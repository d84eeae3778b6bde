// Reads the header of the files of rows that big-ann-benchmarks, DiskANN and cuVS use: two little-endian u32,
// which are the numbers of rows and of columns, then the rows. The extension of the file name (.fbin, .u8bin,
// ...) says what type the elements have.
// Source: Simhadri et al., Results of the NeurIPS'21 Challenge on Billion-Scale Approximate Nearest Neighbor
// Search (2022), and its repository big-ann-benchmarks.
#include <array>

#include "files/formats.hpp"

namespace kith::files {
namespace {

ElementType bin_type(Format format) {
  switch (format) {
    case Format::u8bin:
      return ElementType::u8;
    case Format::i8bin:
      return ElementType::i8;
    case Format::f16bin:
      return ElementType::f16;
    case Format::ibin:
      return ElementType::i32;
    default:
      return ElementType::f32;
  }
}

}  // namespace

ArrayLayout read_bin_header(Source& source, Format format) {
  ArrayLayout layout;
  layout.type = bin_type(format);
  std::array<unsigned char, 8> start{};
  source.read_exactly(start.data(), start.size(), "its header");
  for (std::size_t at = 0; at < start.size(); at += 4)
    layout.shape.push_back(std::uint64_t{start[at]} | std::uint64_t{start[at + 1]} << 8 |
                           std::uint64_t{start[at + 2]} << 16 | std::uint64_t{start[at + 3]} << 24);
  const std::uint64_t rows = layout.shape[0], cols = layout.shape[1];
  source.require_length(multiply(multiply(rows, cols), size_of(layout.type)),
                        count_of(rows, "row") + " of " + count_of(cols, "column"));
  return layout;
}

}  // namespace kith::files
