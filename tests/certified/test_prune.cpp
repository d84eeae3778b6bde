// Tests the step prune: it keeps the listed candidates that are within the threshold.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_prune {
namespace {

struct Pruned {
  std::vector<std::uint32_t> rows, counts;
  std::vector<float> low;
  std::vector<Key> high;
};

/// Runs prune on lists in which entry j of list q is row 100000 q + j, and its key has the value 2 low.
std::string prune(spi::Device& device, std::size_t capacity, const std::vector<float>& threshold,
                  const std::vector<std::uint32_t>& counts, const std::vector<float>& low, Pruned& found,
                  bool only_rows = false) {
  const std::size_t m = threshold.size();
  std::vector<std::uint32_t> rows;
  std::vector<Key> high;
  for (std::size_t i = 0; i < m * capacity; ++i) {
    rows.push_back(static_cast<std::uint32_t>(i / capacity * 100000 + i % capacity));
    high.push_back(make_key(2 * low[i], rows.back()));
  }
  const GuardedGrid<float> limits(device, m, 1, inf, threshold), lows(device, m, capacity, -inf, low);
  const GuardedGrid<std::uint32_t> lists(device, m, capacity, 7, rows), many(device, m, 1, 5, counts);
  const GuardedGrid<Key> highs(device, m, capacity, 3, high);
  const spi::PruneStep step{
      limits.grid(), {lists.grid(), many.grid()}, {lows.grid(), highs.grid()}, only_rows};
  if (std::string why = run_step(device, step); !why.empty()) return why;
  check_canaries(lists, many, lows, highs);
  CHECK(limits.unchanged());
  found = {lists.inside(), many.inside(), lows.inside(), highs.inside()};
  return {};
}

/// Returns whether the device has the step prune.
bool prunes(spi::Device& device) {
  Pruned found;
  const std::string why = prune(device, 1, {0}, {1}, {0}, found);
  if (!why.empty()) MESSAGE("no prune on " << device.info.spec << ": " << why);
  return why.empty();
}

/// Returns the first counts[q] entries of list q as sorted keys. Checks that row, low and high of each entry
/// still belong together.
std::vector<Key> list_of(const Pruned& found, std::size_t capacity, std::size_t q) {
  std::vector<Key> list;
  for (std::size_t j = 0; j < found.counts[q]; ++j) {
    const std::size_t at = q * capacity + j;
    CHECK(found.high[at] == make_key(2 * found.low[at], found.rows[at]));
    list.push_back(make_key(found.low[at], found.rows[at]));
  }
  std::sort(list.begin(), list.end());
  return list;
}

/// Returns the first counts[q] rows of list q, sorted.
std::vector<std::uint32_t> rows_of(const Pruned& found, std::size_t capacity, std::size_t q) {
  std::vector<std::uint32_t> rows(found.rows.data() + q * capacity,
                                  found.rows.data() + q * capacity + found.counts[q]);
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prune: by hand") {
  spi::with_device(device(), [](spi::Device& device) {
    if (!prunes(device)) return;
    Pruned found;
    const std::vector<float> low = {1, 5, 3, 4, /**/ 1, 1, 1, 1, /**/ 2, 9, 2, 9, /**/ 7, 7, 7, 7};
    REQUIRE(prune(device, 4, {3, 0, 2, inf}, {4, 4, 9, 0}, low, found) == "");
    CHECK(found.counts == std::vector<std::uint32_t>{2, 0, 2, 0});
    CHECK(list_of(found, 4, 0) == std::vector<Key>{make_key(1, 0), make_key(3, 2)});
    CHECK(list_of(found, 4, 2) == std::vector<Key>{make_key(2, 200000), make_key(2, 200002)});
  });
}

void check_prune(spi::Device& device, std::size_t m, std::size_t capacity) {
  CAPTURE_ALL(m, capacity);
  workloads::Random random(capacity);
  std::vector<float> low, threshold = {inf, -inf, 0};
  for (std::size_t i = 0; i < m * capacity; ++i) low.push_back(workloads::uniform(random.next()) - 0.5f);
  while (threshold.size() < m) threshold.push_back(workloads::uniform(random.next()) - 0.5f);
  std::vector<std::uint32_t> counts;
  for (std::size_t q = 0; q < m; ++q) counts.push_back(static_cast<std::uint32_t>(q * 2 * capacity / m));
  counts.front() = static_cast<std::uint32_t>(capacity);  // this query keeps all
  Pruned found, rows_alone;
  REQUIRE(prune(device, capacity, threshold, counts, low, found) == "");
  REQUIRE(prune(device, capacity, threshold, counts, low, rows_alone, true) == "");
  CHECK(rows_alone.counts == found.counts);
  for (std::size_t q = 0; q < m; ++q) {
    CHECK(rows_of(rows_alone, capacity, q) == rows_of(found, capacity, q));
    std::vector<Key> expected;
    for (std::size_t j = 0; j < std::min<std::size_t>(counts[q], capacity); ++j)
      if (low[q * capacity + j] <= threshold[q])
        expected.push_back(make_key(low[q * capacity + j], static_cast<std::uint32_t>(q * 100000 + j)));
    std::sort(expected.begin(), expected.end());
    CHECK(found.counts[q] == expected.size());
    CHECK(list_of(found, capacity, q) == expected);
  }
}

TEST_CASE("prune: lists of all lengths, and what stands behind them") {
  spi::with_device(device(), [](spi::Device& device) {
    if (!prunes(device)) return;
    for (const std::size_t capacity : {1u, 31u, 64u, 257u, 1025u, 2048u, 3000u})
      check_prune(device, 13, capacity);
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_prune
