// accumulate: computes the smallest distance, and the sum of distances, to each class. Sums are pairs
// of floats.
//
// Each lane handles one query, with a chain of its own; 16 chains hide the latency of additions. Distances
// are transposed a few columns at a time. The values of the current class stay in registers and the
// first-level cache until the class changes, which is seldom if columns are sorted by class.
#include <array>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

constexpr std::size_t lanes = 16, staged_columns = 64;

using Staged = std::array<float, staged_columns * lanes>;

/// The sums of one class, and its number.
struct Sums : ClassSums {
  std::uint32_t current = no_row;
};

/// Queries first ... first + count - 1 of a step, at most one for each lane.
class Queries {
 public:
  Queries(const spi::AccumulateStep& step, std::size_t first)
      : step_(step), first_(first), count_(std::min(lanes, step.distances.rows - first)) {}

  /// Transposes columns begin ... begin + count - 1. Lanes without a query repeat the last one.
  void stage(std::size_t begin, std::size_t count, Staged& staged) const {
    std::array<const float*, lanes> rows;
    for (std::size_t i = 0; i < lanes; ++i)
      rows[i] =
          elements(step_.distances) + (first_ + std::min(i, count_ - 1)) * step_.distances.stride + begin;
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t i = 0; i < lanes; ++i) staged[j * lanes + i] = rows[i][j];
  }

  void change_class(Sums& sums, std::uint32_t c) const {
    put_back(sums);
    sums.current = c;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::size_t q = std::min(i, count_ - 1);
      sums.smallest[i] = *place(step_.smallest, q, c);
      sums.high[i] = *place(step_.high, q, c);
      sums.low[i] = *place(step_.low, q, c);
    }
  }

  void put_back(const Sums& sums) const {
    if (sums.current == no_row) return;
    for (std::size_t i = 0; i < count_; ++i) {
      *place(step_.smallest, i, sums.current) = sums.smallest[i];
      *place(step_.high, i, sums.current) = sums.high[i];
      *place(step_.low, i, sums.current) = sums.low[i];
    }
  }

 private:
  float* place(const spi::Grid<float>& grid, std::size_t q, std::uint32_t c) const {
    return elements(grid) + (first_ + q) * grid.stride + c;
  }

  const spi::AccumulateStep& step_;
  const std::size_t first_, count_;
};

}  // namespace

spi::Support check(const spi::AccumulateStep&, const Resources&) {
  return {};
}

void run(const spi::AccumulateStep& step, const Resources& with) {
  const std::size_t m = step.distances.rows, n = step.distances.cols;
  const std::uint32_t* const labels = elements(step.labels);
  run_team((m + lanes - 1) / lanes, m * n, with.team, [&](std::size_t task, std::size_t) {
    const Queries queries(step, task * lanes);
    Staged staged;
    Sums sums;
    for (std::size_t begin = 0; begin < n; begin += staged_columns) {
      const std::size_t count = std::min(staged_columns, n - begin);
      queries.stage(begin, count, staged);
      for (std::size_t j = 0, end = 0; j < count; j = end) {
        const std::uint32_t c = labels[begin + j];
        while (end < count && labels[begin + end] == c) ++end;
        if (c != sums.current) queries.change_class(sums, c);
        with.kernels.accumulate(staged.data() + j * lanes, end - j, sums);
      }
    }
    queries.put_back(sums);
  });
}

}  // namespace kith::cpu
