// Tests prepared metrics from C against the C++ calls.
#include "c_api/c_support.hpp"
#include "common/data.hpp"
#include "kith/index.hpp"
#include "kith/parse.hpp"

namespace kith::tests {
namespace {

using namespace c;

Neighbors three_nearest(const kith_index* index, const Matrix& queries) {
  Neighbors lists{queries.rows, 3, std::vector<float>(size(queries.rows * 3)),
                  std::vector<std::int64_t>(size(queries.rows * 3))};
  const kith_rows rows = rows_of(queries);
  REQUIRE(told(kith_index_search(index, &rows, 3, nullptr, lists.distance.data(), lists.row.data())) == "ok");
  return lists;
}

/// Returns the places nearest to the first of three, which are in degrees.
std::vector<std::int64_t> three_nearest_places(const kith_device* on, kith_index_options options) {
  const Matrix places = matrix(2, {52.5F, 13.25F, 48.75F, 2.25F, -33.75F, 151.25F});
  const kith_rows rows = rows_of(places);
  options.metric = "haversine";
  const Rows index = made<Rows>([&](kith_index** out) { return kith_index_new(on, &rows, &options, out); });
  const kith_rows first{rows};
  std::vector<double> distance(9);
  std::vector<std::int64_t> row(9);
  REQUIRE(told(kith_index_search_f64(index.get(), &first, 3, nullptr, distance.data(), row.data())) == "ok");
  const double wide[] = {52.5, 13.25, 48.75, 2.25, -33.75, 151.25};
  const Index right(device(), MatrixView<const double>(wide, 3, 2), Metric::haversine, {.degrees = true});
  CHECK(distance == right.search(MatrixView<const double>(wide, 3, 2), 3).distance64);
  row.resize(3);
  return row;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: prepared metrics, their parameters, and what an index says of them") {
  const OpenDevice on = opened();
  const Matrix train = matrix(2, {1, 2, 3, 5, 8, 1, 2, 2.5F, 7, 3}), queries = matrix(2, {1, 3, 4, 2});
  const std::vector<double> two{0.5, 2}, four{2, 0.5, 0.5, 1};
  const kith_rows rows = rows_of(train);
  const auto check = [&](const char* metric, const kith_index_options& asked, const IndexOptions& options) {
    CAPTURE(metric);
    kith_index_options own = asked;
    own.metric = metric;
    const Rows index =
        made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &own, out); });
    const Index right(device(), train, parse<Metric>(metric), options);
    CHECK(three_nearest(index.get(), queries) == right.search(queries, 3));
    kith_index_info info = KITH_INIT(kith_index_info);
    REQUIRE(told(kith_index_describe(index.get(), &info)) == "ok");
    CHECK(std::string(info.metric) == metric);
    CHECK(info.prepared == 1);
    CHECK(info.parameter == right.shown().parameter);
  };
  const kith_index_options none = KITH_INIT(kith_index_options);
  check("correlation", none, {});
  check("spearman", none, {});
  check("hellinger", none, {});
  kith_index_options asked = none;
  asked.column_weights = two.data();
  asked.column_weights_count = 2;
  check("l1", asked, {.column_weights = two});
  asked = none;
  asked.variances = two.data();
  asked.variances_count = 2;
  check("seuclidean", asked, {.variances = two});
  asked = none;
  asked.covariance = four.data();
  asked.covariance_count = 4;
  check("mahalanobis", asked, {.covariance = four});
  asked = none;
  asked.inverse_covariance = four.data();
  asked.inverse_covariance_count = 4;
  check("mahalanobis", asked, {.inverse_covariance = four});
  check("matching", none, {});
  check("canberra", none, {});
  asked = none;
  asked.p = 2.5;
  check("minkowski", asked, {.p = 2.5});
  const std::vector<std::int64_t> categorical{1};
  asked = none;
  asked.categorical = categorical.data();
  asked.categorical_count = 1;
  check("gower", asked, {.categorical = categorical});
  asked.ranges = two.data();
  asked.ranges_count = 2;
  check("gower", asked, {.categorical = categorical, .ranges = two});
  check("nan_gower", asked, {.categorical = categorical, .ranges = two});
  check("seuclidean", none, {});  // the variances of the rows
  asked = none;
  asked.degrees = 1;
  const kith_index_options places = asked;
  CHECK(three_nearest_places(on.get(), places) == std::vector<std::int64_t>{0, 1, 2});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
