// The mechanism of each published selector, on inputs that can be followed on paper: docs/methods.md.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

/// Returns the rows of the k smallest values of one list, in order.
std::vector<std::uint32_t> rows(const std::vector<float>& values, std::int64_t k, Selector selector) {
  const MatrixView<const float> row(values.data(), 1, static_cast<std::int64_t>(values.size()));
  std::vector<std::uint32_t> found;
  for (const Key key : stages::select(device(), row, k, selector).keys) found.push_back(row_of(key));
  return found;
}

using Rows = std::vector<std::uint32_t>;

/// first, first + 1, ..., first + count - 1
Rows counting(std::uint32_t first, std::uint32_t count) {
  Rows all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

/// Checks the lists that a selector finds in one row of values against the contract.
void check_lists(const std::vector<float>& values, std::size_t k, Selector selector, std::size_t parts = 1) {
  CAPTURE_ALL(name(selector), values.size(), k, parts);
  const MatrixView<const float> row(values.data(), 1, static_cast<std::int64_t>(values.size()));
  const auto lists =
      stages::select(device(), row, static_cast<std::int64_t>(k), selector, static_cast<std::int64_t>(parts));
  CHECK(difference(lists.keys, selected(values, values.size(), k, parts)) == "");
}

/// Returns random values with many ties.
std::vector<float> some_values(std::size_t n, std::uint64_t seed) {
  workloads::Random random(seed);
  std::vector<float> values;
  for (std::size_t t = 0; t < n; ++t)
    values.push_back(static_cast<float>(random.below(static_cast<std::int64_t>(n))) - 100);
  return values;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("methods: a GPU back end has every published selector") {
  const std::string& backend = device().info().backend;
  if (backend != "opencl" && backend != "cuda") return;
  for (const Selector selector :
       {Selector::threshold, Selector::radix, Selector::bubble, Selector::insertion, Selector::local_sort,
        Selector::k_min, Selector::bitonic, Selector::odd_even, Selector::rank_sort, Selector::merge_sort}) {
    CAPTURE(std::string(name(selector)));
    CHECK(has(selector));
  }
}

TEST_CASE("methods: bubble, its first three steps") {
  if (!has(Selector::bubble)) return;
  // K bubbles over n values take n - 1 + 2 (K - 1) steps, so these inputs take one, two and three steps.
  // n = 2, K = 1. Step 1, positions 0 and 1: 5 3 -> the bubble carries 3.
  CHECK(rows({5, 3}, 1, Selector::bubble) == Rows{1});
  CHECK(rows({3, 5}, 1, Selector::bubble) == Rows{0});
  // n = 3, K = 1. Step 1: 5 3 4 -> carries 3, leaves 5. Step 2, positions 1 and 2: 3 against 4 -> keeps 3;
  // 3 against 2 -> takes 2.
  CHECK(rows({5, 3, 4}, 1, Selector::bubble) == Rows{1});
  CHECK(rows({5, 3, 2}, 1, Selector::bubble) == Rows{2});
  // n = 4, K = 1. Step 3, positions 2 and 3: 3 against 1 -> takes 1.
  CHECK(rows({5, 3, 4, 1}, 1, Selector::bubble) == Rows{3});
  CHECK(rows({5, 3, 4, 3}, 1, Selector::bubble) == Rows{1});  // of two equal values it keeps the first
  // n = 2, K = 2. Step 1: the first bubble takes 3 and is at the end. Step 2: no bubble moves. Step 3: the
  // second bubble starts and takes the remaining 5.
  CHECK(rows({5, 3}, 2, Selector::bubble) == Rows{1, 0});
}

TEST_CASE("methods: bubble, a value passes from bubble to bubble") {
  if (!has(Selector::bubble)) return;
  // With falling values, each value pushes the one before to the next bubble, so the first value ends with
  // the last bubble.
  for (const std::int64_t n : {2, 3, 16, 17, 32, 33, 65, 130, 600}) {
    CAPTURE(n);
    std::vector<float> falling;
    Rows backwards;
    for (std::int64_t t = 0; t < n; ++t) {
      falling.push_back(static_cast<float>(n - t));
      backwards.push_back(static_cast<std::uint32_t>(n - 1 - t));
    }
    CHECK(rows(falling, n, Selector::bubble) == backwards);
    // Without the last bubble, the first value is not returned.
    CHECK(rows(falling, n - 1, Selector::bubble) == Rows(backwards.begin(), backwards.end() - 1));
  }
}

TEST_CASE("methods: k_min, tournaments with an odd number of elements") {
  if (!has(Selector::k_min)) return;
  // 3 2 1: one pair competes, and the third value goes on alone; then 2 -> 1.
  CHECK(rows({3, 2, 1}, 1, Selector::k_min) == Rows{2});
  CHECK(rows({3, 1, 2}, 1, Selector::k_min) == Rows{1});
  // 5 -> 3 -> 2 -> 1 values remain: an odd number in the first round and in the second.
  CHECK(rows({4, 2, 5, 3, 1}, 5, Selector::k_min) == Rows{4, 1, 3, 0, 2});
  // 11 -> 6 -> 3 -> 2 -> 1 values remain. The smallest must win from every place, with and without a partner.
  for (const std::size_t n : {1u, 2u, 3u, 5u, 7u, 11u, 13u, 21u}) {
    for (std::size_t smallest = 0; smallest < n; ++smallest) {
      CAPTURE_ALL(n, smallest);
      std::vector<float> values;
      for (std::size_t t = 0; t < n; ++t) values.push_back(static_cast<float>(10 + t * 7 % n));
      values[smallest] = 1;
      CHECK(rows(values, 1, Selector::k_min) == Rows{static_cast<std::uint32_t>(smallest)});
      check_lists(values, n, Selector::k_min);
    }
  }
}

TEST_CASE("methods: k_min, several blocks of 1024") {
  if (!has(Selector::k_min)) return;
  std::vector<float> values(2 * 1024 + 3, 50);
  values[1023] = 4;  // 1023 is the last place of the first block, 1024 the first of the second
  values[1024] = 3;
  values[2047] = 2;
  values[2048] = 1;
  values[2050] = 0;
  CHECK(rows(values, 6, Selector::k_min) == Rows{2050, 2048, 2047, 1024, 1023, 0});
  // All winners are in one block; then there are more than a block holds; then all values win.
  for (std::uint32_t t = 0; t < 1024; ++t) values[1024 + t] = -1;
  CHECK(rows(values, 1024, Selector::k_min) == counting(1024, 1024));
  for (const std::size_t k : {1023u, 1025u, 2051u}) check_lists(values, k, Selector::k_min);
}

TEST_CASE("methods: rank_sort, ties get the places of their order") {
  if (!has(Selector::rank_sort)) return;
  //  value  2 1 2 1 2
  //  place  2 0 3 1 4   number of smaller values and of equal values before it
  const std::vector<float> values{2, 1, 2, 1, 2};
  CHECK(rows(values, 5, Selector::rank_sort) == Rows{1, 3, 0, 2, 4});
  CHECK(rows(values, 3, Selector::rank_sort) == Rows{1, 3, 0});  // places 3 and 4 are not written
  CHECK(rows({0.0f, -0.0f, 0.0f}, 3, Selector::rank_sort) == Rows{0, 1, 2});
  // These equal values are far apart.
  CHECK(rows(std::vector<float>(3000, 7), 2999, Selector::rank_sort) == counting(0, 2999));
  std::vector<float> far(2500, 7);
  far[2499] = 6;
  far[1200] = 6;
  CHECK(rows(far, 4, Selector::rank_sort) == Rows{1200, 2499, 0, 1});
}

TEST_CASE("methods: local_sort, across the border of a block") {
  if (!has(Selector::local_sort)) return;
  std::vector<float> values(600, 9);
  values[255] = 3;
  values[256] = 2;
  values[511] = 1;
  values[512] = 2;
  values[599] = 0;
  CHECK(rows(values, 6, Selector::local_sort) == Rows{599, 511, 256, 512, 255, 0});
  // A block keeps k values; here one block holds all winners.
  for (std::uint32_t t = 256; t < 512; ++t) values[t] = -static_cast<float>(t);
  Rows falling = counting(256, 256);
  std::reverse(falling.begin(), falling.end());
  CHECK(rows(values, 256, Selector::local_sort) == falling);
  CHECK(rows(values, 255, Selector::local_sort) == Rows(falling.begin(), falling.end() - 1));
}

TEST_CASE("methods: local_sort refuses what its block cannot keep") {
  if (!has(Selector::local_sort)) return;
  const std::vector<float> values = some_values(1000, 1);
  const auto refusal = [&](std::int64_t k) {
    return error_of([&] { stages::select(device(), {values.data(), 1, 1000}, k, Selector::local_sort); });
  };
  CHECK(refusal(256) == "nothing was thrown");
  CHECK(refusal(257) == "unsupported: select: " + device().info().spec +
                            ": k = 257 is more than the 256 values of a block, of which local_sort keeps the "
                            "first k; choose k <= 256 or another selector");
}

TEST_CASE("methods: bitonic, numbers that are no power of two") {
  if (!has(Selector::bitonic)) return;
  CHECK(rows({5, 4, 3, 2, 1}, 5, Selector::bitonic) == Rows{4, 3, 2, 1, 0});
  CHECK(rows({1, 2, 3}, 3, Selector::bitonic) == Rows{0, 1, 2});
  // The padding must sort behind plus infinity.
  CHECK(rows({inf, inf, -inf, inf, inf}, 5, Selector::bitonic) == Rows{2, 0, 1, 3, 4});
  for (const std::size_t n : {9u, 100u, 2047u, 2049u, 4097u, 9000u}) {
    const std::vector<float> values = some_values(n, n);
    check_lists(values, n, Selector::bitonic);
    check_lists(values, 3, Selector::bitonic);
  }
}

TEST_CASE("methods: odd_even, a value that travels the whole way") {
  if (!has(Selector::odd_even)) return;
  CHECK(rows({2, 3, 4, 5, 1}, 5, Selector::odd_even) == Rows{4, 0, 1, 2, 3});
  CHECK(rows({5, 1, 2, 3, 4}, 5, Selector::odd_even) == Rows{1, 2, 3, 4, 0});
  for (const std::uint32_t n : {2u, 9u, 64u, 333u, 1024u, 1025u, 2500u, 4096u}) {
    CAPTURE(n);
    std::vector<float> values;
    for (std::uint32_t t = 0; t < n; ++t) values.push_back(static_cast<float>(t));
    Rows expected = counting(0, n);
    CHECK(rows(values, n, Selector::odd_even) == expected);  // no value moves
    values[n - 1] = -1;                                      // moves from the last place to the first
    std::rotate(expected.begin(), expected.end() - 1, expected.end());
    CHECK(rows(values, n, Selector::odd_even) == expected);
    values[n - 1] = static_cast<float>(n - 1);
    values[0] = static_cast<float>(n);  // moves from the first place to the last
    expected = counting(1, n - 1);
    expected.push_back(0);
    CHECK(rows(values, n, Selector::odd_even) == expected);
  }
}

TEST_CASE("methods: merge_sort, an odd number of runs") {
  if (!has(Selector::merge_sort)) return;
  CHECK(rows({3, 1, 2}, 3, Selector::merge_sort) == Rows{1, 2, 0});
  CHECK(rows({5, 4, 3, 2, 1}, 4, Selector::merge_sort) == Rows{4, 3, 2, 1});
  // Runs have 2048 values: there are three runs, the last with one key or full, five, or seven. The last run
  // has the nearest.
  for (const std::uint32_t n : {4097u, 6144u, 8193u, 13000u}) {
    std::vector<float> falling;
    for (std::uint32_t t = 0; t < n; ++t) falling.push_back(-static_cast<float>(t));
    for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{2048}, std::size_t{n}})
      check_lists(falling, k, Selector::merge_sort);
  }
}

TEST_CASE("methods: threshold, more neighbours than local memory holds") {
  if (!has(Selector::threshold)) return;
  const std::vector<float> values = some_values(5003, 3);
  for (const std::size_t k : {2049u, 4096u, 5003u}) check_lists(values, k, Selector::threshold);
  std::vector<float> falling;  // each value enters the list
  for (int t = 0; t < 7000; ++t) falling.push_back(-static_cast<float>(t));
  check_lists(falling, 3000, Selector::threshold);
  check_lists(falling, 2100, Selector::threshold, 3);
}

/// Returns whether the device has radix, and memory for whole lists of it.
bool sorts_long_lists() {
  return has(Selector::radix) && device().info().largest_allocation >= (std::size_t{16} << 20);
}

TEST_CASE("methods: radix, all of long lists") {
  if (!sorts_long_lists()) return;
  for (const std::size_t n : {8191u, 8192u, 8193u, 20001u, 65536u, 100003u}) {
    std::vector<float> values = some_values(n, n);
    for (std::size_t t = 0; t < n; t += 101) values[t] = t % 2 == 0 ? inf : -inf;
    for (const std::size_t k : {n, n - 1, n / 3, std::size_t{1}}) check_lists(values, k, Selector::radix);
    check_lists(values, n, Selector::radix, 2);
    check_lists(std::vector<float>(n, 7), n, Selector::radix);
  }
  for (const std::size_t n : {262144u, 262145u}) check_lists(some_values(n, n), n, Selector::radix);
}

TEST_CASE("methods: radix, long lists in order and of two values") {
  if (!sorts_long_lists()) return;
  constexpr std::size_t n = 30000;
  std::vector<float> values(n);
  for (std::size_t t = 0; t < n; ++t) values[t] = static_cast<float>(t);
  for (const std::size_t k : {n, std::size_t{900}}) check_lists(values, k, Selector::radix);
  std::reverse(values.begin(), values.end());
  for (const std::size_t k : {n, std::size_t{900}}) check_lists(values, k, Selector::radix);
  for (std::size_t t = 0; t < n; ++t) values[t] = t % 3 == 0 ? 0.0f : 1.0f;
  for (const std::size_t k : {n, std::size_t{900}}) check_lists(values, k, Selector::radix);
  for (std::size_t t = 0; t < n; ++t) values[t] = t % 5 == 0 ? 0.0f : -0.0f;
  check_lists(values, n, Selector::radix);
}

// sample_sort.cu and .cl sample two of 128 values. These tell nothing of the others here: in one list all of
// these are between two of the sample, in others as many as local memory still has room for.
TEST_CASE("methods: radix, values that mislead a sample") {
  if (!sorts_long_lists()) return;
  constexpr std::uint64_t n = 8192, sample = 128, run = (n << 32) / sample;
  for (const std::size_t between : {std::size_t{n}, std::size_t{1700}, std::size_t{700}}) {
    std::vector<float> values = some_values(n, 1);
    for (std::size_t t = between; t < n; ++t) values[t] += values[t] < 4000 ? -9000.0f : 9000.0f;
    for (std::uint64_t i = 0; i < sample; ++i) {
      const std::uint64_t begin = i * run >> 32, end = (i + 1) * run >> 32;
      const std::uint64_t place = begin + (static_cast<std::uint32_t>(i * 2654435761u) * (end - begin) >> 32);
      if (place < between) values[place] += values[place] < 4000 ? -9000.0f : 9000.0f;
    }
    for (const std::size_t k : {std::size_t{n}, std::size_t{4500}, std::size_t{700}})
      check_lists(values, k, Selector::radix);
  }
}

TEST_CASE("methods: radix, long lists of several rows and parts, between canaries, in little scratch") {
  if (!sorts_long_lists()) return;
  const std::size_t m = 3;
  spi::with_device(device(), [&](spi::Device& device) {
    for (const std::uint32_t parts : {1u, 3u}) {
      CAPTURE(parts);
      const std::size_t n = 8300 * parts - parts / 2;         // the last of three parts is shorter
      const std::uint32_t k = 8310, first_row = 0x80000000u;  // some keys are padding
      const std::vector<float> values = some_values(m * n, parts);
      const std::vector<Key> expected = selected(values, n, k, parts, first_row);
      const GuardedGrid<float> in(device, m, n, -inf, values);
      const GuardedGrid<Key> out(device, m, std::size_t{parts} * k, 0xCAFECAFECAFECAFEull);
      spi::SelectStep step{Selector::radix, in.grid(), first_row, k, parts, out.grid(), {}};
      CHECK(run_step(device, step) == "");
      CHECK(difference(out.inside(), expected) == "");
      check_canaries(out);
      check_unchanged(in);
      if (device.info.train_block != spi::rows_a_block) continue;  // kernels for CPUs need all of it
      spi::SelectStep row = step;
      row.distances.rows = row.out.rows = 1;
      const std::size_t bytes = device.check({row, 0}).scratch_bytes;
      const GuardedGrid<Key> again(device, m, std::size_t{parts} * k, 0xCAFECAFECAFECAFEull);
      const GuardedMemory<unsigned char> scratch(device, std::vector<unsigned char>(bytes + 1, 0xFF));
      step.out = again.grid();
      step.scratch = {scratch.memory(), bytes};
      device.enqueue({step, 0});
      device.finish();
      CHECK(difference(again.inside(), expected) == "");
      CHECK(scratch.read().back() == 0xFF);
      check_canaries(out, again);
    }
  });
}

TEST_CASE("methods: lists longer than any block, for every selector") {
  const std::vector<float> values = some_values(5000, 7);
  for (const Selector selector : device().info().selectors)
    for (const std::size_t k : {1u, 7u, 300u, 5000u}) {
      if (selector == Selector::local_sort && k > 256) continue;
      check_lists(values, k, selector);
      if (k <= 300) check_lists(values, k, selector, 3);
    }
}

TEST_CASE("methods: long lists of a tile, between values that would win and canaries") {
  const std::size_t m = 2, n = 4500;
  const std::vector<float> values = some_values(m * n, 9);
  spi::with_device(device(), [&](spi::Device& device) {
    for (const Selector selector : device.info.selectors)
      for (const std::uint32_t parts : {1u, 4u}) {
        CAPTURE_ALL(name(selector), parts);
        const std::uint32_t k = 200, first_row = 0x80000000u;
        const GuardedGrid<float> in(device, m, n, -inf, values);
        const GuardedGrid<Key> out(device, m, std::size_t{parts} * k, 0xCAFECAFECAFECAFEull);
        CHECK(run_step(device, spi::SelectStep{selector, in.grid(), first_row, k, parts, out.grid(), {}}) ==
              "");
        CHECK(difference(out.inside(), selected(values, n, k, parts, first_row)) == "");
        CHECK(out.canaries_live());
        CHECK(in.unchanged());
      }
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
