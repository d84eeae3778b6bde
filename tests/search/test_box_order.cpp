// Tests the order of rows along a curve, and the boxes around them, as the device makes them: docs/boxes.md,
// section 2. They are compared bit by bit with the plain device.
#include "boxes/curve.hpp"
#include "boxes/cuts.hpp"
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "kith/spi/step_runner.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

/// Returns whether the device makes boxes; elsewhere the host does, and there is nothing to test.
bool device_makes_boxes() {
  const spi::RowBlocks one{nullptr, 0, 1, 3, device().info().train_block};
  bool makes = false;
  spi::with_device(device(), [&](spi::Device& opened) {
    makes = opened.check({spi::OrderStep{{one}, {}, 1, {}, {nullptr, 0, 1, 1, 1}, {}}}).refusal.empty();
  });
  return makes;
}

enum class Points { uniform, grid, equal, far };

Matrix rows_of(Points kind, std::int64_t n, std::int64_t dims) {
  workloads::Random random(static_cast<std::uint64_t>(n * 31 + dims));
  Matrix rows{n, dims, {}};
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t d = 0; d < dims; ++d) {
      const float any = static_cast<float>(random.below(1 << 24)) * 0x1p-24f - 0.3f;
      rows.values.push_back(kind == Points::uniform ? any
                            : kind == Points::grid  ? static_cast<float>(random.below(3))
                            : kind == Points::equal ? 7.0f
                            : r % 97 == 5           ? std::copysign(3e38f, any)
                                                    : any);
    }
  return rows;
}

/// Returns rows in parts of these shares of ten, each in memory of its own.
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
                                    const std::vector<spi::Cut>& cuts,
                                    const std::vector<std::int64_t>& tenths) {
  spi::StepRunner there(device);
  const std::vector<float> frame =
      curve_frame({rows.values.data(), std::min<std::int64_t>(rows.rows, 4096), rows.cols});
  const spi::OrderStep step{parts_of(there, rows, tenths),
                            there.input(frame, 1, frame.size()),
                            bits,
                            cuts,
                            there.output<std::uint32_t>(1, static_cast<std::size_t>(rows.rows)),
                            {}};
  there.set(step);
  there.run();
  return there.read(step.out);
}

/// Checks the order by `bits` bits of the curve, or by cuts.
void check_order(const Matrix& rows, std::uint32_t bits, const std::vector<spi::Cut>& cuts,
                 const std::vector<std::int64_t>& tenths) {
  CAPTURE_ALL(rows.rows, rows.cols, bits);
  const auto plain = spi::plain_device();
  const std::vector<std::uint32_t> right = order_on(*plain, rows, bits, cuts, {10});
  spi::with_device(device(), [&](spi::Device& opened) {
    CHECK(order_on(opened, rows, bits, cuts, tenths) == right);
    CHECK(order_on(opened, rows, bits, cuts, tenths) == right);  // and again
  });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("boxes: the device puts rows in order along the curve, equal places by number") {
  if (!device_makes_boxes()) return;
  for (const Points kind : {Points::uniform, Points::grid, Points::equal, Points::far})
    for (const std::int64_t n : {1, 2, 255, 2048, 2049, 10007})
      for (const std::int64_t dims : {1, 2, 3, 5, 16, 19})
        check_order(rows_of(kind, n, dims), n % 2 ? 64 : 16, {},
                    n > 10 ? std::vector<std::int64_t>{3, 0, 7} : std::vector<std::int64_t>{10});
}

TEST_CASE("boxes: more rows than a round of all work-groups is put in order, too") {
  if (!device_makes_boxes()) return;
  check_order(rows_of(Points::uniform, 2200001, 1), 8, {}, {1, 9});
}

TEST_CASE("boxes: the device puts rows in order by cuts, equal values as they stood") {
  if (!device_makes_boxes()) return;
  for (const Points kind : {Points::uniform, Points::grid, Points::equal, Points::far})
    for (const std::int64_t n : {1, 1025, 2048, 9999})
      for (const std::int64_t dims : {1, 3, 19}) {
        const Matrix rows = rows_of(kind, n, dims);
        const std::vector<std::int64_t> tenths =
            n > 10 ? std::vector<std::int64_t>{3, 0, 7} : std::vector<std::int64_t>{10};
        const auto last = static_cast<std::uint32_t>(std::min<std::int64_t>(dims, 16) - 1);
        check_order(rows, 1, {{last, 4}}, tenths);
        check_order(rows, 1, {{last, 1}, {0, 2}, {last, 3}}, tenths);
        const std::vector<spi::Cut> cuts =
            cuts_for({rows.values.data(), rows.rows, rows.cols}, static_cast<std::uint32_t>(n));
        CHECK(cuts.empty() == (n == 1));
        check_order(rows, 1, cuts, tenths);
      }
}

TEST_CASE("boxes: rows of many parts are cut by all the bits of their numbers") {
  if (!device_makes_boxes()) return;
  check_order(rows_of(Points::grid, 33000, 2), 1, {{0, 10}, {1, 12}}, {1, 9});
}

/// Holds the leaves that a device packs from rows in the order of `numbers`.
struct Packed {
  std::vector<std::uint32_t> numbers;
  std::vector<float> rows, bounds;
};

Packed packed_on(spi::Device& device, const Matrix& rows, const std::vector<std::uint32_t>& numbers,
                 const std::vector<std::int64_t>& tenths) {
  spi::StepRunner there(device);
  const auto places = static_cast<std::uint32_t>(numbers.size());
  const std::size_t line = static_cast<std::size_t>(rows.cols) * spi::box_rows;
  const spi::PackBoxesStep step{parts_of(there, rows, tenths), there.input(numbers, 1, numbers.size()),
                                there.output<float>(spi::boxes_of_level(places, 0), line),
                                there.output<float>(spi::box_blocks(places), 2 * line)};
  there.set(step);
  there.run();
  return {there.read(step.numbers), there.read(step.packed), there.read(step.bounds)};
}

/// Counts the numbers that do not belong to the rows in their places, and the bounds that are not those of
/// their rows.
std::size_t wrong_of(const Packed& made, const Matrix& rows) {
  const std::size_t leaf = spi::box_rows, line = static_cast<std::size_t>(rows.cols) * leaf;
  const auto places = static_cast<std::uint32_t>(made.numbers.size());
  const auto value = [&](std::size_t place, std::int64_t d) {
    const std::uint32_t row = made.numbers[std::min<std::size_t>(place, places - 1)];
    return rows.values[static_cast<std::size_t>(row * rows.cols + d)];
  };
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < made.rows.size(); ++i)
    wrong += made.rows[i] != value(i / line * leaf + i % leaf, static_cast<std::int64_t>(i % line / leaf));
  std::size_t inside = leaf;
  for (std::uint32_t level = 0; level < spi::box_levels(places); ++level, inside *= leaf)
    for (std::size_t box = 0; box < spi::boxes_of_level(places, level); ++box)
      for (std::int64_t d = 0; d < rows.cols; ++d) {
        float least = inf, largest = -inf;
        for (std::size_t place = box * inside; place < std::min<std::size_t>((box + 1) * inside, places);
             ++place) {
          least = std::min(least, value(place, d));
          largest = std::max(largest, value(place, d));
        }
        const float* const at = made.bounds.data() +
                                (spi::blocks_before_level(places, level) + box / leaf) * 2 * line +
                                static_cast<std::size_t>(d) * leaf + box % leaf;
        wrong += at[0] != least || at[line] != largest;
      }
  return wrong;
}

TEST_CASE("boxes: the device has each row in its place, and boxes around them") {
  if (!device_makes_boxes()) return;
  const auto plain = spi::plain_device();
  for (const Points kind : {Points::far, Points::grid, Points::uniform})
    for (const std::int64_t n : {1, 31, 33, 1024, 1025, 1060, 33000})
      for (const std::int64_t dims : {1, 3, 17}) {
        CAPTURE_ALL(n, dims);
        const Matrix rows = rows_of(kind, n, dims);
        std::vector<std::uint32_t> numbers(static_cast<std::size_t>(n));
        std::iota(numbers.rbegin(), numbers.rend(), 0u);
        Packed made;
        spi::with_device(device(), [&](spi::Device& opened) {
          made = packed_on(opened, rows, numbers,
                           n > 10 ? std::vector<std::int64_t>{2, 8} : std::vector<std::int64_t>{10});
        });
        CHECK(wrong_of(made, rows) == 0);
        CHECK(made.numbers == packed_on(*plain, rows, numbers, {10}).numbers);
        // Rows change places within their part.
        for (std::size_t i = 0; i < numbers.size(); i += spi::part_rows)
          std::sort(made.numbers.begin() + static_cast<std::ptrdiff_t>(i),
                    made.numbers.begin() +
                        static_cast<std::ptrdiff_t>(std::min(i + spi::part_rows, numbers.size())),
                    std::greater<>());
        CHECK(made.numbers == numbers);
      }
}

TEST_SUITE_END();

TEST_CASE("boxes: neighbours on the curve are neighbours in the grid, and every cell is visited once") {
  for (const std::int64_t dims : {2, 3}) {
    const std::int64_t side = dims == 2 ? 32 : 16, cells = dims == 2 ? side * side : side * side * side;
    Matrix rows{cells, dims, {}};
    for (std::int64_t c = 0; c < cells; ++c)
      for (std::int64_t d = 0, rest = c; d < dims; ++d, rest /= side)
        rows.values.push_back(static_cast<float>(rest % side));
    // Each point of the grid gets a cell of the curve, by its highest bits.
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

TEST_CASE("boxes: the columns that reach furthest are cut, of many columns more of them") {
  using Cuts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const auto cuts = [](std::vector<float> reaches, std::uint32_t n) {
    std::vector<float> ends(reaches.size(), 0.0f);
    ends.insert(ends.end(), reaches.begin(), reaches.end());
    Cuts found;
    for (const spi::Cut& cut : cuts_for({ends.data(), 2, static_cast<std::int64_t>(reaches.size())}, n))
      found.emplace_back(cut.column, cut.bits);
    return found;
  };
  CHECK(cuts({1, 1}, 1) == Cuts{});
  CHECK(cuts({1, 1}, 1024) == Cuts{});
  CHECK(cuts({1, 1}, 1025) == Cuts{{0, 1}});
  CHECK(cuts({0, 0}, 4096) == Cuts{{0, 2}});
  CHECK(cuts({1, 1, 1}, 1000000) == Cuts{{0, 4}, {1, 3}, {2, 3}});
  CHECK(cuts({1, 1000, 1}, 1000000) == Cuts{{1, 10}});
  CHECK(cuts({3e38f, 3e38f}, 0xFFFFFFFE) == Cuts{{0, 11}, {1, 11}});
  CHECK(cuts(std::vector<float>(8, 1.0f), 1000000) == Cuts{{0, 2}, {1, 2}, {2, 2}, {3, 2}, {4, 2}});
  CHECK(cuts(std::vector<float>(20, 1.0f), 8192) == Cuts{{0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("boxes: leaves of rows that are cut and halved are about as compact as cubes") {
  const std::int64_t n = 32768, dims = 3;
  const Matrix rows = rows_of(Points::uniform, n, dims);
  const MatrixView<const float> view(rows.values.data(), n, dims);
  std::vector<std::uint32_t> numbers = order_by_cuts(view, cuts_for(view, static_cast<std::uint32_t>(n)));
  halve_parts(view, numbers);
  double edges = 0;
  for (std::size_t leaf = 0; leaf < numbers.size(); leaf += spi::box_rows)
    for (std::int64_t d = 0; d < dims; ++d) {
      float least = inf, largest = -inf;
      for (std::size_t i = leaf; i < leaf + spi::box_rows; ++i) {
        const float value = rows.values[static_cast<std::size_t>(numbers[i] * dims + d)];
        least = std::min(least, value);
        largest = std::max(largest, value);
      }
      edges += static_cast<double>(largest) - static_cast<double>(least);
    }
  // If the 1,024 leaves were cubes, their edges would be 0.1 long. Random rows do not quite reach the sides
  // of a leaf, so the mean is below that.
  CHECK(edges / (3 * 1024) < 0.1);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == i);
}

TEST_CASE("boxes: a frame leaves out what is far outside, and has one size of cells") {
  const std::vector<float> all = curve_frame({std::vector<float>(10, 3.0f).data(), 5, 2});
  CHECK(all == std::vector<float>{3, 3, 0});
  const Matrix uniform = rows_of(Points::uniform, 4000, 2);
  Matrix with_far = uniform;
  with_far.values[0] = 1e30f;
  with_far.values[7999] = -1e30f;
  const std::vector<float> near = curve_frame({uniform.values.data(), 4000, 2}),
                           with = curve_frame({with_far.values.data(), 4000, 2});
  CHECK(near[2] > 0.98f * 0x1p24f / 1.04f);
  CHECK(with[2] > 0.98f * 0x1p24f / 1.04f);
  CHECK(std::fabs(with[0]) < 1);
}

}  // namespace
}  // namespace kith::tests
