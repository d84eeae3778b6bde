// Runs collect by products with any number of queries and columns. Devices have separate kernels for few
// queries, for few columns, and for queries that do not fit into fast memory.
#include "certified/bounds.hpp"

namespace kith::tests::test_bounds_small_batch {
namespace {

using namespace bounding;

/// Returns the bound `low` of each pair, [m, n], which collect compares with the threshold.
std::vector<std::vector<float>> low_of_rows(const Problem& problem, const Listed& all) {
  std::vector<std::vector<float>> low(problem.m(), std::vector<float>(problem.n()));
  for (std::size_t q = 0; q < problem.m(); ++q)
    for (std::size_t j = 0; j < problem.n(); ++j)
      low[q][all.rows[q * problem.n() + j] - first_row] = all.low[q * problem.n() + j];
  return low;
}

/// Checks that list q counts all rows that the threshold lets pass, and holds `capacity` of them, or
/// all, each once.
void check_lists(const Problem& problem, const std::vector<std::vector<float>>& low,
                 const std::vector<float>& threshold, std::size_t capacity, const Listed& found) {
  for (std::size_t q = 0; q < problem.m(); ++q) {
    CAPTURE(q);
    const auto near = [&](float v) { return v <= threshold[q]; };
    const auto many = static_cast<std::size_t>(std::count_if(low[q].begin(), low[q].end(), near));
    REQUIRE(found.counts[q] == many);
    const auto begin = found.rows.begin() + static_cast<std::ptrdiff_t>(q * capacity);
    const std::set<std::uint32_t> listed(begin,
                                         begin + static_cast<std::ptrdiff_t>(std::min(many, capacity)));
    CHECK(listed.size() == std::min(many, capacity));
    std::size_t wrong = 0;
    for (const std::uint32_t row : listed) wrong += row < first_row || !near(low[q].at(row - first_row));
    CHECK(wrong == 0);
  }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bounds: any number of queries, few columns and many") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      constexpr std::int64_t n = 2 * 128 + 37;
      // Queries of 384 and 768 columns fill the shared memory that a kernel gets without asking for more, or,
      // on some devices, all there is.
      for (const std::int64_t dims : {13, 30, 50, 128, 384, 768, 900})
        for (const std::int64_t m : dims < 384   ? std::vector<std::int64_t>{1, 8, 9, 32, 33, 65}
                                    : dims < 900 ? std::vector<std::int64_t>{32, 64, 65}
                                                 : std::vector<std::int64_t>{8, 64}) {
          CAPTURE_ALL(dims, m);
          if (m > most_queries(device, proposer)) continue;  // see test_proposers_listed.cpp
          const Metric metric = m % 2 == 0 ? Metric::squared_l2 : Metric::negative_dot;
          const Problem problem = Problem::hard(proposer, metric, DataKind::normal, m, n, dims);
          Listed all, found;
          REQUIRE(collect_all(device, problem, {}, all) == "");
          REQUIRE(all.counts == std::vector<std::uint32_t>(problem.m(), n));
          const std::vector<std::vector<float>> low = low_of_rows(problem, all);
          std::vector<float> threshold;
          // Thresholds go from the smallest value to the largest, and one is below all.
          for (std::size_t q = 0; q < problem.m(); ++q) {
            std::vector<float> sorted = low[q];
            std::sort(sorted.begin(), sorted.end());
            threshold.push_back(q % 5 == 4 ? -inf : sorted[(q % 5) * (n - 1) / 3]);
          }
          for (const std::size_t capacity : {std::size_t{n}, std::size_t{20}}) {
            REQUIRE(collect(device, problem, threshold, capacity, {}, found) == "");
            check_lists(problem, low, threshold, capacity, found);
          }
        }
    });
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_bounds_small_batch
