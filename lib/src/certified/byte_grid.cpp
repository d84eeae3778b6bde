#include "certified/byte_grid.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "certified/row_sample.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "plan/product_bounds.hpp"

namespace kith {
namespace {

constexpr int most_steps = spi::most_on_grid - spi::least_on_grid;

/// Limits of steps, whose squares must be normal numbers, and of centres measured in steps, which must leave
/// enough digits of a float for one step.
constexpr double least_step = 0x1p-40, most_step = 0x1p20, most_centre = 0x1p20;

/// A value within 1 / share_of_step of a step from the grid counts as a value on the grid.
constexpr double share_of_step = 64;

/// The centre of an exact grid is a multiple of 1 / parts_of_step of a step.
constexpr double parts_of_step = 0x1p10;

bool is_whole(double value) {
  return value == std::nearbyint(value);
}

/// Sorted values, and how far from a grid they may be and still count as on it.
struct Ascending {
  std::vector<float> values;
  double first, last, tolerance;

  explicit Ascending(std::vector<float> of) : values(std::move(of)) {
    std::sort(values.begin(), values.end());
    first = static_cast<double>(values.front());
    last = static_cast<double>(values.back());
    tolerance = std::max(std::fabs(first), std::fabs(last)) * 0x1p-22;
  }

  bool on_steps(double step) const {
    if (tolerance > step / share_of_step) return false;
    return std::all_of(values.begin(), values.end(), [&](float value) {
      const double steps = (static_cast<double>(value) - first) / step;
      return std::fabs(steps - std::nearbyint(steps)) * step <= tolerance;
    });
  }
};

/// Returns the longest step of which all values, counted from the first, are multiples. Returns 1 if all are
/// whole numbers, because rows outside of the sample may have values in between; 0 if there is no such step.
double step_of(const Ascending& ascending) {
  const auto& values = ascending.values;
  const double apart = ascending.last - ascending.first;
  const bool whole =
      std::all_of(values.begin(), values.end(), [](float v) { return is_whole(static_cast<double>(v)); });
  if (whole && apart <= most_steps) return 1;
  for (auto steps = static_cast<int>(values.size()) - 1; steps > 0 && steps <= most_steps; ++steps)
    if (ascending.on_steps(apart / steps)) return apart / steps;
  return 0;
}

/// Finds the centre, which is the value of byte 0. If possible the grid contains 0, because queries are then
/// likely to be on the same grid.
///   moves  whether the centre may differ from 0
/// Returns false if bytes cannot represent all values.
bool find_centre(const Ascending& ascending, double step, bool moves, double& centre) {
  const double steps = ascending.first / step, least = std::nearbyint(steps);
  const double most = least + std::nearbyint((ascending.last - ascending.first) / step);
  const bool through_zero = std::fabs(steps - least) * step <= ascending.tolerance;
  const bool of_signs = through_zero && least >= spi::least_on_grid && most <= spi::most_on_grid;
  centre = 0;
  if (!moves) return of_signs;
  if (through_zero && least >= 0 && most <= most_steps)
    centre = -spi::least_on_grid * step;
  else if (!of_signs)
    centre = (through_zero ? least * step : ascending.first) - spi::least_on_grid * step;
  return true;
}

/// A grid in double precision, which measures how far rows are from it.
struct Wide {
  double centre, scale, step;

  explicit Wide(const ByteGrid& grid)
      : centre(static_cast<double>(grid.centre)), scale(static_cast<double>(grid.scale)), step(grid.step()) {}

  /// Returns the distance from the nearest point of the grid; +infinity outside its range.
  double apart(float value) const {
    constexpr double to_whole = 0x1.8p52;  // adding and subtracting it rounds a double to a whole number
    const double x = static_cast<double>(value), i = ((x - centre) * scale + to_whole) - to_whole;
    const bool there = i >= spi::least_on_grid && i <= spi::most_on_grid;
    return there ? std::fabs(x - (centre + i * step)) : std::numeric_limits<double>::infinity();
  }

  /// Returns the largest distance of any element of a row from the grid. Branch-free, so that it vectorises.
  double apart(const float* row, std::int64_t dims) const {
    double most = 0;
    for (std::int64_t d = 0; d < dims; ++d) most = std::max(most, apart(row[d]));
    return most;
  }
};

/// Returns whether the step is a power of two, every c + b i is a double, and all values are on the grid.
bool is_exact(const ByteGrid& grid, double centre, const std::vector<float>& values) {
  int exponent = 0;
  return std::frexp(grid.scale, &exponent) == 0.5f && static_cast<double>(grid.centre) == centre &&
         is_whole(centre * static_cast<double>(grid.scale) * parts_of_step) &&
         Wide(grid).apart(values.data(), static_cast<std::int64_t>(values.size())) == 0;
}

}  // namespace

ByteGrid grid_of_values(const FewValues& values, Metric metric, Element element) {
  if (!follows_from_products(metric) || prepare_of(metric) == Prepare::unit_rows) return {};
  const bool moves = sums_squares(metric);
  if (element == Element::i8) return {0, 1, true};
  if (element == Element::u8 && moves) return {-static_cast<float>(spi::least_on_grid), 1, true};
  if (values.too_many() || values.values().empty()) return {};
  const FloatGuard guard;
  const Ascending ascending(values.values());
  const double step = step_of(ascending);
  if (!(step >= least_step && step <= most_step)) return {};
  double centre = 0;
  if (!find_centre(ascending, step, moves, centre) || std::fabs(centre) > most_centre * step) return {};
  ByteGrid grid{static_cast<float>(centre), static_cast<float>(1 / step), false};
  grid.exact = is_exact(grid, centre, ascending.values);
  return grid;
}

bool lie_on(const ByteGrid& grid, MatrixView<const float> rows, std::uint32_t threads) {
  if (!grid.there() || !grid.exact) return false;
  const FloatGuard guard;
  const Wide wide(grid);
  const std::int64_t dims = rows.cols();
  const bool floats = is_of_floats(grid);
  std::atomic<bool> on = true;
  parallel_for(rows.rows(), rows.rows() * dims, threads, [&](std::int64_t r) {
    if (on && !(floats ? lies_on(grid, rows.row(r), dims) : wide.apart(rows.row(r), dims) == 0)) on = false;
  });
  return on;
}

bool lie_near(const ByteGrid& grid, MatrixView<const float> rows) {
  const FloatGuard guard;
  const Wide wide(grid);
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    if (wide.apart(rows.row(r), rows.cols()) > wide.step / share_of_step) return false;
  return true;
}

}  // namespace kith
