// Tests metrics by terms of columns, beside what all prepared metrics are tested for.
#include "common/data_files.hpp"
#include "common/device.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "prepared/prepared_oracle.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

/// Refuses rows [2, 2] 1 2 / 3 5 by a metric.
std::string refused_terms(Metric metric, IndexOptions options, std::vector<double> rows = {1, 2, 3, 5}) {
  return error_of([&] { Index(device(), MatrixView<const double>(rows.data(), 2, 2), metric, options); });
}

TEST_CASE("column terms: many rows of few columns, by boxes and without, counted and filtered") {
  std::mt19937 random(91);
  for (const MetricAsked& asked :
       {MetricAsked{Metric::matching},
        MetricAsked{.metric = Metric::gower, .categorical = {1}, .ranges = {9, 0, 4}},
        MetricAsked{.metric = Metric::gower, .ranges = {9, 0, 4}},
        MetricAsked{.metric = Metric::minkowski, .p = 3}, MetricAsked{.metric = Metric::minkowski, .p = 0.5},
        MetricAsked{.metric = Metric::canberra}}) {
    CAPTURE(std::string(name(asked.metric)));
    const DoubleMatrix train = rows_for(asked, 3000, 3, random), queries = rows_for(asked, 20, 3, random);
    const Index index(device(), train, asked.metric, asked.options(Arithmetic::f32));
    const Neighbors right = nearest_by_contract(asked, Arithmetic::f32, train, queries, 12);
    CHECK(index.search(queries, 12) == right);
    CHECK(index.search(queries, 12, {.boxes = false}) == right);
    if (asked.metric != Metric::canberra && device().info().boxes_max_k >= 12)
      CHECK(index.search(queries, 12, {.boxes = true}) == right);
    const auto radius = static_cast<double>(right.distance[5]);
    const DoubleMatrix three{3, 3, {queries.values.begin(), queries.values.begin() + 9}};
    const Neighbors all = nearest_by_contract(asked, Arithmetic::f32, train, three, 3000);
    std::vector<std::int64_t> counts;
    for (std::int64_t q = 0; q < 3; ++q) {
      const auto begin = all.distance.begin() + q * 3000;
      counts.push_back(std::upper_bound(begin, begin + 3000, radius) - begin);
    }
    CHECK(index.count(three, {.radius = {&radius, 1, 1}}) == counts);
    std::vector<std::uint32_t> words(94, 0xAAAAAAAA);
    const Neighbors odd = index.search(three, 3000, {.filter = {words.data(), 1, 94}});
    for (std::size_t i = 0; i < 1500; ++i) CHECK(odd.row[i] % 2 == 1);
    CHECK(odd.row[1500] == -1);
  }
}

TEST_CASE("column terms: minkowski by 1, 2 and infinity is l1, l2 and linf") {
  std::mt19937 random(92);
  const MetricAsked plain{Metric::l2};
  const DoubleMatrix train = rows_for(plain, 300, 4, random), queries = rows_for(plain, 9, 4, random);
  for (const auto& [p, metric] :
       {std::pair{1.0, Metric::l1}, std::pair{2.0, Metric::l2}, std::pair{HUGE_VAL, Metric::linf}}) {
    const Index index(device(), train, Metric::minkowski, {.p = p});
    CHECK(index.metric() == metric);
    CHECK(index.search(queries, 7) == Index(device(), train, metric).search(queries, 7));
    IndexOptions streamed{.residence = Residence::stream};
    streamed.p = p;
    const Index of_source(device(), memory_source(train), Metric::minkowski, streamed);
    CHECK(of_source.search(queries, 7) == Index(device(), train, metric).search(queries, 7));
  }
}

TEST_CASE("column terms: gower of numbers alone is in no periodic box") {
  std::mt19937 random(94);
  const MetricAsked asked{.metric = Metric::gower, .ranges = {9, 0, 4}};
  const DoubleMatrix train = rows_for(asked, 300, 3, random), queries = rows_for(asked, 9, 3, random);
  for (const Arithmetic width : {Arithmetic::f32, Arithmetic::f64}) {
    const Index index(device(), train, Metric::gower, asked.options(width));
    CHECK(explain(index.plan(queries.rows, 7)).find("periodic") == std::string::npos);
    CHECK(index.search(queries, 7) == nearest_by_contract(asked, width, train, queries, 7));
  }
}

TEST_CASE("column terms: gower learns ranges from the rows that it is made of, and keeps them") {
  std::mt19937 random(93);
  MetricAsked asked{.metric = Metric::gower, .categorical = {2}, .ranges = Values(4)};
  const DoubleMatrix train = rows_for(asked, 200, 4, random), queries = rows_for(asked, 9, 4, random);
  for (std::size_t d = 0; d < 4; ++d) {
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (std::int64_t r = 0; r < 200; ++r) {
      least = std::min(least, train.row(r)[d]);
      most = std::max(most, train.row(r)[d]);
    }
    asked.ranges[d] = most - least;
  }
  for (const Arithmetic width : {Arithmetic::f32, Arithmetic::f64}) {
    MetricAsked learned = asked;
    learned.ranges.clear();
    const Index index(device(), train, Metric::gower, learned.options(width));
    CHECK(index.search(queries, 8) == nearest_by_contract(asked, width, train, queries, 8));
    const data_files::Folder folder;
    save(index, folder / "a.kidx");
    const Index opened = open_index(folder / "a.kidx", device());
    CHECK(opened.with(queries).search(train, 3) == index.with(queries).search(train, 3));
  }
}

TEST_CASE("column terms: categories that are no floats keep apart in double precision") {
  const double large = 16777216;
  const DoubleMatrix rows{3, 1, {large, large + 1, large + 2}};
  const Index index(device(), rows, Metric::matching);
  const Neighbors found = index.search(rows, 1);
  CHECK(found.row == std::vector<std::int64_t>{0, 1, 2});
  CHECK(found.distance64 == std::vector<double>{0, 0, 0});
  const RadiusNeighbors equal = index.within(rows, std::vector<double>{0.5});
  CHECK(equal.row == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("column terms: what is refused") {
  const std::string begin = "invalid_argument: index: ";
  CHECK(refused_terms(Metric::minkowski, {}) == begin + "minkowski without p; give one, such as 3");
  for (const double p : {2.3, 8.5, -1.0, 0.25, std::nan("")})
    CHECK(refused_terms(Metric::minkowski, {.p = p})
              .ends_with("; choose 0.5, 1, 1.5 and so on up to 8, or infinity"));
  CHECK(refused_terms(Metric::l2, {.p = 3}) ==
        begin + "p is 3, which minkowski takes, but the metric is l2; leave it out, or choose minkowski");
  CHECK(refused_terms(Metric::matching, {.categorical = {0}}) ==
        begin +
            "there are categorical columns, which gower and nan_gower take, but the metric is matching, by "
            "which all columns are categorical; leave them out, or choose one of these");
  CHECK(refused_terms(Metric::gower, {.categorical = {0, 2}}) ==
        begin + "categorical names column 2, but rows have 2 columns; choose from 0 to 1");
  CHECK(refused_terms(Metric::gower, {.categorical = {1, 1}}) ==
        begin + "categorical names column 1 twice; name each once");
  CHECK(refused_terms(Metric::gower, {.ranges = {1}}) ==
        begin + "ranges has 1 value for rows of 2 columns; give one a column");
  CHECK(refused_terms(Metric::gower, {.ranges = {1, -1}}) ==
        begin + "ranges of column 1 is -1; give a finite number, 0 or more");
  CHECK(refused_terms(Metric::gower, {}, {1, 2, 3, std::nan("")})
            .starts_with(begin + "training row 1, column 1 holds NaN"));
  CHECK(refused_terms(Metric::matching, {.arithmetic = Arithmetic::f32}, {1, 2, 3, 0.1}) ==
        begin +
            "training row 1, column 1 holds 0.1, a category which no float equals; choose arithmetic f64, or "
            "number the categories");
  CHECK(refused_terms(Metric::canberra, {.arithmetic = Arithmetic::f32}, {1, 2, 3, 2e38})
            .starts_with(begin + "training row 1, column 1 holds 2e+38, beyond half of the largest number"));
  CHECK(refused_terms(Metric::canberra, {.box = {1, 1}}) ==
        begin + "there is a box, and rows are prepared for canberra already; leave one of them out");
  const std::vector<double> rows{1, 2, 3, 5};
  const MatrixView<const double> view(rows.data(), 2, 2);
  const Index index(device(), view, Metric::canberra, {.arithmetic = Arithmetic::f32});
  CHECK(error_of([&] { index.search(view, 1, {.boxes = true}); }) ==
        "unsupported: search: boxes bound no terms of pairs of values; drop the demand for boxes");
  const Index matched(device(), view, Metric::matching);
  CHECK(
      error_of([&] { finish(Metric::matching, matched.search_keys(view, 1)); }) ==
      "invalid_argument: finish: distances by matching with the parameter 0; give the number of columns that "
      "count");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
