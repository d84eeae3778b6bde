// boxes: finds the k nearest of each query by a walk through boxes, near ones first (docs/boxes.md). The keys
// found so far are in the query's place in the result: in order if they are few, else a heap with the
// farthest on top. The host makes the boxes in k-d order, in which fewer leaves are read than along a curve.
// Source: Friedman, Bentley, Finkel, An algorithm for finding best matches in logarithmic expected time,
// 1977.
#include <algorithm>
#include <limits>
#include <span>

#include "cpu/steps/steps.hpp"
#include "cpu/steps/walked_boxes.hpp"
#include "kith/spi/boxes.hpp"

namespace kith::cpu {
namespace {

/// Up to this k a new key moves those behind it; of more keys, a heap moves fewer.
constexpr std::size_t most_sorted = 32;

/// The walk of one query.
class Walk {
 public:
  ///   query  [dims]
  Walk(const Walked<spi::BoxesStep>& in, std::size_t q, const float* query)
      : in_(in),
        walker_(in.walker(query)),
        found_(elements(in.step.out) + q * in.step.out.stride, in.step.k) {
    const spi::BoxesStep& step = in.step;
    if (step.within.cols > 0) within_ = most_ = elements(step.within)[q * step.within.stride];
    if (step.filter.cols > 0)
      filter_ = elements(step.filter) + (step.filter.rows > 1 ? q : 0) * step.filter.stride;
  }

  /// Returns the number of leaves that were read.
  std::uint32_t run() {
    visit(in_.levels - 1, 0);
    if (count_ < found_.size())
      sort(found_.first(count_));
    else if (!few())
      std::sort_heap(found_.begin(), found_.end());
    std::fill(found_.begin() + static_cast<std::ptrdiff_t>(count_), found_.end(), no_key);
    return leaves_;
  }

 private:
  /// Visits the boxes of block `block` of a level, near ones first.
  void visit(std::uint32_t level, std::size_t block) {
    alignas(64) float bounds[leaf_rows];
    const std::size_t first = block * leaf_rows;
    std::uint32_t left =
        in_.kernels.gaps(walker_, in_.bounds[level] + block * in_.step.train.bounds.stride, most_, bounds) &
        first_bits(in_.counts[level] - first);
    if (!left) return;
    const std::uint32_t nearest = nearest_of(bounds, left);
    enter(level, first + nearest);
    // Of the others few are left, now that some rows are known.
    Key near[leaf_rows];
    std::size_t count = 0;
    for (left &= ~(1u << nearest) & in_.kernels.values_at_most(bounds, most_); left; left &= left - 1) {
      const auto box = static_cast<std::uint32_t>(__builtin_ctz(left));
      near[count++] = make_key(bounds[box], box);
    }
    sort({near, count});
    for (std::size_t i = 0; i < count && leaves_ <= in_.step.most_leaves; ++i) {
      if (value_of(near[i]) > most_) return;  // all other boxes are at least as far
      enter(level, first + row_of(near[i]));
    }
  }

  /// Returns the first of the nearest of the boxes `left`, and may overwrite the gaps of others.
  std::uint32_t nearest_of(float (&gaps)[leaf_rows], std::uint32_t left) const {
    constexpr int few = 4;  // compared one by one as soon as all by vectors
    if (__builtin_popcount(left) <= few) {
      auto nearest = static_cast<std::uint32_t>(__builtin_ctz(left));
      for (std::uint32_t others = left & (left - 1); others; others &= others - 1) {
        const auto other = static_cast<std::uint32_t>(__builtin_ctz(others));
        if (gaps[other] < gaps[nearest]) nearest = other;
      }
      return nearest;
    }
    for (std::uint32_t others = ~left; others; others &= others - 1)
      gaps[__builtin_ctz(others)] = std::numeric_limits<float>::infinity();
    constexpr std::size_t lanes = 4;  // of one instruction
    float least[lanes];
    for (std::size_t i = 0; i < lanes; ++i) least[i] = gaps[i];
    for (std::size_t at = lanes; at < leaf_rows; at += lanes)
      for (std::size_t i = 0; i < lanes; ++i) least[i] = std::min(least[i], gaps[at + i]);
    const float smallest = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
    return static_cast<std::uint32_t>(__builtin_ctz(in_.kernels.values_at_most(gaps, smallest) & left));
  }

  void enter(std::uint32_t level, std::size_t box) {
    if (level > 0)
      visit(level - 1, box);
    else
      read(box);
  }

  void read(std::size_t leaf) {
    if (++leaves_ > in_.step.most_leaves) return;
    alignas(64) float values[leaf_rows];
    const std::size_t first = leaf * leaf_rows;
    __builtin_prefetch(in_.numbers + first);
    __builtin_prefetch(in_.numbers +
                       std::min<std::size_t>(first + leaf_rows / 2, in_.step.train.rows.rows - 1));
    std::uint32_t passed = in_.kernels.leaf(walker_, in_.rows + first * walker_.dims, most_, values) &
                           first_bits(in_.step.train.rows.rows - first);
    for (; passed; passed &= passed - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(passed));
      if (values[lane] > most_) continue;  // the leaf itself has lowered it
      const std::uint32_t row = in_.numbers[first + lane];
      if (filter_ && (filter_[row / 32] >> row % 32 & 1u) == 0) continue;
      take(make_key(values[lane], row));
    }
  }

  /// Keeps a key if it is among the k smallest.
  void take(Key key) {
    if (count_ < found_.size()) {
      found_[count_++] = key;
      if (count_ < found_.size()) return;
      if (few())
        sort(found_);
      else
        std::make_heap(found_.begin(), found_.end());
    } else if (key < farthest()) {
      if (few())
        insert(key);
      else
        replace_front(key);
    } else {
      return;
    }
    most_ = std::min(within_, value_of(farthest()));
  }

  bool few() const { return found_.size() <= most_sorted; }
  Key farthest() const { return few() ? found_.back() : found_.front(); }

  void sort(std::span<Key> keys) const {
    if (keys.size() < 2) return;
    if (!in_.kernels.sort_few(keys.data(), keys.size())) std::sort(keys.begin(), keys.end());
  }

  /// Puts `key` into its place among sorted keys, in place of the last.
  void insert(Key key) {
    std::size_t at = found_.size() - 1;
    for (; at > 0 && found_[at - 1] > key; --at) found_[at] = found_[at - 1];
    found_[at] = key;
  }

  /// Replaces the top of the heap by `key`, which sinks to its place.
  void replace_front(Key key) {
    const std::size_t count = found_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && found_[child + 1] > found_[child]) ++child;
      if (found_[child] <= key) break;
      found_[at] = found_[child];
      at = child;
    }
    found_[at] = key;
  }

  const Walked<spi::BoxesStep>& in_;
  const Walker walker_;
  const std::span<Key> found_;
  const std::uint32_t* filter_ = nullptr;
  std::size_t count_ = 0;
  float within_ = std::numeric_limits<float>::infinity();
  float most_ = within_;  ///< larger values cannot be among the k smallest
  std::uint32_t leaves_ = 0;
};

constexpr const char* made_by_host = "the host makes the boxes of a CPU; leave the step out";

[[noreturn]] void refuse(const char* step) {
  throw Error(Errc::unsupported, "cpu: step " + std::string(step) + ": " + made_by_host);
}

}  // namespace

spi::Support check(const spi::BoxesStep& step, const Resources& with) {
  return {{}, with.team * query_bytes(step)};
}

spi::Support check(const spi::OrderStep&, const Resources&) {
  return {made_by_host, 0};
}
spi::Support check(const spi::PackBoxesStep&, const Resources&) {
  return {made_by_host, 0};
}
void run(const spi::OrderStep& step, const Resources&) {
  refuse(step.name);
}
void run(const spi::PackBoxesStep& step, const Resources&) {
  refuse(step.name);
}

void run(const spi::BoxesStep& step, const Resources& with) {
  const Walked<spi::BoxesStep> walked(step, with.kernels);
  for_each_walk(step, with, step.scratch, [&](std::size_t q, const float* query) {
    elements(step.leaves)[q * step.leaves.stride] = Walk(walked, q, query).run();
  });
}

}  // namespace kith::cpu
