// Tests what prepared metrics and weights of columns refuse: docs/contract.md, section 1.
#include "common/device.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

/// Refuses rows [2, 2] 1 2 / 3 5 by a metric.
std::string refused_prepared(Metric metric, IndexOptions options, std::vector<double> rows = {1, 2, 3, 5}) {
  return error_of([&] { Index(device(), MatrixView<const double>(rows.data(), 2, 2), metric, options); });
}

TEST_CASE("prepared metrics: what haversine refuses") {
  const std::string begin = "invalid_argument: index: ";
  CHECK(refused_prepared(Metric::haversine, {}, {0, 1, -1.6, 0}) ==
        begin +
            "training row 1, column 0 holds the latitude -1.6, beyond pi / 2, which is 90 degrees; give "
            "radians, the latitude first");
  CHECK(refused_prepared(Metric::haversine, {}, {0, 1, 1, 1e9}) ==
        begin +
            "training row 1, column 1 holds the longitude 1e+09, beyond 65536; give radians, the latitude "
            "first");
  CHECK(refused_prepared(Metric::haversine, {.degrees = true}, {0, 1, -90.5, 0}) ==
        begin +
            "training row 1, column 0 holds the latitude -90.5, beyond 90; give degrees, the latitude first");
  CHECK(
      refused_prepared(Metric::haversine, {.degrees = true}, {0, 1, 1, 1e9}) ==
      begin +
          "training row 1, column 1 holds the longitude 1e+09, beyond 3754936.21; give degrees, the latitude "
          "first");
  CHECK(refused_prepared(Metric::haversine, {.features = {0}}) ==
        begin + "haversine takes its 2 columns, but features are chosen; leave them out");
  CHECK(refused_prepared(Metric::haversine, {.arithmetic = Arithmetic::f32})
            .starts_with(begin + "haversine in arithmetic f32"));
  const std::vector<double> three{0, 0, 0};
  CHECK(error_of([&] { Index(device(), MatrixView<const double>(three.data(), 1, 3), Metric::haversine); }) ==
        begin +
            "haversine is for rows of 2 columns, latitude and longitude, but these have 3 columns; give "
            "these two");
}

TEST_CASE("prepared metrics: parameters that are refused") {
  const std::string begin = "invalid_argument: index: ";
  const double row[] = {1, 2};
  CHECK(error_of([&] { Index(device(), MatrixView<const double>(row, 1, 2), Metric::seuclidean); }) ==
        begin + "seuclidean without variances, and 1 row has none; give one a column, or more rows");
  CHECK(refused_prepared(Metric::seuclidean, {}, {1, 2, 3, 2})
            .starts_with(begin + "variances of column 1 is 0; give a finite number above 0"));
  CHECK(refused_prepared(Metric::l2, {.degrees = true}) ==
        begin +
            "degrees are asked for, which haversine takes, but the metric is l2; leave them out, or choose "
            "haversine");
  CHECK(refused_prepared(Metric::mahalanobis, {}) ==
        begin +
            "mahalanobis with neither a covariance nor its inverse; give one of covariance and "
            "inverse_covariance");
  CHECK(
      refused_prepared(Metric::cosine, {.column_weights = {1, 2}}) ==
      begin +
          "there are column_weights, but cosine is none of l1, l2, squared_l2 and minkowski; leave them out, "
          "or choose one of these");
  CHECK(refused_prepared(Metric::l2, {.variances = {1, 2}}) ==
        begin +
            "there are variances, which seuclidean takes, but the metric is l2; leave them out, or "
            "choose seuclidean");
  CHECK(refused_prepared(Metric::l2, {.covariance = {1, 0, 0, 1}}) ==
        begin +
            "there is a covariance, which mahalanobis takes, but the metric is l2; leave it out, or "
            "choose mahalanobis");
  CHECK(refused_prepared(Metric::l2, {.column_weights = {1, 2, 3}}) ==
        begin + "column_weights has 3 values for rows of 2 columns; give one a column");
  CHECK(refused_prepared(Metric::mahalanobis, {.covariance = {1, 2}}) ==
        begin +
            "covariance has 2 values for rows of 2 columns; give one for each pair of columns, row by row");
  CHECK(refused_prepared(Metric::l1, {.column_weights = {1, -2}}) ==
        begin + "column_weights of column 1 is -2; give a finite number, 0 or more");
  CHECK(refused_prepared(Metric::seuclidean, {.variances = {0, 1}}) ==
        begin +
            "variances of column 0 is 0; give a finite number above 0, or leave the column out (features)");
  CHECK(refused_prepared(Metric::mahalanobis, {.covariance = {1, 0.5, 0.25, 1}}) ==
        begin +
            "covariance[0, 1] is 0.5 and [1, 0] is 0.25, but the matrix must be symmetric; give (M + M.T) "
            "/ 2 if it is meant");
  CHECK(refused_prepared(Metric::mahalanobis, {.covariance = {1, 2, 2, 1}}) ==
        begin +
            "covariance is not positive definite: its rows and columns up to column 1 are not; leave out "
            "columns that follow from others, or add to the diagonal");
  CHECK(refused_prepared(Metric::mahalanobis, {.inverse_covariance = {1, 0, 0, HUGE_VAL}}) ==
        begin + "inverse_covariance[1, 1] is inf; give finite numbers");
  CHECK(refused_prepared(Metric::hellinger, {.box = {1, 1}}) ==
        begin + "there is a box, and rows are prepared for hellinger already; leave one of them out");
  CHECK(refused_prepared(Metric::l2, {.learn_centre = true, .column_weights = {1, 2}}) ==
        begin + "there is a centre, and rows are weighted already; leave one of them out");
}

TEST_CASE("prepared metrics: rows and calls that are refused") {
  const std::string begin = "invalid_argument: index: training row 1";
  CHECK(refused_prepared(Metric::correlation, {}, {1, 2, 3, 3}) ==
        begin +
            " holds 3 in each column that counts, so that it correlates with no row; leave it out for "
            "correlation");
  CHECK(refused_prepared(Metric::spearman, {.first_row = 10}, {1, 2, 3, 3})
            .starts_with("invalid_argument: index: training row 11 holds 3 in each column"));
  CHECK(refused_prepared(Metric::hellinger, {}, {1, 2, 3, -0.5}) ==
        begin + ", column 1 holds -0.5, below 0; give 0 or more for hellinger, or leave the row out");
  CHECK(refused_prepared(Metric::hellinger, {}, {1, 2, std::nan(""), 1})
            .starts_with(begin + ", column 0 holds NaN"));
  CHECK(refused_prepared(Metric::l2, {.column_weights = {1, 1e300}}, {1, 2, 3, 1e300})
            .starts_with(begin + ", column 1 is inf when it is prepared for l2, beyond 1.79769313e+308"));
  for (const Arithmetic width : {Arithmetic::f32, Arithmetic::f64})  // 1e-60 is 0 as a float
    CHECK(refused_prepared(Metric::angular, {.arithmetic = width},
                           {1, 2, 0, width == Arithmetic::f32 ? 1e-60 : 0}) ==
          begin +
              " is all zeros in the columns that count, which has no direction; leave it out for angular");
  const std::vector<double> rows{1, 2, 3, 5};
  const MatrixView<const double> view(rows.data(), 2, 2);
  const Index index(device(), view, Metric::correlation);
  const double constant[] = {7, 7}, three[] = {1, 2, 3};
  CHECK(error_of([&] {
          index.search(MatrixView<const double>(constant, 1, 2), 1);
        }).starts_with("invalid_argument: search: query row 0 holds 7 in each column"));
  CHECK(error_of([&] {
          index.with(MatrixView<const double>(constant, 1, 2));
        }).starts_with("invalid_argument: index: added row 0 holds 7 in each column"));
  CHECK(error_of([&] { index.search(MatrixView<const double>(three, 1, 3), 1); }) ==
        "invalid_argument: search: the query rows have 3 columns but the index has 2; give as many");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
