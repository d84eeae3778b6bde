// Tests the order of rows that a host makes for boxes, and the order of queries that follows from it:
// docs/boxes.md, sections 2 and 3.
#include <algorithm>
#include <map>
#include <numeric>

#include "boxes/box_order.hpp"
#include "common/oracle.hpp"
#include "common/test.hpp"
#include "kith/spi/boxes.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

/// Returns rows with values from 0 to `values` - 1 in each column.
Matrix whole_rows(std::int64_t n, std::int64_t dims, std::int64_t values) {
  workloads::Random random(static_cast<std::uint64_t>(n + dims + values));
  Matrix rows{n, dims, std::vector<float>(size(n * dims))};
  for (float& value : rows.values) value = static_cast<float>(random.below(values));
  return rows;
}

/// Returns rows of which no two have a value in common in any column, so that each falls into its own leaf.
Matrix distinct_rows_of(std::int64_t n, std::int64_t dims) {
  workloads::Random random(7);
  Matrix rows{n, dims, std::vector<float>(size(n * dims))};
  for (std::int64_t d = 0; d < dims; ++d)
    for (std::int64_t r = 0; r < n; ++r) {
      const std::int64_t other = random.below(r + 1);
      rows.values[size(r * dims + d)] = rows.values[size(other * dims + d)];
      rows.values[size(other * dims + d)] = static_cast<float>(r);
    }
  return rows;
}

BoxOrder order_of_rows(const Matrix& rows, std::uint32_t threads = 2) {
  return BoxOrder(rows.view(), threads, [] {});
}

/// Returns how many leaves queries cross, summed up, if they are taken in this order. Each is a row.
std::int64_t leaves_crossed(const BoxOrder& by, const std::vector<std::uint32_t>& order,
                            std::int64_t stride) {
  std::map<std::uint32_t, std::int64_t> leaf_of;
  for (std::size_t place = 0; place < by.numbers().size(); ++place)
    leaf_of[by.numbers()[place]] = static_cast<std::int64_t>(place) / spi::box_rows;
  std::int64_t crossed = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    crossed += std::abs(leaf_of[static_cast<std::uint32_t>(order[i] * stride)] -
                        leaf_of[static_cast<std::uint32_t>(order[i - 1] * stride)]);
  return crossed;
}

TEST_CASE("k-d order: every row has a place, whatever is equal") {
  for (const std::int64_t values : {1, 2, 3, 1000, 1 << 24})
    for (const std::int64_t n : {1, 32, 33, 1000, 5000, 40001})
      for (const std::int64_t dims : {1, 2, 7}) {
        CAPTURE_ALL(values, n, dims);
        std::vector<std::uint32_t> numbers = order_of_rows(whole_rows(n, dims, values)).numbers();
        std::sort(numbers.begin(), numbers.end());
        std::vector<std::uint32_t> all(size(n));
        std::iota(all.begin(), all.end(), 0u);
        CHECK(numbers == all);
      }
}

TEST_CASE("k-d order: of one column it is the order of the values, from leaf to leaf") {
  for (const std::int64_t values : {2, 50, 1 << 24})
    for (const std::int64_t n : {100, 5000, 70000})
      for (const bool ascends : {false, true}) {
        Matrix rows = whole_rows(n, 1, values);
        if (ascends) std::sort(rows.values.begin(), rows.values.end());
        const BoxOrder order = order_of_rows(rows);
        float most_before = -1, most = -1;
        bool follows = true;
        for (std::size_t place = 0; place < size(n); ++place) {
          if (place % spi::box_rows == 0) most_before = most;
          const float value = rows.values[order.numbers()[place]];
          follows = follows && value >= most_before;
          most = std::max(most, value);
        }
        CAPTURE_ALL(values, n, ascends);
        CHECK(follows);
      }
}

TEST_CASE("k-d order: queries are taken once each, and from leaf to leaf or from block to block of leaves") {
  const std::int64_t n = 40000, leaves = n / spi::box_rows, leaves_a_block = spi::box_rows;
  const Matrix rows = distinct_rows_of(n, 3);
  const BoxOrder by = order_of_rows(rows);
  for (const std::int64_t stride : {1, 30, 100}) {
    CAPTURE(stride);
    const std::int64_t m = n / stride;
    const MatrixView<const float> queries(rows.values.data(), m, 3, 3 * stride);
    const std::vector<std::uint32_t> order = by.order_of(queries, 2);
    std::vector<bool> seen(size(m));
    for (const std::uint32_t q : order) seen[q] = true;
    CHECK(order.size() == size(m));
    CHECK(std::count(seen.begin(), seen.end(), true) == m);
    const bool by_block = m < leaves;
    CHECK(leaves_crossed(by, order, stride) <= (by_block ? leaves + m * leaves_a_block : leaves));
  }
}

}  // namespace
}  // namespace kith::tests
