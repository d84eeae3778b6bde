#include <algorithm>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "kith/error.hpp"
#include "kith/evaluation.hpp"

namespace kith {
namespace {

/// Divides; 0 if the divisor is 0.
double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

void check_k(const Evaluation& evaluation, std::int64_t k) {
  if (k < 1 || k > evaluation.k_max)
    throw Error(Errc::invalid_argument, "evaluation: k = " + std::to_string(k) +
                                            " was not evaluated; choose k from 1 to " +
                                            std::to_string(evaluation.k_max));
}

}  // namespace

double Evaluation::accuracy(std::int64_t k) const {
  check_k(*this, k);
  const FloatGuard guard;
  return share(static_cast<double>(correct[static_cast<std::size_t>(k - 1)]), static_cast<double>(rows));
}

std::int64_t Evaluation::best_k() const {
  check_k(*this, 1);
  return std::max_element(correct.begin(), correct.end()) - correct.begin() + 1;
}

std::span<const std::uint32_t> Evaluation::confusion_of(std::int64_t k) const try {
  check_k(*this, k);
  const std::size_t cells = classes.size() * (classes.size() + 1);
  return std::span(confusion).subspan(static_cast<std::size_t>(k - 1) * cells, cells);
} catch (...) {
  rethrow_as_error();
}

std::vector<ClassScore> Evaluation::scores(std::int64_t k) const try {
  const std::span<const std::uint32_t> cells = confusion_of(k);
  const FloatGuard guard;
  const std::size_t count = classes.size(), columns = count + 1;
  std::vector<std::int64_t> answers(count);
  std::vector<ClassScore> scores(count);
  for (std::size_t truth = 0; truth < count; ++truth)
    for (std::size_t answer = 0; answer < columns; ++answer) {
      const std::uint32_t rows_there = cells[truth * columns + answer];
      scores[truth].support += rows_there;
      if (answer < count) answers[answer] += rows_there;
    }
  for (std::size_t c = 0; c < count; ++c) {
    ClassScore& score = scores[c];
    const auto right = static_cast<double>(cells[c * columns + c]);
    score.precision = share(right, static_cast<double>(answers[c]));
    score.recall = share(right, static_cast<double>(score.support));
    score.f1 = share(2 * score.precision * score.recall, score.precision + score.recall);
  }
  return scores;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
