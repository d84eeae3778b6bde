// Tests the step select: it finds the k smallest values of each part, by every selector. docs/contract.md,
// sections 2, 3 and 4.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

constexpr Key none = no_key;

/// Returns the keys of these rows, in this order.
std::vector<Key> keys_of(std::span<const float> values, std::initializer_list<std::uint32_t> rows) {
  std::vector<Key> keys;
  for (const std::uint32_t row : rows) keys.push_back(row == no_row ? none : key({values[row], row}));
  return keys;
}

template <class Body>
void for_each_selector(const Body& body) {
  for (const Selector selector : device().info().selectors) {
    CAPTURE(std::string(name(selector)));
    body(selector);
  }
}

std::vector<Key> select(const std::vector<float>& values, std::int64_t k, Selector selector,
                        std::int64_t parts = 1) {
  const MatrixView<const float> row(values.data(), 1, static_cast<std::int64_t>(values.size()));
  return stages::select(device(), row, k, selector, parts).keys;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("select: the smallest values in order, ties to the smaller row") {
  const std::vector<float> values{5, 1, 4, 1, 3, 2};
  for_each_selector([&](Selector selector) {
    CHECK(select(values, 1, selector) == keys_of(values, {1}));
    CHECK(select(values, 3, selector) == keys_of(values, {1, 3, 5}));
    CHECK(select(values, 6, selector) == keys_of(values, {1, 3, 5, 4, 2, 0}));
  });
}

TEST_CASE("select: each part has a list of its own, and a short one ends in none") {
  const std::vector<float> values{5, 1, 4, 1, 3, 2};
  for_each_selector([&](Selector selector) {
    CHECK(select(values, 2, selector, 2) == keys_of(values, {1, 2, /**/ 3, 5}));
    CHECK(select(values, 3, selector, 3) ==
          keys_of(values, {1, 0, no_row, /**/ 3, 2, no_row, /**/ 5, 4, no_row}));
    // There are four parts of ceil(6 / 4) = 2 columns; the last part is empty.
    CHECK(select(values, 1, selector, 4) == keys_of(values, {1, 3, 5, no_row}));
    CHECK(select(values, 2, selector, 6) ==
          keys_of(values, {0, no_row, 1, no_row, 2, no_row, 3, no_row, 4, no_row, 5, no_row}));
  });
}

TEST_CASE("select: minus zero and plus zero are equal, and leave as plus zero") {
  const std::vector<float> values{0.0f, -0.0f, 0.0f, -0.0f, denormal, -denormal};
  for_each_selector([&](Selector selector) {
    const std::vector<Key> keys = select(values, 6, selector);
    CHECK(keys == std::vector<Key>{key({-denormal, 5}), key({0.0f, 0}), key({0.0f, 1}), key({0.0f, 2}),
                                   key({0.0f, 3}), key({denormal, 4})});
    CHECK(bits(std::vector<float>{value_of(keys[2])}) == bits(std::vector<float>{0.0f}));
  });
}

TEST_CASE("select: negative values come first, and infinities are values like others") {
  const std::vector<float> values{2, inf, -1, flt_max, -inf, -flt_max, 1, inf, -2};
  for_each_selector([&](Selector selector) {
    CHECK(select(values, 9, selector) == keys_of(values, {4, 5, 8, 2, 6, 0, 3, 1, 7}));
    CHECK(select({inf, inf, inf}, 2, selector) == keys_of(std::vector<float>{inf, inf, inf}, {0, 1}));
    CHECK(select({inf, 3, inf}, 3, selector) == keys_of(std::vector<float>{inf, 3, inf}, {1, 0, 2}));
  });
}

TEST_CASE("select: bubble, step by step on paper") {
  // He, Pu, Li, Yan 2016. K = 2 bubbles pass over five values. Each bubble carries the smallest value that
  // the bubbles before it left, and a new one starts every second step:
  //   5 3 4 1 2  ->  the first bubble takes 1 and leaves 5 3 4 2  ->  the second takes 2.
  // A third value is never sorted.
  const auto& all = device().info().selectors;
  if (std::find(all.begin(), all.end(), Selector::bubble) == all.end()) return;
  const std::vector<float> values{5, 3, 4, 1, 2};
  CHECK(select(values, 2, Selector::bubble) == keys_of(values, {3, 4}));
  // With as many bubbles as values this is odd-even transposition sort.
  CHECK(select(values, 5, Selector::bubble) == keys_of(values, {3, 4, 1, 2, 0}));
  // With more bubbles than values in a part, the last bubbles meet no value and return none.
  CHECK(select(values, 4, Selector::bubble, 2) ==
        keys_of(values, {1, 2, 0, no_row, /**/ 3, 4, no_row, no_row}));
}

/// Returns values that often break selectors.
std::vector<float> hard_values(int pattern, std::size_t rows, std::size_t n, std::uint64_t seed) {
  workloads::Random random(seed);
  std::vector<float> values(rows * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t t = i % n;
    const auto place = static_cast<float>(t);
    const float some = workloads::normal(random.next());
    switch (pattern) {
      case 0:
        values[i] = some;
        break;
      case 1:
        values[i] = static_cast<float>(random.below(3)) - 1;
        break;  // nearly all values tie
      case 2:
        values[i] = 7;
        break;
      case 3:
        values[i] = place;
        break;
      case 4:
        values[i] = -place;
        break;  // every value enters the list
      case 5:
        values[i] = random.one_in(2) ? inf : some;
        break;
      case 6:
        values[i] = some * denormal * 9;
        break;
      case 7:
        values[i] = 1 + place * 0x1p-23f;
        break;  // only the last bits differ
      case 8:
        values[i] = t % 97 == 96 ? some - 9 : 9;
        break;  // all winners are at one place in 97
      default:
        values[i] = random.one_in(2) ? flt_max : -flt_max;
        break;
    }
  }
  return values;
}
constexpr int patterns = 10;

TEST_CASE("select: the right list for every selector, k, number of parts and kind of value") {
  for_each_selector([&](Selector selector) {
    for (const std::int64_t n : {1, 2, 33, 100, 257, 1030})
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{2}, std::int64_t{15}, std::int64_t{32},
                                   std::int64_t{33}, std::int64_t{100}, std::int64_t{1024}, n - 1, n})
        for (const std::int64_t parts : {1, 2, 5, 16}) {
          if (k < 1 || k > n || parts > n || (n > 300 && k > 100 && parts > 2)) continue;
          const std::int64_t m = n > 300 ? 1 : 3;
          const int pattern = static_cast<int>((n + 3 * k + parts) % patterns);
          CAPTURE_ALL(n, k, parts, pattern);
          const std::vector<float> values = hard_values(pattern, size(m), size(n), size(n + k));
          const std::string refused = error_of([&] {
            const auto lists = stages::select(device(), {values.data(), m, n}, k, selector, parts);
            CHECK(difference(lists.keys, selected(values, size(n), size(k), size(parts))) == "");
            CHECK(lists.rows == m);
            CHECK(lists.lists == parts);
            CHECK(lists.k == k);
          });
          if (refused != "nothing was thrown") CHECK(refused.starts_with("unsupported: select: "));
        }
  });
}

TEST_CASE("select: every kind of value, for every selector") {
  for_each_selector([&](Selector selector) {
    for (int pattern = 0; pattern < patterns; ++pattern)
      for (const std::size_t k : {1u, 8u, 50u}) {
        CAPTURE_ALL(pattern, k);
        const std::size_t n = 391;
        const std::vector<float> values = hard_values(pattern, 2, n, 5);
        const auto lists =
            stages::select(device(), {values.data(), 2, 391}, static_cast<std::int64_t>(k), selector, 3);
        CHECK(difference(lists.keys, selected(values, n, k, 3)) == "");
      }
  });
}

TEST_CASE("select: long lists of many neighbours, whose bound GPUs guess by a sample") {
  if (!has(Selector::threshold)) return;
  const auto check = [&](const std::vector<float>& values, std::int64_t m, std::size_t k,
                         std::int64_t parts) {
    const std::size_t n = values.size() / size(m);
    const MatrixView<const float> rows(values.data(), m, static_cast<std::int64_t>(n));
    const auto lists =
        stages::select(device(), rows, static_cast<std::int64_t>(k), Selector::threshold, parts);
    CHECK(difference(lists.keys, selected(values, n, k, size(parts))) == "");
  };
  for (int pattern = 0; pattern < patterns; ++pattern) {
    CAPTURE(pattern);
    check(hard_values(pattern, 1, 70000, 6), 1, 130, 1);
    check(hard_values(pattern, 2, 13001, 7), 2, 96, 2);
    check(hard_values(pattern, 1, 140001, 8), 1, 2048, 1);
  }
  // The sample is the first 32 of every 1024 columns: of these all values are among the least, or none.
  for (const bool in_sample : {true, false}) {
    CAPTURE(in_sample);
    std::vector<float> values = hard_values(0, 1, 40000, 9);
    for (std::size_t t = 0; t < values.size(); ++t)
      if ((t % 1024 < 32) == in_sample) values[t] -= 100;
    check(values, 1, 200, 1);
    check(values, 1, 97, 3);
  }
}

TEST_CASE("select: large k, up to all of n, is never refused when kith chooses") {
  const std::int64_t n = 5003;
  for (const std::int64_t k : {std::int64_t{1024}, std::int64_t{2048}, std::int64_t{2049}, n - 1, n})
    for (const int pattern : {0, 1, 2, 4}) {
      CAPTURE_ALL(k, pattern);
      const std::vector<float> values = hard_values(pattern, 2, size(n), 11);
      const auto lists = stages::select(device(), {values.data(), 2, n}, k);
      CHECK(difference(lists.keys, selected(values, size(n), size(k), 1)) == "");
    }
}

/// Runs one select step between canaries; the cells around the input would win.
bool check_guarded(spi::Device& device, Selector selector, int pattern, std::size_t m, std::size_t n,
                   std::uint32_t k, std::uint32_t parts, std::uint32_t first_row) {
  CAPTURE_ALL(name(selector), pattern, n, k, parts);
  const std::vector<float> values = hard_values(pattern, m, n, n + k);
  const GuardedGrid<float> in(device, m, n, -inf, values);
  const GuardedGrid<Key> out(device, m, size(parts) * k, 0xCAFECAFECAFECAFEull);
  const std::string refusal =
      run_step(device, spi::SelectStep{selector, in.grid(), first_row, k, parts, out.grid(), {}});
  if (!refusal.empty()) return false;
  CHECK(difference(out.inside(), selected(values, n, k, parts, first_row)) == "");
  CHECK(out.canaries_live());
  CHECK(in.unchanged());
  return true;
}

TEST_CASE("select: reads its rectangle and writes its lists, and nothing else") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Selector selector : device.info.selectors) {
      int ran = 0;
      for (const std::size_t n : {1u, 7u, 64u, 333u})
        for (const std::uint32_t k : {1u, 5u, 32u, 70u})
          for (const std::uint32_t parts : {1u, 4u, 11u})  // includes more parts than columns
            ran += check_guarded(device, selector, static_cast<int>((n + k + parts) % patterns), 3, n, k,
                                 parts, 40);
      CAPTURE(std::string(name(selector)));
      CHECK(ran > 0);
    }
  });
}

TEST_CASE("select: training rows are counted on from the tile's first, up to the largest there is") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Selector selector : device.info.selectors) {
      CHECK(check_guarded(device, selector, 2, 2, 50, 9, 2, 1));
      CHECK(check_guarded(device, selector, 1, 2, 50, 9, 2, 0xFFFFFFFEu - 50));
      CHECK(check_guarded(device, selector, 5, 2, 50, 50, 1, 0x80000000u - 25));
    }
  });
}

TEST_CASE("select: refuses what the contract refuses") {
  const Matrix values = matrix(3, {1, 2, 3, /**/ 4, 5, std::nanf("")});
  const auto refusal = [&](const Matrix& from, std::int64_t k, std::int64_t parts) {
    return error_of([&] { stages::select(device(), from, k, Selector::automatic, parts); });
  };
  CHECK(refusal(values, 1, 1) ==
        "invalid_argument: select: row 1, column 2 holds NaN; every value must be a number");
  CHECK(refusal(values, 0, 1) ==
        "invalid_argument: select: k = 0 but there are 3 candidates; choose k from 1 to 3");
  CHECK(refusal(values, 4, 1) ==
        "invalid_argument: select: k = 4 but there are 3 candidates; choose k from 1 to 3");
  CHECK(refusal(values, 1, 4) ==
        "invalid_argument: select: lists = 4 but there are 3 candidates; choose lists from 1 to 3");
  CHECK(stages::select(device(), Matrix{0, 3, {}}, 2).keys.empty());
}

TEST_CASE("select: a selector the device lacks is refused by name, with those it has") {
  const DeviceInfo& info = device().info();
  std::string known;
  for (const Selector selector : info.selectors)
    known += (known.empty() ? "" : ", ") + std::string(name(selector));
  for (const Selector selector : all_selectors()) {
    if (std::find(info.selectors.begin(), info.selectors.end(), selector) != info.selectors.end()) continue;
    CHECK(error_of([&] {
            select({1, 2, 3}, 1, selector);
          }) == "unsupported: search: " + info.spec + " has no selector " + std::string(name(selector)) +
                    "; it has " + known);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
