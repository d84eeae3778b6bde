// Tests sums of products of bytes against values worked out on paper.
#include "certified/bounds.hpp"

namespace kith::tests::test_collect_bytes {
namespace {

using namespace bounding;

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

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_collect_bytes
