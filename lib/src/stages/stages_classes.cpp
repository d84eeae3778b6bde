// Implements the stages of filters and classes: mask, score, accumulate.
#include <cmath>
#include <limits>

#include "base/border.hpp"
#include "stages/stage_support.hpp"

namespace kith::stages {
namespace {

/// Writes a shape for messages.
std::string shape(std::size_t rows, std::size_t cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

std::string text_of(float value) {
  std::string text = std::to_string(value);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

/// Copies a filter row by row, without gaps.
std::vector<std::uint32_t> dense_filter(MatrixView<const std::uint32_t> filter, std::int64_t m,
                                        std::int64_t n) {
  if (filter.rows() != 1 && filter.rows() != m)
    refuse("mask: " + std::to_string(filter.rows()) + " filters for " + std::to_string(m) +
           " rows; give one, or one a row");
  if (filter.cols() != (n + 31) / 32)
    refuse("mask: a filter of " + std::to_string(filter.cols()) + " words for " + std::to_string(n) +
           " columns; give " + std::to_string((n + 31) / 32) + ", 32 columns a word");
  std::vector<std::uint32_t> words;
  for (std::int64_t q = 0; q < filter.rows(); ++q)
    for (std::int64_t w = 0; w < filter.cols(); ++w) words.push_back(filter(q, w));
  return words;
}

/// Copies weights row by row, without gaps; 0 if there is no neighbour.
std::vector<float> dense_weights(MatrixView<const float> weights, const KeyLists& nearest) {
  const FloatGuard guard;
  const std::size_t m = size(nearest.rows), k = size(nearest.k);
  if (weights.rows() != nearest.rows || weights.cols() != nearest.k)
    refuse("score: weights are " + shape(size(weights.rows()), size(weights.cols())) + " but neighbours " +
           shape(m, k) + "; give one weight a neighbour");
  std::vector<float> dense(m * k);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (nearest.keys[i] == no_key) continue;
    dense[i] = weights(static_cast<std::int64_t>(i / k), static_cast<std::int64_t>(i % k));
    if (!(dense[i] >= 0) || std::isinf(dense[i]))
      refuse("score: row " + std::to_string(i / k) + ", rank " + std::to_string(i % k) + " has weight " +
             text_of(dense[i]) + "; make every weight finite and not negative");
  }
  return dense;
}

}  // namespace

std::vector<float> mask(const Device& device, MatrixView<const float> distances,
                        MatrixView<const std::uint32_t> filter) try {
  const std::vector<std::uint32_t> words = dense_filter(filter, distances.rows(), distances.cols());
  std::vector<float> dense = dense_values("mask", distances, Masked::accepted);
  if (dense.empty()) return dense;
  const std::size_t m = size(distances.rows()), n = size(distances.cols());
  const std::size_t filters = size(filter.rows()), width = size(filter.cols());
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::MaskStep{there.input(words, filters, width), 0, there.in_and_out(dense, m, n)};
      },
      [&](spi::StepRunner& there, const auto& step) { dense = there.read(step.distances); });
  return dense;
} catch (...) {
  rethrow_as_error();
}

std::vector<float> score(const Device& device, const KeyLists& nearest, MatrixView<const float> weights,
                         std::span<const std::uint32_t> labels, std::uint32_t classes) try {
  check_neighbours("score", nearest, labels, classes);
  const std::vector<float> dense = dense_weights(weights, nearest);
  const std::size_t m = size(nearest.rows), k = size(nearest.k), n = labels.size();
  std::vector<float> sums(m * classes);
  if (m == 0) return sums;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::ScoreStep{there.input(nearest.keys, m, k), there.input(dense, m, k),
                              there.input(labels, 1, n), classes, there.output<float>(m, classes)};
      },
      [&](spi::StepRunner& there, const auto& step) { sums = there.read(step.sums); });
  return sums;
} catch (...) {
  rethrow_as_error();
}

Accumulated accumulate(const Device& device, MatrixView<const float> distances,
                       std::span<const std::uint32_t> labels, std::uint32_t classes) try {
  check_labels("accumulate", labels, classes);
  const std::size_t m = size(distances.rows()), n = size(distances.cols());
  if (labels.size() != n)
    refuse("accumulate: " + std::to_string(labels.size()) + " labels for " + std::to_string(n) +
           " columns; give one a column");
  const std::vector<float> dense = dense_values("accumulate", distances, Masked::refused);
  {
    const FloatGuard guard;
    for (std::size_t i = 0; i < dense.size(); ++i)
      if (dense[i] < 0)
        refuse("accumulate: row " + std::to_string(i / n) + ", column " + std::to_string(i % n) + " holds " +
               text_of(dense[i]) + "; distances must not be negative");
  }
  Accumulated sums{std::vector<float>(m * classes, std::numeric_limits<float>::infinity()),
                   std::vector<float>(m * classes), std::vector<float>(m * classes)};
  if (dense.empty()) return sums;
  run(
      device,
      [&](spi::StepRunner& there) {
        return spi::AccumulateStep{there.input(dense, m, n),
                                   there.input(labels, 1, n),
                                   classes,
                                   there.in_and_out(sums.smallest, m, classes),
                                   there.in_and_out(sums.high, m, classes),
                                   there.in_and_out(sums.low, m, classes),
                                   {}};
      },
      [&](spi::StepRunner& there, const auto& step) {
        sums.smallest = there.read(step.smallest);
        sums.high = there.read(step.high);
        sums.low = there.read(step.low);
      });
  return sums;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith::stages
