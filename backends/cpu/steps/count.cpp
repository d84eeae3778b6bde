// count: counts the rows in boxes that are within bounds of each query (docs/boxes.md, section 1). A box that
// is within a bound as a whole is counted unread, so that only leaves that a bound cuts are read.
#include <algorithm>
#include <span>

#include "cpu/steps/steps.hpp"
#include "cpu/steps/walked_boxes.hpp"
#include "kith/spi/boxes.hpp"

namespace kith::cpu {
namespace {

/// Returns whether one filter is for all queries, so that the rows that count can be summed up once.
bool sums_filter(const spi::CountStep& step) {
  return step.filter.cols > 0 && step.filter.rows == 1;
}

/// Returns the bytes that sums of rows that count take: one before each leaf, and one behind the last.
std::size_t sum_bytes(const spi::CountStep& step) {
  return sums_filter(step) ? (spi::boxes_of_level(step.train.rows.rows, 0) + 1) * sizeof(std::uint32_t) : 0;
}

/// Counts the rows of boxes, or of them those that count.
class RowsOfBoxes {
 public:
  /// Sums up one filter of all queries.
  ///   sums  memory of sum_bytes()
  RowsOfBoxes(const spi::CountStep& step, std::uint32_t* sums)
      : n_(step.train.rows.rows), numbers_(elements(step.train.numbers)), sums_(nullptr) {
    if (!sums_filter(step)) return;
    const std::uint32_t* const words = elements(step.filter);
    const std::uint32_t leaves = spi::boxes_of_level(n_, 0);
    sums[0] = 0;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
      sums[leaf + 1] = sums[leaf] + kept(words, leaf * leaf_rows, (leaf + std::size_t{1}) * leaf_rows);
    sums_ = sums;
  }

  /// Returns how many rows of a box count.
  ///   words  the filter of the query; null: all rows count
  std::uint32_t count(const std::uint32_t* words, std::uint32_t level, std::size_t box) const {
    std::size_t leaves = 1;
    for (std::uint32_t l = 0; l < level; ++l) leaves *= leaf_rows;
    const std::size_t first = box * leaves, end = first + leaves;
    if (sums_) return sums_[std::min<std::size_t>(end, spi::boxes_of_level(n_, 0))] - sums_[first];
    if (words) return kept(words, first * leaf_rows, end * leaf_rows);
    return static_cast<std::uint32_t>(std::min<std::size_t>(end * leaf_rows, n_) - first * leaf_rows);
  }

 private:
  std::uint32_t kept(const std::uint32_t* words, std::size_t first, std::size_t end) const {
    std::uint32_t count = 0;
    for (std::size_t place = first; place < std::min<std::size_t>(end, n_); ++place)
      count += words[numbers_[place] / 32] >> numbers_[place] % 32 & 1u;
    return count;
  }

  const std::uint32_t n_;
  const std::uint32_t* const numbers_;
  const std::uint32_t* sums_;
};

/// The walk of one query.
class CountWalk {
 public:
  ///   query  [dims]
  CountWalk(const Walked<spi::CountStep>& in, const RowsOfBoxes& rows, std::size_t q, const float* query)
      : in_(in),
        rows_(rows),
        walker_(in.walker(query)),
        bounds_(elements(in.step.bounds) + (in.step.bounds.rows > 1 ? q : 0) * in.step.bounds.stride,
                in.step.bounds.cols),
        counts_(elements(in.step.counts) + q * in.step.counts.stride, in.step.bounds.cols) {
    const spi::CountStep& step = in.step;
    if (step.filter.cols > 0)
      filter_ = elements(step.filter) + (step.filter.rows > 1 ? q : 0) * step.filter.stride;
  }

  /// Returns the number of leaves that were read.
  std::uint32_t run() {
    std::fill(counts_.begin(), counts_.end(), 0u);
    visit(in_.levels - 1, 0, 0, bounds_.size());
    for (std::size_t r = 1; r < counts_.size(); ++r) counts_[r] += counts_[r - 1];  // see add()
    return leaves_;
  }

 private:
  /// Counts the boxes of block `block` of a level by bounds begin ... end - 1.
  void visit(std::uint32_t level, std::size_t block, std::size_t begin, std::size_t end) {
    alignas(64) float gaps[leaf_rows], far_sides[leaf_rows];
    const std::size_t first = block * leaf_rows;
    const float* const bounds = in_.bounds[level] + block * in_.step.train.bounds.stride;
    std::uint32_t left =
        in_.kernels.gaps(walker_, bounds, bounds_[end - 1], gaps) & first_bits(in_.counts[level] - first);
    if (!left) return;
    const std::uint32_t whole = in_.kernels.far_sides(walker_, bounds, bounds_[end - 1], far_sides);
    for (; left; left &= left - 1) {
      const auto box = static_cast<std::uint32_t>(__builtin_ctz(left));
      const std::size_t from = first_of(gaps[box], begin, end);
      const std::size_t to = (whole >> box & 1u) != 0 ? first_of(far_sides[box], from, end) : end;
      if (to < end) add(rows_.count(filter_, level, first + box), to, end);
      if (from < to) enter(level, first + box, from, to);
    }
  }

  void enter(std::uint32_t level, std::size_t box, std::size_t begin, std::size_t end) {
    if (level > 0)
      visit(level - 1, box, begin, end);
    else
      read(box, begin, end);
  }

  void read(std::size_t leaf, std::size_t begin, std::size_t end) {
    ++leaves_;
    alignas(64) float values[leaf_rows];
    const std::size_t first = leaf * leaf_rows;
    std::uint32_t passed =
        in_.kernels.leaf(walker_, in_.rows + first * walker_.dims, bounds_[end - 1], values) &
        first_bits(in_.step.train.rows.rows - first);
    if (end - begin == 1 && !filter_)
      return add(static_cast<std::uint32_t>(__builtin_popcount(passed)), begin, end);
    for (; passed; passed &= passed - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(passed));
      const std::uint32_t row = in_.numbers[first + lane];
      if (filter_ && (filter_[row / 32] >> row % 32 & 1u) == 0) continue;
      add(1, first_of(values[lane], begin, end), end);
    }
  }

  /// Returns the first of these bounds that is not below `value`; `end` if all are.
  std::size_t first_of(float value, std::size_t begin, std::size_t end) const {
    const auto from = bounds_.begin() + static_cast<std::ptrdiff_t>(begin),
               to = bounds_.begin() + static_cast<std::ptrdiff_t>(end);
    return static_cast<std::size_t>(std::lower_bound(from, to, value) - bounds_.begin());
  }

  /// Counts rows for bounds begin ... end - 1. Until the walk ends, counts hold the differences between
  /// neighbouring bounds, modulo 2^32.
  void add(std::uint32_t rows, std::size_t begin, std::size_t end) {
    counts_[begin] += rows;
    if (end < counts_.size()) counts_[end] -= rows;
  }

  const Walked<spi::CountStep>& in_;
  const RowsOfBoxes& rows_;
  const Walker walker_;
  const std::span<const float> bounds_;
  const std::span<std::uint32_t> counts_;
  const std::uint32_t* filter_ = nullptr;
  std::uint32_t leaves_ = 0;
};

}  // namespace

spi::Support check(const spi::CountStep& step, const Resources& with) {
  return {{}, with.team * query_bytes(step) + sum_bytes(step)};
}

void run(const spi::CountStep& step, const Resources& with) {
  const std::size_t needed = check(step, with).scratch_bytes, behind = needed - sum_bytes(step);
  if (step.scratch.bytes < needed)
    throw Error(Errc::device_failure, "cpu: step count has " + std::to_string(step.scratch.bytes) +
                                          " bytes of scratch but needs " + std::to_string(needed) +
                                          "; give what check() says");
  const Walked<spi::CountStep> walked(step, with.kernels);
  const RowsOfBoxes rows(step, reinterpret_cast<std::uint32_t*>(bytes_of(*step.scratch.memory) + behind));
  for_each_walk(step, with, {step.scratch.memory, behind}, [&](std::size_t q, const float* query) {
    elements(step.leaves)[q * step.leaves.stride] = CountWalk(walked, rows, q, query).run();
  });
}

}  // namespace kith::cpu
