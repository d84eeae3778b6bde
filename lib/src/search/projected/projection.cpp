#include "search/projected/projection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/spi/product_error.hpp"
#include "search/projected/double_products.hpp"

namespace kith {
namespace {

constexpr double unit_of_doubles = 0x1p-53, unit_of_floats = 0x1p-24;
/// Rounds to float. No element of a row is so large, but one of a query may be; nothing bounds its products.
float rounded(double value) {
  constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
  return static_cast<float>(std::clamp(value, -most, most));
}

constexpr std::int64_t rows_at_once = 16,
                       columns_at_once = 64;  // what is read of directions stays in a cache

/// Returns how far directions are from orthonormal: a bound of the norm of P P^T - I, for those that are
/// not 0.
double off_orthonormal(const std::vector<double>& directions, std::int64_t dims) {
  const std::vector<double> products = gram_of_columns(directions, size(dims), size(fine_columns));
  double square = 0;
  for (std::size_t i = 0; i < size(fine_columns); ++i)
    for (std::size_t j = 0; j < size(fine_columns); ++j) {
      const double product = products[i * size(fine_columns) + j];
      const double off = i == j && product != 0 ? product - 1 : product;
      square += off * off;
    }
  // Each product of two directions is rounded dims times, and they are at most 2 long.
  return std::sqrt(square) * (1 + 0x1p-20) +
         static_cast<double>(fine_columns) * 8 * static_cast<double>(dims + 2) * unit_of_doubles;
}

}  // namespace

Projection::Projection(std::vector<float> centre, std::vector<double> directions)
    : centre_(std::move(centre)), directions_(std::move(directions)) {
  const double off = off_orthonormal(directions_, dims());
  const double sums = 4 * static_cast<double>(dims() + fine_columns + 8) * unit_of_doubles,
               of_columns = std::sqrt(static_cast<double>(fine_columns)) * sums;
  stretch_ = std::sqrt(1 + off);
  error_ = of_columns + std::sqrt(off + 4 * of_columns + sums) + 1.01 * unit_of_floats;
}

/// Projects rows first ... first + rows_at_once - 1, as far as they are there.
void Projection::project_some(MatrixView<const float> rows, std::int64_t first, Projected& to) const {
  const std::size_t count = size(std::min(rows_at_once, rows.rows() - first)), width = size(fine_columns),
                    all = size(dims());
  std::array<double, size_t{rows_at_once} * size_t{columns_at_once}> moved;
  std::array<double, size_t{rows_at_once} * size_t{fine_columns}> along{};
  std::array<double, size_t{rows_at_once}> square{};
  for (std::size_t begin = 0; begin < all; begin += size(columns_at_once)) {
    const std::size_t some = std::min(size(columns_at_once), all - begin);
    for (std::size_t r = 0; r < count; ++r) {
      const float* const row = rows.row(first + static_cast<std::int64_t>(r)) + begin;
      double* const own = moved.data() + r * size(columns_at_once);
      for (std::size_t d = 0; d < some; ++d)
        own[d] = static_cast<double>(row[d]) - static_cast<double>(centre_[begin + d]);
      for (std::size_t d = 0; d < some; ++d) square[r] += own[d] * own[d];
      add_products(own, 1, directions_.data() + begin * width, some, width, along.data() + r * width);
    }
  }
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t place = size(first) + r, coarse = size(coarse_columns) - 1, fine = width - 1;
    const double* const own = along.data() + r * width;
    float* const near = to.coarse.data() + place * size(coarse_columns);
    float* const whole = to.fine.data() + place * width;
    double left = square[r];
    for (std::size_t i = 0; i < fine; ++i) {
      if (i == coarse) near[coarse] = rounded(std::sqrt(std::max(left, 0.0)));
      left -= own[i] * own[i];
      whole[i] = rounded(own[i]);
    }
    whole[fine] = rounded(std::sqrt(std::max(left, 0.0)));
    std::copy_n(whole, coarse, near);
    to.norms[place] = std::sqrt(square[r]) * (1 + static_cast<double>(dims() + 4) * unit_of_doubles);
  }
}

Projected Projection::project(MatrixView<const float> rows, std::uint32_t threads) const {
  const std::size_t count = size(rows.rows());
  Projected projected{std::vector<float>(count * size(coarse_columns)),
                      std::vector<float>(count * size(fine_columns)), std::vector<double>(count)};
  const std::int64_t parts = divide_up(rows.rows(), rows_at_once);
  parallel_for(parts, rows.rows() * dims() * fine_columns / 4, threads,
               [&](std::int64_t part) { project_some(rows, part * rows_at_once, projected); });
  return projected;
}

float Projection::bound(double norm, float value, std::int64_t columns) const {
  if (std::isinf(value)) return value;
  constexpr double least = 0x1p-149;  // the least float above 0
  const auto w = static_cast<double>(columns);
  const std::size_t all = size(dims());
  const double g = spi::chain_error(all), g_projected = spi::chain_error(size(columns));
  const double radius = std::sqrt((static_cast<double>(value) + spi::chain_underflow(all)) / (1 - g));
  const double apart = stretch_ * radius + error_ * (2 * norm + radius) + w * least;
  return spi::float_above((apart * apart * (1 + g_projected) + w * least) * (1 + 0x1p-40));
}

}  // namespace kith
