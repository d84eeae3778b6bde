// Points of a map in metres, and the files that hold them.
#pragma once

#include "common/shell.hpp"

namespace command_tests {

/// Returns points of a map in metres, [rows, 3].
inline std::vector<double> map_points(std::int64_t rows, std::uint64_t state) {
  std::vector<double> points;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const double middle : {450000.0, 5411000.0, 300.0}) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      points.push_back(middle + std::round(200e3 * static_cast<double>(state >> 11u) * 0x1p-53) / 1e3);
    }
  return points;
}

inline string text_of(const std::vector<double>& points, std::size_t cols = 3) {
  string text = cols == 3 ? "x,y,z\n" : "";
  for (std::size_t i = 0; i < points.size(); ++i) {
    char cell[32];
    std::snprintf(cell, sizeof cell, "%.3f%c", points[i], (i + 1) % cols == 0 ? '\n' : ',');
    text += cell;
  }
  return text;
}

/// Returns an array of float64 as NumPy writes it.
inline string npy_of(const std::vector<double>& points) {
  string header =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(points.size() / 3) + ", 3), }";
  header.resize(117, ' ');
  header += '\n';
  string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + string(reinterpret_cast<const char*>(points.data()), points.size() * sizeof(double));
}

}  // namespace command_tests
