// kith.h: groups of rows and of queries give what kith.hpp gives.
#include "c_api/c_support.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

using namespace c;

TEST_SUITE_BEGIN("device");

TEST_CASE("c: groups of rows and of queries") {
  const OpenDevice on = opened();
  const Matrix train = matrix(1, {0, 1, 5, 5, 6}), queries = matrix(1, {1, 5});
  const std::vector<std::int64_t> of_rows{0, 2, 5}, of_queries{0, 1, 2};
  kith_index_options made_by = KITH_INIT(kith_index_options);
  made_by.groups = of_rows.data();
  made_by.groups_count = 3;
  const kith_rows rows = rows_of(train), asked = rows_of(queries);
  const auto index =
      made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &made_by, out); });
  kith_search_options options = KITH_INIT(kith_search_options);
  options.groups = of_queries.data();
  options.groups_count = 3;
  std::vector<float> distance(6);
  std::vector<std::int64_t> row(6);
  CHECK(told(kith_index_search(index.get(), &asked, 3, &options, distance.data(), row.data())) == "ok");
  CHECK(row == std::vector<std::int64_t>{1, 0, -1, 2, 3, 4});
  CHECK(distance == std::vector<float>{0, 1, inf, 0, 0, 1});
  const std::vector<double> radii{0, 1};
  std::vector<std::int64_t> counts(4);
  CHECK(told(kith_index_count(index.get(), &asked, radii.data(), 1, 2, 0, &options, counts.data())) == "ok");
  CHECK(counts == std::vector<std::int64_t>{1, 2, 2, 3});
  options.rows_from_group = 1;
  CHECK(told(kith_index_search(index.get(), &asked, 3, &options, distance.data(), row.data())) == "ok");
  CHECK(row == std::vector<std::int64_t>{1, 0, -1, 0, 1, 2});
  options.groups_count = 2;
  CHECK(told(kith_index_search(index.get(), &asked, 3, &options, distance.data(), row.data())) ==
        "2: search: groups of queries end at 1; give borders that ascend from 0 to 2");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
