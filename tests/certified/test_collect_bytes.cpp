// Tests sums of products of bytes against values worked out on paper.
#include "certified/bounds.hpp"
#include "kith/spi/byte_grid.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_collect_bytes {
namespace {

using namespace bounding;

/// Returns rows of whole numbers from -128 to 127; the first three are extreme.
Matrix whole_rows(std::int64_t rows, std::int64_t dims, std::uint64_t seed) {
  workloads::Random random(seed);
  Matrix all{rows, dims, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < dims; ++d) {
      const auto any = static_cast<float>(random.between(-128, 127));
      all.values.push_back(r == 0 ? -128.0f : r == 1 ? 127.0f : r == 2 ? (d % 2 ? 127.0f : -128.0f) : any);
    }
  return all;
}

/// Holds whole numbers, and their bytes.
struct WholeRows {
  Matrix values;
  Rows rows;

  WholeRows(spi::Device& device, std::int64_t count, std::int64_t dims, std::uint64_t seed, bool queries)
      : values(whole_rows(count, dims, seed)),
        rows(device, values, std::vector<float>(size(dims)),
             queries ? device.info.query_block : device.info.train_block) {
    REQUIRE(run_step(device, spi::PrepareStep{Proposer::int8, rows.rows.rows(), rows.centre.grid(), on_grid(),
                                              1, queries}) == "");
  }

  spi::QuantizedRows on_grid() const {
    spi::QuantizedRows grids = rows.grids();
    grids.on_grid = spi::OnGrid::exactly;
    return grids;
  }
  double product(const WholeRows& with, std::size_t q, std::size_t t) const {
    double sum = 0;
    for (std::size_t d = 0; d < size(values.cols); ++d)
      sum += static_cast<double>(values.row(static_cast<std::int64_t>(q))[d]) *
             static_cast<double>(with.values.row(static_cast<std::int64_t>(t))[d]);
    return sum;
  }
};

constexpr std::size_t struck_rows = 7;

/// Makes the terms of struck_rows rows from `first` on NaN.
void strike(spi::Device& device, const spi::Grid<float>& terms, std::size_t first) {
  const std::vector<float> none(struck_rows, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t term = 0; term < spi::terms_a_row; ++term)
    device.write(*terms.memory, (terms.first + term * terms.stride + first) * sizeof(float), none.data(),
                 struck_rows * sizeof(float));
}

/// Lists all rows for all queries by sums of bytes, and checks each sum.
///   struck  the first of struck_rows training rows that do not count
void check_whole_sums(spi::Device& device, std::int64_t of_queries, std::int64_t of_train, std::int64_t dims,
                      std::size_t struck) {
  CAPTURE_ALL(of_queries, of_train, dims);
  const WholeRows queries(device, of_queries, dims, size(dims), true),
      train(device, of_train, dims, size(dims + of_queries), false);
  strike(device, train.rows.row_terms.grid(), struck);
  const std::size_t m = size(of_queries), n = size(of_train);
  const GuardedGrid<float> values(device, 1, 1, -123.5f), low(device, m, n, -77.5f),
      limits(device, m, 1, -inf, std::vector<float>(m, inf));
  const GuardedGrid<std::uint32_t> lists(device, m, n, no_row),
      counts(device, m, 1, 7, std::vector<std::uint32_t>(m));
  const GuardedGrid<Key> high(device, m, n, 0xABCDull);
  spi::Grid<float> products = values.grid();
  products.rows = m;
  products.cols = n;
  REQUIRE(run_step(device, with_error({Proposer::int8,
                                       Metric::negative_dot,
                                       queries.on_grid(),
                                       train.on_grid(),
                                       products,
                                       limits.grid(),
                                       0,
                                       {lists.grid(), counts.grid()},
                                       {},
                                       1,
                                       {low.grid(), high.grid()}})) == "");
  check_canaries(lists, counts, low, high);
  REQUIRE(counts.inside() == std::vector<std::uint32_t>(m, static_cast<std::uint32_t>(n - struck_rows)));
  const std::vector<std::uint32_t> rows = lists.inside();
  const std::vector<float> lows = low.inside();
  std::size_t wrong = 0;
  for (std::size_t q = 0; q < m; ++q) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(q * n),
               end = first + static_cast<std::ptrdiff_t>(n - struck_rows);
    wrong += std::set<std::uint32_t>(first, end).size() != n - struck_rows;
    for (std::size_t at = q * n; at < (q + 1) * n - struck_rows; ++at) {
      REQUIRE(rows[at] < n);
      wrong += rows[at] >= struck && rows[at] < struck + struck_rows;
      wrong += static_cast<double>(lows[at]) != -queries.product(train, q, rows[at]);
    }
  }
  CHECK(wrong == 0);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bytes: products worked out on paper, in lines of every length") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto& has = device.info.proposers;
    if (std::find(has.begin(), has.end(), Proposer::int8) == has.end()) return;
    // All elements of training rows are 1 but for one of 127 or -127 in three rows. Of three queries each,
    // one has 127 first, one has -127 first, and one has 127 last: each is near one of these rows.
    for (const std::pair<int, int>& shape : {std::pair{2, 2}, {66, 40}, {66, 70}, {3, 200}}) {
      const int m = shape.first, dims = shape.second;
      CAPTURE(dims);
      Matrix train{130, dims, std::vector<float>(size(130 * dims), 1.0f)},
          queries{m, dims, std::vector<float>(size(m * dims))};
      train.values[size(5 * dims)] = 127;
      train.values[size(77 * dims + dims - 1)] = 127;
      train.values[size(129 * dims)] = -127;
      for (int q = 0; q < m; ++q)
        queries.values[size(q * dims + (q % 3 == 2 ? dims - 1 : 0))] = q % 3 == 1 ? -127 : 127;
      const Problem problem{Proposer::int8, Metric::negative_dot, queries, train,
                            std::vector<float>(size(dims))};
      for (const spi::Visits& visits : {spi::Visits{}, {128, 0, 2, 2, 1}, {128, 1, 2, 2, 1}}) {
        Listed found;
        REQUIRE(collect(device, problem, std::vector<float>(size(m), -1000.0f), 4, visits, found) == "");
        for (int q = 0; q < m; ++q) {
          CAPTURE(q);
          const std::size_t first = size(q) * 4;
          REQUIRE(found.counts[size(q)] == 1);
          CHECK(found.rows[first] == first_row + (q % 3 == 0 ? 5 : q % 3 == 1 ? 129 : 77));
          CHECK((found.low[first] <= -16129 && found.low[first] > -16131));
          CHECK(value_of(found.high[first]) >= -16129);
          // AVX2 has 6 bits for the bytes of queries, so that upper bounds are farther away.
          if (device.info.backend != "cpu") CHECK(value_of(found.high[first]) < -16127);
        }
      }
    }
  });
}

TEST_CASE("bytes: every sum of whole numbers, in lines of any length, of any number of queries") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto& has = device.info.proposers;
    if (std::find(has.begin(), has.end(), Proposer::int8) == has.end()) return;
    constexpr std::int64_t numbers[] = {1, 2, 3, 5, 17, 33};
    for (std::int64_t dims = 1; dims <= 130; ++dims)
      check_whole_sums(device, numbers[dims % 6], 33 + dims % 31, dims, size(dims % 26));
    for (const std::int64_t dims : {191, 192, 193, 255, 257, 1023, 1024})
      for (const std::int64_t m : {1, 15, 16, 31, 32, 34, 49}) check_whole_sums(device, m, 150, dims, 120);
    // With more queries, lines of up to four, five, six, seven and more slabs have kernels of their own.
    for (const std::int64_t dims : {63, 96, 130, 385, 514, 641, 896, 897})
      for (const std::int64_t m : {65, 129, 300}) check_whole_sums(device, m, 300, dims, 120);
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_collect_bytes
