// The header of NumPy's array files, versions 1.0 to 3.0: a magic string, a version, the length of what
// follows, and that, which is a Python dictionary. Source: numpy.lib.format, "Format Version 1.0" and on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
/// The magic string, then the version: a byte each for 1 and 0 of 1.0.
inline constexpr std::size_t npy_start_bytes = 8;
/// Version 1.0 cannot go beyond; arrays of numbers need 128.
inline constexpr std::size_t npy_longest_header = 65536;

/// Bytes of the little-endian number behind the start that says how long the dictionary is; 0: another
/// version than 1.0, 2.0 and 3.0.
///   start  [npy_start_bytes]
std::size_t npy_length_bytes(const char* start);

struct NpyHeader {
  /// The type of elements, as in `<f4`. `[`: records with fields, and nothing else is said.
  std::string descr;
  bool fortran = false;  ///< the first axis varies fastest
  std::vector<std::uint64_t> shape;
};

/// What the dictionary says: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Nothing where it is
/// not of this form.
std::optional<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace kith
