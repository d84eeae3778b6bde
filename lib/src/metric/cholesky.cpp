#include "metric/cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace kith {

Cholesky::Cholesky(std::span<const double> matrix, std::int64_t dims)
    : dims_(static_cast<std::size_t>(dims)), failed_(dims), factor_(dims_ * dims_), columns_(dims_ * dims_) {
  for (std::size_t i = 0; i < dims_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = (matrix[i * dims_ + j] + matrix[j * dims_ + i]) / 2;
      for (std::size_t k = 0; k < j; ++k) rest -= at(i, k) * at(j, k);
      if (i == j && !(rest > 0 && std::isfinite(rest))) {
        failed_ = static_cast<std::int64_t>(i);
        return;
      }
      at(i, j) = i == j ? std::sqrt(rest) : rest / at(j, j);
      columns_[j * dims_ + i] = at(i, j);
    }
  }
}

void Cholesky::solve(std::span<double> x) const {
  for (std::size_t j = 0; j < dims_; ++j) {
    const double* const column = columns_.data() + j * dims_;
    const double y = x[j] /= column[j];
    for (std::size_t i = j + 1; i < dims_; ++i) x[i] -= column[i] * y;
  }
}

void Cholesky::multiply(std::span<double> x, std::span<double> from) const {
  std::copy(x.begin(), x.end(), from.begin());
  std::fill(x.begin(), x.end(), 0.0);
  for (std::size_t i = 0; i < dims_; ++i) {
    const double* const row = factor_.data() + i * dims_;
    const double value = from[i];
    for (std::size_t j = 0; j <= i; ++j) x[j] += row[j] * value;
  }
}

}  // namespace kith
