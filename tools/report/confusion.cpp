#include "report/confusion.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kith::report {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Confusion::Confusion(std::size_t classes, std::span<const std::size_t> truth,
                     std::span<const std::size_t> predicted)
    : classes_(classes),
      total_(static_cast<std::int64_t>(truth.size())),
      counts_(classes * classes),
      truth_(classes),
      predicted_(classes) {
  for (std::size_t q = 0; q < truth.size(); ++q) {
    ++counts_[truth[q] * classes + predicted[q]];
    ++truth_[truth[q]];
    ++predicted_[predicted[q]];
  }
}

Confusion::Confusion(std::size_t classes, std::vector<std::int64_t> counts)
    : classes_(classes), counts_(std::move(counts)), truth_(classes), predicted_(classes) {
  for (std::size_t t = 0; t < classes; ++t)
    for (std::size_t p = 0; p < classes; ++p) {
      truth_[t] += at(t, p);
      predicted_[p] += at(t, p);
      total_ += at(t, p);
    }
}

double Confusion::accuracy() const {
  return ratio(correct(), total_);
}

std::int64_t Confusion::correct() const {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < classes_; ++c) sum += at(c, c);
  return sum;
}

std::int64_t Confusion::truth(std::size_t c) const {
  return truth_[c];
}
std::int64_t Confusion::predicted(std::size_t c) const {
  return predicted_[c];
}
double Confusion::precision(std::size_t c) const {
  return ratio(at(c, c), predicted_[c]);
}
double Confusion::recall(std::size_t c) const {
  return ratio(at(c, c), truth_[c]);
}
double Confusion::f1(std::size_t c) const {
  return ratio(2 * at(c, c), truth_[c] + predicted_[c]);
}

std::vector<Confusion::Pair> Confusion::mistakes() const {
  std::vector<Pair> pairs;
  for (std::size_t t = 0; t < classes_; ++t)
    for (std::size_t p = 0; p < classes_; ++p)
      if (t != p && at(t, p) > 0) pairs.push_back({t, p, at(t, p)});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.count > b.count; });
  return pairs;
}

}  // namespace kith::report
