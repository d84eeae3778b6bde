// How large the parts of a file may be. A file may be anybody's, and a few bytes of it may stand for many:
// no small file is to take much memory or time. What goes beyond is refused with the key of --read that
// allows it.
#pragma once

#include <cstdint>

namespace kith::files {

struct Limits {
  std::uint64_t svm_columns = std::uint64_t{1} << 24;   ///< the largest index of .svm files: max-columns
  std::uint64_t text_columns = std::uint64_t{1} << 20;  ///< cells of a line of other text: max-columns
  /// Bytes of a line of text, or of the lines that a quote holds together, as UTF-8; so of a cell: max-line
  std::uint64_t line = std::uint64_t{1} << 26;
  std::uint64_t axes = 32;  ///< of .npy and idx files; NumPy 1 has no more: max-axes
  /// Bytes of the values, as float32, for each byte of the file as it lies on the disk: max-growth. Every
  /// byte that a .gz unpacks to counts as a value.
  std::uint64_t growth = 1024;
  std::uint64_t free_growth = std::uint64_t{1} << 28;  ///< as many bytes may always be
};

}  // namespace kith::files
