#include "structure/structure_pairs.hpp"

#include <algorithm>

#include "base/float_guard.hpp"
#include "host/parallel.hpp"

namespace kith {
namespace {

constexpr std::size_t classes_a_share = 64;

/// Returns Q. It is NaN if there is nothing to divide: one class, two zeros, two infinities.
double informativeness_of(const ClassMatrix& matrix) {
  const auto classes = static_cast<std::size_t>(matrix.classes);
  PairSum between, within;
  for (std::size_t a = 0; a < classes; ++a) {
    within.add(matrix.mean[a * classes + a]);
    for (std::size_t b = a + 1; b < classes; ++b) between.add(matrix.mean[a * classes + b]);
  }
  return 2 * between.value() / (static_cast<double>(classes - 1) * within.value());
}

}  // namespace

ClassPairs::ClassPairs(std::vector<std::int64_t> sizes, Arithmetic arithmetic)
    : sizes_(std::move(sizes)), arithmetic_(arithmetic), sums_(sizes_.size() * sizes_.size()) {}

template <class Real>
void ClassPairs::add(std::span<const std::uint32_t> codes, const Real* high, const Real* low,
                     std::uint32_t threads) {
  const std::size_t classes = sizes_.size(), shares = (classes + classes_a_share - 1) / classes_a_share;
  parallel_for(static_cast<std::int64_t>(shares), static_cast<std::int64_t>(codes.size() * classes), threads,
               [&](std::int64_t share) {
                 const std::size_t begin = static_cast<std::size_t>(share) * classes_a_share;
                 const std::size_t end = std::min(begin + classes_a_share, classes);
                 for (std::size_t i = 0; i < codes.size(); ++i)
                   for (std::size_t b = std::max<std::size_t>(begin, codes[i]); b < end; ++b)
                     sums_[codes[i] * classes + b].add(static_cast<double>(high[i * classes + b]) +
                                                       static_cast<double>(low[i * classes + b]));
               });
}

template void ClassPairs::add(std::span<const std::uint32_t>, const float*, const float*, std::uint32_t);
template void ClassPairs::add(std::span<const std::uint32_t>, const double*, const double*, std::uint32_t);

ClassMatrix ClassPairs::matrix() const {
  const FloatGuard guard;
  const std::size_t classes = sizes_.size();
  ClassMatrix matrix{static_cast<std::int64_t>(classes), std::vector<double>(classes * classes), 0,
                     arithmetic_};
  for (std::size_t a = 0; a < classes; ++a)
    for (std::size_t b = a; b < classes; ++b) {
      const auto of_a = static_cast<double>(sizes_[a]);
      const double of_b = a == b ? std::max(1.0, of_a - 1) : static_cast<double>(sizes_[b]);
      const double mean = sums_[a * classes + b].value() / (of_a * of_b);
      matrix.mean[a * classes + b] = matrix.mean[b * classes + a] = mean;
    }
  matrix.informativeness = informativeness_of(matrix);
  return matrix;
}

}  // namespace kith
