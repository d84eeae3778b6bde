#include "lab/experiments/sequential.hpp"

#include <algorithm>
#include <utility>

namespace kith::experiments {
namespace {

constexpr std::size_t short_part = 16;

template <class Pair>
bool nearer(const Pair& a, const Pair& b) {
  return a.distance < b.distance;
}

template <class Pair>
void insertion_sort(std::span<Pair> pairs) {
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const Pair pair = pairs[i];
    std::size_t to = i;
    for (; to > 0 && nearer(pair, pairs[to - 1]); --to) pairs[to] = pairs[to - 1];
    pairs[to] = pair;
  }
}

/// Partitions as Hoare does: no distance of the first part is above the pivot, none of the second below it.
/// Returns the length of the first part: at least one, and not all.
template <class Pair>
std::size_t partition(std::span<Pair> pairs) {
  const auto a = pairs.front().distance, b = pairs[pairs.size() / 2].distance, c = pairs.back().distance;
  const auto pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
  std::size_t left = 0, right = pairs.size() - 1;
  for (;;) {
    while (pairs[left].distance < pivot) ++left;
    while (pivot < pairs[right].distance) --right;
    if (left >= right) return left;
    std::swap(pairs[left++], pairs[right--]);
  }
}

}  // namespace

std::string_view name(SequentialSort sort) {
  switch (sort) {
    case SequentialSort::std_sort:
      return "std::sort";
    case SequentialSort::selection_sort:
      return "selection sort";
    case SequentialSort::quick_sort:
      return "quicksort";
  }
  return "?";
}

template <class Real>
SequentialProgram<Real>::SequentialProgram(MatrixView<const float> train,
                                           std::span<const std::uint32_t> labels, std::uint32_t classes)
    : labels_(labels.begin(), labels.end()),
      pairs_(labels.size()),
      dims_(static_cast<std::size_t>(train.cols())),
      classes_(classes) {
  for (std::int64_t t = 0; t < train.rows(); ++t)
    rows_.insert(rows_.end(), train.row(t), train.row(t) + train.cols());
}

template <class Real>
SequentialAnswer<Real> SequentialProgram<Real>::classify(const float* query, std::int64_t k,
                                                         SequentialSort sort) {
  const std::vector<Real> to(query, query + dims_);
  for (std::size_t t = 0; t < pairs_.size(); ++t) {
    Real sum = 0;
    for (std::size_t d = 0; d < dims_; ++d) {
      const Real difference = to[d] - rows_[t * dims_ + d];
      sum += difference * difference;
    }
    pairs_[t] = {sum, labels_[t]};
  }
  const std::span<Pair> pairs(pairs_);
  switch (sort) {
    case SequentialSort::std_sort:
      std::sort(pairs.begin(), pairs.end(), nearer<Pair>);
      break;
    case SequentialSort::selection_sort:
      selection_sort(pairs, static_cast<std::size_t>(k));
      break;
    case SequentialSort::quick_sort:
      quick_sort(pairs);
      break;
  }
  SequentialAnswer<Real> answer;
  answer.votes.resize(classes_);
  for (const Pair& pair : pairs.first(static_cast<std::size_t>(k))) {
    answer.distance.push_back(pair.distance);
    ++answer.votes[pair.label];
  }
  const auto most = std::max_element(answer.votes.begin(), answer.votes.end());
  answer.winner = static_cast<std::uint32_t>(most - answer.votes.begin());
  return answer;
}

template <class Real>
void SequentialProgram<Real>::selection_sort(std::span<Pair> pairs, std::size_t k) {
  for (std::size_t place = 0; place < k; ++place) {
    std::size_t smallest = place;
    for (std::size_t i = place + 1; i < pairs.size(); ++i)
      if (nearer(pairs[i], pairs[smallest])) smallest = i;
    std::swap(pairs[place], pairs[smallest]);
  }
}

// Recursion takes only the shorter part, so its depth stays below log2(n).
template <class Real>
void SequentialProgram<Real>::quick_sort(std::span<Pair> pairs) {
  while (pairs.size() > short_part) {
    const std::size_t middle = partition(pairs);
    const std::span<Pair> low = pairs.first(middle), high = pairs.subspan(middle);
    const bool low_is_shorter = low.size() < high.size();
    quick_sort(low_is_shorter ? low : high);
    pairs = low_is_shorter ? high : low;
  }
  insertion_sort(pairs);
}

template class SequentialProgram<float>;
template class SequentialProgram<double>;

}  // namespace kith::experiments
