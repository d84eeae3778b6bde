#include "check/double_check.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/numbers.hpp"
#include "base/split_mix.hpp"
#include "check/self_test_parts.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

/// The numbers of columns are for the kernels of narrow and of wide rows, the latter with a part of a line.
constexpr std::array<std::size_t, 3> chained_dims = {3, 16, 37};
constexpr std::size_t asked_rows = 24, train_rows = 40, listed_rows = 29;
constexpr std::uint32_t first_listed_row = 1000;

/// Each metric that has a chain of its own.
constexpr std::array chained_metrics = {Metric::squared_l2, Metric::l1, Metric::linf, Metric::negative_dot};

/// Returns rows whose chains show each rounding: numbers near 1 with all bits, of which a product that is
/// rounded separately gives another sum; units in the last place, whose sums lie halfway between two doubles;
/// small numbers, whose squares are subnormal; subnormal numbers; and large ones, whose squares overflow.
std::vector<double> rows_to_chain(std::size_t rows, std::size_t dims, std::uint64_t seed) {
  std::vector<double> values(rows * dims);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t mixed = split_mix((seed + i + 1) * split_mix_step);
    const double near_one = std::bit_cast<double>((mixed & 0x800FFFFFFFFFFFFFu) | 0x3FE0000000000000u);
    switch (i / dims % 5) {
      case 0:
        values[i] = near_one;
        break;
      case 1:
        values[i] = 1 + static_cast<double>(mixed % 8) * 0x1p-52;
        break;
      case 2:
        values[i] = std::ldexp(near_one, -530);
        break;
      case 3:
        values[i] = std::bit_cast<double>(mixed & 0x800FFFFFFFFFFFFFu);
        break;
      default:
        values[i] = std::ldexp(near_one, 500 + static_cast<int>(mixed % 16));
    }
  }
  return values;
}

/// Keeps the signs of negative_dot's products alike where they overflow: no device needs to agree with others
/// about what infinities of both signs give.
void make_positive(std::vector<double>& values) {
  for (double& value : values) value = std::fabs(value);
}

/// Returns lists that name each row, and rows that `train` lacks on both sides.
std::vector<std::uint32_t> lists_to_chain() {
  std::vector<std::uint32_t> lists;
  for (std::size_t i = 0; i < asked_rows * listed_rows; ++i)
    lists.push_back(
        i % 11 == 0 ? no_row : first_listed_row - 1 + static_cast<std::uint32_t>(i * 7 % (train_rows + 2)));
  return lists;
}

std::vector<double> chains_of(spi::StepRunner& there, Metric metric, std::size_t dims) {
  std::vector<double> asked = rows_to_chain(asked_rows, dims, dims),
                      rows = rows_to_chain(train_rows, dims, dims << 32);
  if (metric == Metric::negative_dot) {
    make_positive(asked);
    make_positive(rows);
  }
  const auto values =
      there.in_and_out(std::vector<double>(asked_rows * listed_rows, -7.0), asked_rows, listed_rows);
  const spi::DoubleChainsStep step{metric,
                                   there.input(asked, asked_rows, dims),
                                   there.input(rows, train_rows, dims),
                                   first_listed_row,
                                   there.input(lists_to_chain(), asked_rows, listed_rows),
                                   values};
  return result_of(there, step, values);
}

std::string why_no_chains(spi::Device& device) {
  for (const Metric metric : chained_metrics)
    for (const std::size_t dims : chained_dims) {
      const spi::DoubleChainsStep step{metric, {nullptr, 0, 1, dims, dims}, {nullptr, 0, 1, dims, dims},
                                       0,      {nullptr, 0, 1, 1, 1},       {nullptr, 0, 1, 1, 1}};
      const spi::Support support = device.check({step});
      if (!support.refusal.empty()) return support.refusal;
      if (!on_both(device, [&](spi::StepRunner& there) { return chains_of(there, metric, dims); }).same())
        return "its chains of " + std::string(name(metric)) + " came out as others in a test";
    }
  return "";
}

}  // namespace

std::string test_double_chains(Device::State& state) {
  const DeviceSession session(state);
  if (!state.doubles_refusal) state.doubles_refusal = why_no_chains(*session);
  return *state.doubles_refusal;
}

}  // namespace kith
