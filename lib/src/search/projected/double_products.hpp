// Small products of matrices of doubles, in loops that compilers turn into vectors.
#pragma once

#include <cstddef>
#include <vector>

namespace kith {

/// Adds a[0] b[0] + a[step] b[1] + ... to a row.
///   b   [count, width]
///   to  [width]  in and out
inline void add_products(const double* a, std::size_t step, const double* b, std::size_t count,
                         std::size_t width, double* to) {
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const double a0 = a[j * step], a1 = a[(j + 1) * step], a2 = a[(j + 2) * step], a3 = a[(j + 3) * step];
    const double *const b0 = b + j * width, *const b1 = b0 + width, *const b2 = b1 + width,
                        *const b3 = b2 + width;
    for (std::size_t i = 0; i < width; ++i) to[i] += a0 * b0[i] + a1 * b1[i] + a2 * b2[i] + a3 * b3[i];
  }
  for (; j < count; ++j)
    for (std::size_t i = 0; i < width; ++i) to[i] += a[j * step] * b[j * width + i];
}

/// Returns the products of all pairs of columns, [width, width].
///   a  [rows, width]
inline std::vector<double> gram_of_columns(const std::vector<double>& a, std::size_t rows,
                                           std::size_t width) {
  std::vector<double> products(width * width);
  for (std::size_t i = 0; i < width; ++i)
    add_products(a.data() + i, width, a.data(), rows, width, products.data() + i * width);
  return products;
}

}  // namespace kith
