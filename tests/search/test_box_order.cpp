// The order of rows along a curve, and the boxes around them, made by the device: docs/boxes.md, section 2.
// Compared bit by bit with the plain device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "boxes/curve.hpp"
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "kith/spi/step_runner.hpp"
#include "lab/workloads/random.hpp"

namespace kith::tests {
namespace {

/// Whether the device makes boxes; elsewhere the host does, and there is nothing to test.
bool device_makes_boxes() {
  const spi::RowBlocks one{nullptr, 0, 1, 3, device().info().train_block};
  bool makes = false;
  spi::with_device(device(), [&](spi::Device& opened) {
    makes = opened.check({spi::OrderStep{{one}, {}, 1, {nullptr, 0, 1, 1, 1}, {}}}).refusal.empty();
  });
  return makes;
}

enum class Kind { uniform, grid, equal, far };

Matrix rows_of(Kind kind, std::int64_t n, std::int64_t dims) {
  workloads::Random random(static_cast<std::uint64_t>(n * 31 + dims));
  Matrix rows{n, dims, {}};
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t d = 0; d < dims; ++d) {
      const float any = static_cast<float>(random.below(1 << 24)) * 0x1p-24f - 0.3f;
      rows.values.push_back(kind == Kind::uniform ? any
                            : kind == Kind::grid  ? static_cast<float>(random.below(3))
                            : kind == Kind::equal ? 7.0f
                            : r % 97 == 5         ? std::copysign(3e38f, any)
                                                  : any);
    }
  return rows;
}

/// Rows in parts of these shares of ten, each in memory of its own.
std::vector<spi::RowBlocks> parts_of(spi::StepRunner& there, const Matrix& rows,
                                     const std::vector<std::int64_t>& tenths) {
  std::vector<spi::RowBlocks> parts;
  std::int64_t first = 0, share = 0;
  for (const std::int64_t tenth : tenths) {
    const std::int64_t end = rows.rows * (share += tenth) / 10;
    parts.push_back(there.train({rows.values.data() + first * rows.cols, end - first, rows.cols}));
    first = end;
  }
  return parts;
}

std::vector<std::uint32_t> order_on(spi::Device& device, const Matrix& rows, std::uint32_t bits,
                                    const std::vector<std::int64_t>& tenths) {
  spi::StepRunner there(device);
  const std::vector<float> frame =
      curve_frame({rows.values.data(), std::min<std::int64_t>(rows.rows, 4096), rows.cols});
  const spi::OrderStep step{parts_of(there, rows, tenths),
                            there.input(frame, 1, frame.size()),
                            bits,
                            there.output<std::uint32_t>(1, static_cast<std::size_t>(rows.rows)),
                            {}};
  there.set(step);
  there.run();
  return there.read(step.out);
}

void check_order(const Matrix& rows, std::uint32_t bits, const std::vector<std::int64_t>& tenths) {
  CAPTURE(rows.rows);
  CAPTURE(rows.cols);
  CAPTURE(bits);
  const auto plain = spi::plain_device();
  const std::vector<std::uint32_t> right = order_on(*plain, rows, bits, {10});
  spi::with_device(device(), [&](spi::Device& opened) {
    CHECK(order_on(opened, rows, bits, tenths) == right);
    CHECK(order_on(opened, rows, bits, tenths) == right);  // and again
  });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("boxes: the device puts rows in order along the curve, equal places by number") {
  if (!device_makes_boxes()) return;
  for (const Kind kind : {Kind::uniform, Kind::grid, Kind::equal, Kind::far})
    for (const std::int64_t n : {1, 2, 255, 2048, 2049, 10007})
      for (const std::int64_t dims : {1, 2, 3, 5, 16, 19})
        check_order(rows_of(kind, n, dims), n % 2 ? 64 : 16,
                    n > 10 ? std::vector<std::int64_t>{3, 0, 7} : std::vector<std::int64_t>{10});
}

TEST_CASE("boxes: more rows than a round of all work-groups is put in order, too") {
  if (!device_makes_boxes()) return;
  check_order(rows_of(Kind::uniform, 2200001, 1), 8, {1, 9});
}

TEST_CASE("boxes: the device has each row in its place, and boxes around them") {
  if (!device_makes_boxes()) return;
  for (const std::int64_t n : {1, 31, 33, 1024, 1025, 33000})
    for (const std::int64_t dims : {1, 3, 17}) {
      CAPTURE(n);
      CAPTURE(dims);
      const Matrix rows = rows_of(Kind::far, n, dims);
      std::vector<std::uint32_t> numbers(static_cast<std::size_t>(n));
      std::iota(numbers.rbegin(), numbers.rend(), 0u);
      const auto places = static_cast<std::uint32_t>(n);
      const std::size_t leaf = spi::box_rows, line = static_cast<std::size_t>(dims) * leaf;
      std::vector<float> packed, bounds;
      spi::with_device(device(), [&](spi::Device& opened) {
        spi::StepRunner there(opened);
        const spi::PackBoxesStep step{
            parts_of(there, rows, n > 10 ? std::vector<std::int64_t>{2, 8} : std::vector<std::int64_t>{10}),
            there.input(numbers, 1, numbers.size()),
            there.output<float>(spi::boxes_of_level(places, 0), line),
            there.output<float>(spi::box_blocks(places), 2 * line)};
        there.set(step);
        there.run();
        packed = there.read(step.packed);
        bounds = there.read(step.bounds);
      });
      std::size_t wrong = 0;
      for (std::size_t place = 0; place < packed.size() / static_cast<std::size_t>(dims); ++place)
        for (std::int64_t d = 0; d < dims; ++d) {
          const std::uint32_t row = numbers[std::min(place, numbers.size() - 1)];
          wrong +=
              packed[(place / leaf * static_cast<std::size_t>(dims) + static_cast<std::size_t>(d)) * leaf +
                     place % leaf] != rows.values[static_cast<std::size_t>(row * dims + d)];
        }
      // Of each level a box is the least and the largest of its rows.
      std::size_t inside = leaf;
      for (std::uint32_t level = 0; level < spi::box_levels(places); ++level, inside *= leaf)
        for (std::size_t box = 0; box < spi::boxes_of_level(places, level); ++box)
          for (std::int64_t d = 0; d < dims; ++d) {
            float least = inf, largest = -inf;
            for (std::size_t place = box * inside; place < std::min((box + 1) * inside, numbers.size());
                 ++place) {
              const float value = rows.values[static_cast<std::size_t>(numbers[place] * dims + d)];
              least = std::min(least, value);
              largest = std::max(largest, value);
            }
            const float* const at = bounds.data() +
                                    (spi::blocks_before_level(places, level) + box / leaf) * 2 * line +
                                    static_cast<std::size_t>(d) * leaf + box % leaf;
            wrong += at[0] != least || at[line] != largest;
          }
      CHECK(wrong == 0);
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("unit");

TEST_CASE("boxes: neighbours on the curve are neighbours in the grid, and every cell is visited once") {
  for (const std::int64_t dims : {2, 3}) {
    const std::int64_t side = dims == 2 ? 32 : 16, cells = dims == 2 ? side * side : side * side * side;
    Matrix rows{cells, dims, {}};
    for (std::int64_t c = 0; c < cells; ++c)
      for (std::int64_t d = 0, rest = c; d < dims; ++d, rest /= side)
        rows.values.push_back(static_cast<float>(rest % side));
    // A cell of the curve a point of the grid, by the highest bits.
    const auto columns = static_cast<std::uint32_t>(dims);
    std::vector<float> frame(static_cast<std::size_t>(dims) + 1, 0.0f);
    frame.back() = std::ldexp(1.0f, static_cast<int>(spi::curve_bits(columns))) / static_cast<float>(side);
    std::vector<std::pair<std::uint64_t, std::int64_t>> places;
    for (std::int64_t c = 0; c < cells; ++c)
      places.emplace_back(place_along_curve(rows.values.data() + c * dims, columns, frame.data()), c);
    std::sort(places.begin(), places.end());
    std::int64_t far = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
      float steps = 0;
      for (std::int64_t d = 0; d < dims; ++d)
        steps += std::fabs(rows.values[static_cast<std::size_t>(places[i].second * dims + d)] -
                           rows.values[static_cast<std::size_t>(places[i - 1].second * dims + d)]);
      far += steps != 1;
    }
    const std::uint32_t below = columns * (spi::curve_bits(columns) - (dims == 2 ? 5 : 4));
    for (std::size_t i = 0; i < places.size(); ++i) far += (places[i].first >> below) != i;
    CHECK(far == 0);
  }
}

TEST_CASE("boxes: a frame leaves out what is far outside, and has one size of cells") {
  const std::vector<float> all = curve_frame({std::vector<float>(10, 3.0f).data(), 5, 2});
  CHECK(all == std::vector<float>{3, 3, 0});
  const Matrix uniform = rows_of(Kind::uniform, 4000, 2);
  Matrix with_far = uniform;
  with_far.values[0] = 1e30f;
  with_far.values[7999] = -1e30f;
  const std::vector<float> near = curve_frame({uniform.values.data(), 4000, 2}),
                           with = curve_frame({with_far.values.data(), 4000, 2});
  CHECK(near[2] > 0.98f * 0x1p24f / 1.04f);
  CHECK(with[2] > 0.98f * 0x1p24f / 1.04f);
  CHECK(std::fabs(with[0]) < 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
