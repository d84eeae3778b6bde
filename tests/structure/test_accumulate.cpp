// Tests the step accumulate, which sums the distances to each class as a pair of floats: docs/contract.md,
// section 11.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

constexpr float canary = 12345.0f;

/// The results that a device keeps for each query and class.
struct ClassSums {
  std::vector<float> smallest, high, low;  ///< [q, classes]

  ClassSums(std::size_t q, std::size_t classes)
      : smallest(q * classes, inf), high(q * classes, 0.0f), low(q * classes, 0.0f) {}
};

/// Does the operations that spi.hpp defines, one after another. `value` has q rows of n columns.
void add(const std::vector<float>& value, const std::vector<std::uint32_t>& labels, std::size_t classes,
         ClassSums& sums) {
  const std::size_t n = labels.size();
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::size_t at = i / n * classes + labels[i % n];
    const volatile float x = value[i] == 0.0f ? 0.0f : value[i], before = sums.high[at];
    const volatile float s = before + x;
    if (x < sums.smallest[at]) sums.smallest[at] = x;
    if (std::isfinite(s)) {
      const volatile float b = s - before, rest = s - b;
      const volatile float of_high = before - rest, of_x = x - b, lost = of_high + of_x;
      sums.low[at] = sums.low[at] + lost;
    }
    sums.high[at] = s;
  }
}

/// Runs one step between canaries. `sums` is its input and its output.
void run_accumulate(spi::Device& device, const std::vector<float>& values,
                    const std::vector<std::uint32_t>& labels, std::uint32_t classes, ClassSums& sums) {
  const std::size_t n = labels.size(), q = values.size() / n;
  const GuardedGrid<float> in(device, q, n, -1.0f, values);  // -1 would be the smallest
  const GuardedGrid<std::uint32_t> table(device, 1, n, 0, labels);
  const GuardedGrid<float> smallest(device, q, classes, canary, sums.smallest),
      high(device, q, classes, canary, sums.high), low(device, q, classes, canary, sums.low);
  REQUIRE(run_step(device,
                   spi::AccumulateStep{
                       in.grid(), table.grid(), classes, smallest.grid(), high.grid(), low.grid(), {}}) ==
          "");
  sums.smallest = smallest.inside();
  sums.high = high.inside();
  sums.low = low.inside();
  check_canaries(smallest, high, low);
  check_unchanged(in, table);
}

void check_equal_sums(const ClassSums& found, const ClassSums& expected) {
  CHECK(difference(bits(found.smallest), bits(expected.smallest)) == "");
  CHECK(difference(bits(found.high), bits(expected.high)) == "");
  CHECK(difference(bits(found.low), bits(expected.low)) == "");
}

/// Returns random distances of many magnitudes, with zeros of both signs, subnormals and infinities.
std::vector<float> random_distances(std::size_t count, workloads::Random& random) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = std::ldexp(workloads::uniform(random.next()), static_cast<int>(random.between(-20, 20)));
    if (random.one_in(30)) value = random.pick({0.0f, -0.0f, denormal, 3 * denormal});
    if (random.one_in(1000)) value = random.pick({inf, flt_max});
  }
  return values;
}

enum class Order { sorted, runs, any };

std::vector<std::uint32_t> random_labels(std::size_t n, std::uint32_t classes, Order order,
                                         workloads::Random& random) {
  std::vector<std::uint32_t> labels(n);
  for (std::size_t t = 0; t < n; ++t)
    labels[t] = order == Order::runs && t > 0 && !random.one_in(20)
                    ? labels[t - 1]
                    : static_cast<std::uint32_t>(random.below(classes));
  if (order == Order::sorted) std::sort(labels.begin(), labels.end());
  return labels;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("accumulate: by hand: smallest, sum, and what rounding takes from it") {
  spi::with_device(device(), [](spi::Device& device) {
    ClassSums sums(2, 3);
    run_accumulate(device, {1, 2, 4, 8, 16, 0x1p24f, 1, 1, 1, -0.0f}, {0, 1, 0, 1, 0}, 3, sums);
    CHECK(sums.smallest == std::vector<float>{1, 2, inf, 0, 1, inf});
    CHECK(bits(sums.smallest)[3] == 0);  // -0 counts as +0
    CHECK(sums.high == std::vector<float>{21, 10, 0, 0x1p24f, 2, 0});
    CHECK(sums.low == std::vector<float>{0, 0, 0, 1, 0, 0});  // 2^24 + 1 is no float, so 1 is left over
    run_accumulate(device, {3, 1}, {2}, 3, sums);
    CHECK(sums.smallest == std::vector<float>{1, 2, 3, 0, 1, 1});
    CHECK(sums.high == std::vector<float>{21, 10, 3, 0x1p24f, 2, 1});
  });
}

TEST_CASE("accumulate: infinite distances and sums that overflow") {
  spi::with_device(device(), [](spi::Device& device) {
    ClassSums sums(3, 1);
    run_accumulate(device, {0x1p24f, 1, inf, 1, /**/ flt_max, flt_max, 1, 1, /**/ inf, inf, inf, inf},
                   {0, 0, 0, 0}, 1, sums);
    CHECK(sums.smallest == std::vector<float>{1, 1, inf});
    CHECK(sums.high == std::vector<float>{inf, inf, inf});
    CHECK(sums.low == std::vector<float>{1, 0, 0});  // `low` stays as it was and becomes no NaN
  });
}

TEST_CASE("accumulate: any number of queries, columns and classes, in any order, tile by tile") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t q : {1u, 2u, 31u, 64u, 65u, 300u})
      for (const std::size_t n : {1u, 7u, 32u, 33u, 1000u, 1500u})
        for (const std::uint32_t classes : {1u, 2u, 10u, 100u})
          for (const Order order : {Order::sorted, Order::runs, Order::any}) {
            if (q * n > 100000 || (n > 1000 && q > 40)) continue;
            CAPTURE_ALL(q, n, classes, static_cast<int>(order));
            workloads::Random random(q + n + classes);
            ClassSums found(q, classes), expected(q, classes);
            for (int tile = 0; tile < 2; ++tile) {
              const std::vector<float> values = random_distances(q * n, random);
              const std::vector<std::uint32_t> labels = random_labels(n, classes, order, random);
              add(values, labels, classes, expected);
              run_accumulate(device, values, labels, classes, found);
            }
            check_equal_sums(found, expected);
          }
  });
}

TEST_CASE("accumulate: many classes") {
  spi::with_device(device(), [](spi::Device& device) {
    const std::size_t q = 3, n = 2500;
    const std::uint32_t classes = 20000;
    workloads::Random random(5);
    const std::vector<float> values = random_distances(q * n, random);
    const std::vector<std::uint32_t> labels = random_labels(n, classes, Order::any, random);
    ClassSums found(q, classes), expected(q, classes);
    add(values, labels, classes, expected);
    run_accumulate(device, values, labels, classes, found);
    check_equal_sums(found, expected);
  });
}

TEST_CASE("accumulate: cutting the columns into tiles changes no bit") {
  spi::with_device(device(), [](spi::Device& device) {
    const std::size_t q = 17, n = 700;
    workloads::Random random(8);
    const std::vector<float> values = random_distances(q * n, random);
    const std::vector<std::uint32_t> labels = random_labels(n, 4, Order::sorted, random);
    ClassSums whole(q, 4);
    run_accumulate(device, values, labels, 4, whole);
    for (const std::size_t tile : {1u, 50u, 333u}) {
      ClassSums found(q, 4);
      for (std::size_t begin = 0; begin < n; begin += tile) {
        const std::size_t width = std::min(tile, n - begin);
        std::vector<float> part;
        for (std::size_t i = 0; i < q; ++i)
          part.insert(part.end(), values.begin() + static_cast<std::ptrdiff_t>(i * n + begin),
                      values.begin() + static_cast<std::ptrdiff_t>(i * n + begin + width));
        const auto from = labels.begin() + static_cast<std::ptrdiff_t>(begin);
        run_accumulate(device, part, {from, from + static_cast<std::ptrdiff_t>(width)}, 4, found);
      }
      CAPTURE(tile);
      check_equal_sums(found, whole);
    }
  });
}

TEST_CASE("accumulate: the pair is the sum almost exactly, where a float alone is far from it") {
  spi::with_device(device(), [](spi::Device& device) {
    const std::size_t n = 50000;
    workloads::Random random(11);
    std::vector<float> values(n);
    for (float& value : values) value = workloads::uniform(random.next());
    values[0] = 0x1p24f;
    long double exact = 0;
    float plain = 0;
    for (const float value : values) {
      exact += static_cast<long double>(value);
      plain += value;
    }
    ClassSums sums(1, 1);
    run_accumulate(device, values, std::vector<std::uint32_t>(n, 0), 1, sums);
    const double sum = static_cast<double>(sums.high[0]) + static_cast<double>(sums.low[0]);
    CHECK(std::fabs(static_cast<double>(exact) - sum) < 1e-7 * sum);
    CHECK(std::fabs(static_cast<double>(exact) - static_cast<double>(plain)) > 1e-4 * sum);
  });
}

TEST_CASE("accumulate: no queries and no columns change nothing") {
  spi::with_device(device(), [](spi::Device& device) {
    const ClassSums before(2, 2);
    const GuardedGrid<float> high(device, 2, 2, canary, before.high), low(device, 2, 2, canary, before.low),
        smallest(device, 2, 2, canary, before.smallest), none(device, 1, 1, canary);
    const GuardedGrid<std::uint32_t> labels(device, 1, 1, 0);
    const auto empty = [&](std::size_t rows, std::size_t columns) {
      spi::Grid<float> in = none.grid();
      in.rows = rows;
      in.cols = columns;
      const auto some = [&](spi::Grid<float> grid) {
        grid.rows = rows;
        return grid;
      };
      spi::Grid<std::uint32_t> table = labels.grid();
      table.cols = columns;
      return run_step(
          device,
          spi::AccumulateStep{in, table, 2, some(smallest.grid()), some(high.grid()), some(low.grid()), {}});
    };
    CHECK(empty(2, 0) == "");
    CHECK(empty(0, 1) == "");
    check_unchanged(high, low, smallest);
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
