// Finds the directions along which rows differ most, by orthogonal iteration (Rutishauser 1969), which need
// not converge: every set of directions is correct.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "search/projected/double_products.hpp"
#include "search/projected/projection.hpp"

namespace kith {
namespace {

constexpr std::size_t width = static_cast<std::size_t>(fine_columns);
constexpr std::int64_t columns_a_task = 16;

std::vector<double> centred(MatrixView<const float> rows, const std::vector<float>& centre) {
  const std::size_t dims = centre.size();
  std::vector<double> moved(size(rows.rows()) * dims);
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    for (std::size_t d = 0; d < dims; ++d)
      moved[size(r) * dims + d] =
          static_cast<double>(rows(r, static_cast<std::int64_t>(d))) - static_cast<double>(centre[d]);
  return moved;
}

double product_of(const double* a, const double* b, std::size_t count) {
  constexpr std::size_t lanes = 4;
  double sums[lanes] = {};
  std::size_t d = 0;
  for (; d + lanes <= count; d += lanes)
    for (std::size_t i = 0; i < lanes; ++i) sums[i] += a[d + i] * b[d + i];
  for (; d < count; ++d) sums[0] += a[d] * b[d];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Makes directions orthonormal, one after another (Gram-Schmidt, twice); those that depend on others
/// become 0.
///   along  [width, dims]
void make_orthonormal(std::vector<double>& along, std::size_t dims) {
  for (std::size_t i = 0; i < width; ++i) {
    double* const own = along.data() + i * dims;
    const double before = std::sqrt(product_of(own, own, dims));
    for (int time = 0; time < 2; ++time)
      for (std::size_t j = 0; j < i; ++j) {
        const double* const other = along.data() + j * dims;
        const double product = product_of(own, other, dims);
        for (std::size_t d = 0; d < dims; ++d) own[d] -= product * other[d];
      }
    const double after = std::sqrt(product_of(own, own, dims));
    constexpr double least_left = 1e-7;
    const bool depends = i + 1 == width || !(after > least_left * before) || !std::isfinite(before);
    for (std::size_t d = 0; d < dims; ++d) own[d] = depends ? 0 : own[d] / after;
  }
}

std::vector<double> transposed(const std::vector<double>& a, std::size_t rows, std::size_t cols) {
  std::vector<double> b(a.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) b[c * rows + r] = a[r * cols + c];
  return b;
}

}  // namespace

std::vector<double> directions_of(MatrixView<const float> sample, const std::vector<float>& centre,
                                  std::uint32_t threads) {
  constexpr int times = 5;
  const std::size_t dims = centre.size(), count = size(sample.rows());
  const auto columns = static_cast<std::int64_t>(dims), work = sample.rows() * columns * fine_columns / 4;
  const std::vector<double> rows = centred(sample, centre);
  // The first directions are rows of the sample.
  std::vector<double> along(width * dims);
  for (std::size_t i = 0; i < width; ++i)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i * count / width * dims), dims,
                along.begin() + static_cast<std::ptrdiff_t>(i * dims));
  make_orthonormal(along, dims);
  std::vector<double> of_rows(count * width);
  for (int time = 0; time < times; ++time) {
    std::vector<double> directions = transposed(along, width, dims);
    parallel_for(sample.rows(), work, threads, [&](std::int64_t r) {
      double* const own = of_rows.data() + size(r) * width;
      std::fill_n(own, width, 0);
      add_products(rows.data() + size(r) * dims, 1, directions.data(), dims, width, own);
    });
    std::fill(directions.begin(), directions.end(), 0);
    parallel_for(divide_up(columns, columns_a_task), work, threads, [&](std::int64_t task) {
      for (std::int64_t d = task * columns_a_task; d < std::min(columns, (task + 1) * columns_a_task); ++d)
        add_products(rows.data() + d, dims, of_rows.data(), count, width,
                     directions.data() + size(d) * width);
    });
    along = transposed(directions, dims, width);
    make_orthonormal(along, dims);
  }
  return transposed(along, width, dims);
}

double filled_directions(MatrixView<const float> sample, const std::vector<float>& centre,
                         std::uint32_t threads) {
  const std::size_t dims = centre.size();
  const std::vector<double> rows = centred(sample, centre);
  std::vector<double> squares(size(sample.rows())), norms(size(sample.rows()));
  parallel_for(sample.rows(), sample.rows() * sample.rows() * static_cast<std::int64_t>(dims) / 4, threads,
               [&](std::int64_t r) {
                 for (std::int64_t s = 0; s < sample.rows(); ++s) {
                   const double product =
                       product_of(rows.data() + size(r) * dims, rows.data() + size(s) * dims, dims);
                   squares[size(r)] += product * product;
                   if (r == s) norms[size(r)] = product;
                 }
               });
  double sum = 0, square = 0;
  for (std::size_t r = 0; r < norms.size(); ++r) {
    sum += norms[r];
    square += squares[r];
  }
  return square > 0 ? sum * sum / square : 0;
}

}  // namespace kith
