// Tests searches in which only some columns count: docs/contract.md, section 1.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

std::string refusal(const Matrix& train, const std::vector<std::int64_t>& features,
                    Metric metric = Metric::l1) {
  return error_of([&] { Index(device(), train, metric, {features}); });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("features: by hand") {
  const Matrix train = matrix(3, {0, 9, 1, /**/ 5, 0, 0, /**/ 1, 1, 1});
  const Index index(device(), train, Metric::l1, {{2, 0}});
  CHECK(index.dims() == 3);
  CHECK(index.features() == std::vector<std::int64_t>{0, 2});
  CHECK(index.search(matrix(3, {0, -50, 0}), 3) == Neighbors{1, 3, {1, 2, 5}, {0, 2, 1}});
  CHECK(index.plan(1, 1).problem.dims == 2);
  CHECK(Index(device(), train).features() == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("features: the bits of a search of these columns, in any order of the mask, on hard data") {
  const std::int64_t m = 9, n = 120, dims = 8, k = 7;
  for (const DataKind kind : {DataKind::normal, DataKind::grid, DataKind::clusters})
    for (const Metric metric : number_metrics) {
      if (!workloads::admits(metric, kind)) continue;
      if (metric == Metric::cosine && kind == DataKind::grid) continue;  // a part of a row may be all zeros
      CAPTURE_ALL(workloads::name(kind), name(metric));
      const Matrix queries = hard_rows(kind, Set::queries, m, dims, metric);
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric);
      const Spread apart(train, 2), queries_apart(queries, 3);
      const std::vector<std::int64_t> ascending = {1, 2, 5, 7};
      const Neighbors expected =
          neighbors(metric, columns_of(queries, ascending), columns_of(train, ascending), k);
      for (const std::vector<std::int64_t>& mask : {ascending, {7, 2, 1, 5}, {5, 7, 1, 2}}) {
        const Index index(device(), apart.view(), metric, {mask});
        CHECK(index.features() == ascending);
        CHECK(difference(index.search(queries_apart.view(), k), expected) == "");
      }
      const Neighbors of_all = neighbors(metric, queries, train, k);
      for (const std::vector<std::int64_t>& mask : {std::vector<std::int64_t>{}, {7, 6, 5, 4, 3, 2, 1, 0}})
        CHECK(difference(Index(device(), train, metric, {mask}).search(queries, k), of_all) == "");
    }
}

TEST_CASE("features: what does not count is not looked at") {
  const float nan = std::nanf("");
  const Index index(device(), matrix(3, {nan, 1, 2, /**/ inf, 3, 4}), Metric::l1, {{1, 2}});
  CHECK(index.search(matrix(3, {nan, 3, 3}), 2) == Neighbors{1, 2, {1, 3}, {1, 0}});
  const Index large(device(), matrix(2, {1e30f, 1}), Metric::negative_dot, {{1}});
  CHECK(large.search(matrix(2, {1e30f, 1}), 1) == Neighbors{1, 1, {-1}, {0}});
}

TEST_CASE("features: messages name columns as they were given") {
  const float nan = std::nanf("");
  CHECK(refusal(matrix(3, {1, 2, 3, /**/ 1, 2, nan}), {2, 0}) ==
        "invalid_argument: index: training row 1, column 2 holds NaN; make every value finite, or leave the "
        "row out");
  CHECK(refusal(matrix(3, {1, 2, 3, /**/ 0, 2, 0}), {0, 2}, Metric::cosine) ==
        "invalid_argument: index: training row 1 is all zeros in the columns that count, which has no "
        "direction; leave it out for cosine");
  const Index index(device(), matrix(3, {1, 2, 3}), Metric::l1, {{2}});
  CHECK(error_of([&] {
          index.search(matrix(3, {1, 2, inf}), 1);
        }) ==
        "invalid_argument: search: query row 0, column 2 holds an infinity; make every value finite, or "
        "leave the row out");
  CHECK(error_of([&] { index.search(matrix(1, {1}), 1); }) ==
        "invalid_argument: search: queries have 1 columns but the index has 3; give as many");
}

TEST_CASE("features: refuses a column that is not there, or twice") {
  const Matrix train = matrix(3, {1, 2, 3});
  CHECK(refusal(train, {0, 3}) ==
        "invalid_argument: index: there is no feature 3, since rows have 3 columns; choose from 0 to 2");
  CHECK(refusal(train, {1, -1}) ==
        "invalid_argument: index: there is no feature -1, since rows have 3 columns; choose from 0 to 2");
  CHECK(refusal(train, {2, 0, 2}) == "invalid_argument: index: feature 2 is named twice; name each once");
  CHECK(refusal(matrix(1, {1}), {1}) ==
        "invalid_argument: index: there is no feature 1, since rows have 1 column; choose from 0 to 0");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
