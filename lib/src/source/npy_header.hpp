// Parses the header of NumPy's array files, versions 1.0 to 3.0: a magic string, a version, the length of
// the dictionary, and the dictionary in Python's notation. numpy.lib.format defines it, from "Format Version
// 1.0" on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
/// A file begins with the magic string, and then has a byte each for the major and the minor version.
inline constexpr std::size_t npy_start_bytes = 8;
/// Version 1.0 allows no more; arrays of numbers need 128.
inline constexpr std::size_t npy_longest_header = 65536;

/// Returns the size in bytes of the little-endian length that follows the start; 0 if the version is not 1.0,
/// 2.0 or 3.0.
///   start  [npy_start_bytes]
std::size_t npy_length_bytes(const char* start);

struct NpyHeader {
  /// The type of elements, such as `<f4`. `[` means records with fields; the rest is then not set.
  std::string descr;
  bool fortran = false;  ///< the first axis varies fastest
  std::vector<std::uint64_t> shape;
};

/// Parses the dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Empty if it has
/// another form.
std::optional<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace kith
