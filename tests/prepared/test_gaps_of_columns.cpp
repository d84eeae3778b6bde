// Tests missing values in columns of numbers and of categories: docs/contract.md, section 1.
#include "common/data_files.hpp"
#include "common/device.hpp"
#include "common/parted/sets.hpp"
#include "kith/classifier.hpp"
#include "kith/index_file.hpp"
#include "kith/knn_graph.hpp"
#include "prepared/prepared_oracle.hpp"

namespace kith::tests {
namespace {

const double hole = std::nan("");

/// Returns what is refused of an Index of rows of two columns by nan_gower.
std::string refused_with_gaps(std::vector<double> rows, IndexOptions options = {}) {
  options.arithmetic = Arithmetic::f32;
  const auto n = static_cast<std::int64_t>(rows.size()) / 2;
  return error_of(
      [&] { Index(device(), MatrixView<const double>(rows.data(), n, 2), Metric::nan_gower, options); });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("gaps of columns: by hand, with a missing category, and a pair without a common column") {
  // A category, a number of range 4, and one whose values are all equal.
  const DoubleMatrix rows{6,
                          3,
                          {7, 10, 5,       //
                           7, hole, hole,  //
                           hole, 14, 5,    //
                           9, 11, hole,    //
                           hole, hole, 5,  //
                           hole, hole, hole}};
  const Index index(device(), rows, Metric::nan_gower, {.arithmetic = Arithmetic::f32, .categorical = {0}});
  const DoubleMatrix asked{3, 3, {9, 12, hole, 7, hole, hole, hole, hole, 77}};
  const Neighbors found = index.search(asked, 6);
  CHECK(found.row == std::vector<std::int64_t>{3, 2, 0, 1, -1, -1, 0, 1, 3, -1, -1, -1, 0, 2, 4, -1, -1, -1});
  CHECK(found.distance ==
        std::vector<float>{0.125f, 0.5f, 0.75f, 1, inf, inf, 0, 0, 1, inf, inf, inf, 0, 0, 0, inf, inf, inf});
  CHECK(index.shown() == ShownBy(Metric::nan_gower, 3));
  const std::vector<std::int64_t> labels{4, 4, 4, 8, 8, 8};
  const DoubleMatrix one{2, 3, {9, 12, hole, hole, hole, hole}};
  CHECK(Classifier(index, labels).predict(one, 1) == std::vector<std::int64_t>{8, default_no_label});
}

TEST_CASE("gaps of columns: rows without any have the keys and distances of gower") {
  std::mt19937 random(95);
  for (const std::vector<std::int64_t>& categorical : std::vector<std::vector<std::int64_t>>{{}, {4, 1}}) {
    const MetricAsked asked{.metric = Metric::gower, .categorical = categorical};
    const DoubleMatrix train = rows_for(asked, 400, 6, random), queries = rows_for(asked, 30, 6, random);
    const IndexOptions options = asked.options(Arithmetic::f32);
    const Index gower(device(), train, Metric::gower, options),
        gaps(device(), train, Metric::nan_gower, options);
    CHECK(gaps.search(queries, 400) == gower.search(queries, 400));
    CHECK(gaps.search_keys(queries, 400).value == gower.search_keys(queries, 400).value);
  }
}

TEST_CASE("gaps of columns: ranges are those of the values that are there, and 0 of none") {
  std::mt19937 random(96);
  MetricAsked asked{.metric = Metric::nan_gower, .categorical = {2}, .ranges = Values(5)};
  DoubleMatrix train = rows_for(asked, 200, 5, random);
  const DoubleMatrix queries = rows_for(asked, 9, 5, random);
  for (std::size_t i = 4; i < train.values.size(); i += 5) train.values[i] = hole;
  for (std::size_t d = 0; d < 4; ++d) {
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (std::int64_t r = 0; r < 200; ++r) {
      least = std::fmin(least, train.row(r)[d]);
      most = std::fmax(most, train.row(r)[d]);
    }
    asked.ranges[d] = most - least;
  }
  IndexOptions learned = asked.options(Arithmetic::f32);
  learned.ranges.clear();
  const Neighbors right = nearest_by_contract(asked, Arithmetic::f32, train, queries, 200);
  const Index index(device(), train, Metric::nan_gower, learned);
  CHECK(index.search(queries, 200) == right);
  CHECK(Index(set_of(2), train, Metric::nan_gower, learned).search(queries, 200) == right);
  const data_files::Folder folder;
  save(index, folder / "a.kidx");
  const Index opened = open_index(folder / "a.kidx", device());
  CHECK(opened.search(queries, 200) == right);
  CHECK(opened.with(queries).search(train, 3) == index.with(queries).search(train, 3));
}

TEST_CASE("gaps of columns: filters, lists in tiny tiles by every selector, and a graph") {
  std::mt19937 random(97);
  const MetricAsked asked{.metric = Metric::nan_gower, .categorical = {0, 3}, .ranges = {0, 5, 9, 0, 0, 2}};
  const DoubleMatrix train = rows_for(asked, 150, 6, random), queries = rows_for(asked, 17, 6, random);
  const Index index(device(), train, Metric::nan_gower, asked.options(Arithmetic::f32));
  const Neighbors right = nearest_by_contract(asked, Arithmetic::f32, train, queries, 150);
  for (const Selector selector : device().info().selectors) {
    CAPTURE(std::string(name(selector)));
    CHECK(index.search(queries, 150, {.selector = selector, .query_tile = 3, .train_tile = 67}) == right);
  }
  const std::vector<std::uint32_t> odd(5, 0xAAAAAAAAu);
  const Neighbors found = index.search(queries, 75, {.filter = {odd.data(), 1, 5}});
  Neighbors wanted{17, 75, {}, {}};
  for (std::size_t q = 0; q < 17; ++q) {
    for (std::size_t i = q * 150; i < (q + 1) * 150; ++i) {
      if (right.row[i] < 0 || right.row[i] % 2 == 0) continue;
      wanted.row.push_back(right.row[i]);
      wanted.distance.push_back(right.distance[i]);
    }
    wanted.row.resize((q + 1) * 75, -1);
    wanted.distance.resize((q + 1) * 75, inf);
  }
  CHECK(found == wanted);
  CHECK(knn_graph(device(), train, 4, Metric::nan_gower, {}, nullptr, asked.options(Arithmetic::f32)) ==
        index.search(train, 4, {.self = 0}));
}

TEST_CASE("gaps of columns: a device that takes differences for terms is found, and refused") {
  if (device().info().backend != "planted") return;
  const DoubleMatrix rows{2, 2, {1, hole, 3, 4}};
  const Index index(open_device("planted:18"), rows, Metric::nan_gower,
                    {.arithmetic = Arithmetic::f32, .categorical = {0}});
  const std::string why =
      "planted:18: distances by nan_manhattan by terms of columns were wrong in a test of 77 rows; update "
      "the device's driver";
  CHECK(error_of([&] { index.search(rows, 1); }) == "unsupported: search: " + why);
  CHECK(error_of([&] { index.within(rows, std::vector<double>{1}); }) == "unsupported: within: " + why);
}

TEST_CASE("gaps of columns: what is refused, with what to do") {
  const std::string begin = "invalid_argument: index: ";
  CHECK(
      refused_with_gaps({1, hole, 3, HUGE_VAL}) ==
      begin +
          "training row 1, column 1 holds an infinity; make every value finite, or NaN where it is missing");
  CHECK(refused_with_gaps({1, hole, 3, 0.1}, {.categorical = {1}}) ==
        begin +
            "training row 1, column 1 holds 0.1, a category which no float equals; number the categories");
  CHECK(refused_with_gaps({1, hole, 3, 1e300}, {.ranges = {1, 1}})
            .starts_with(begin + "training row 1, column 1 is 1e+300 when it is prepared for nan_gower"));
  CHECK(refused_with_gaps({1, hole, 3, 2}, {.ranges = {1, hole}}) ==
        begin + "ranges of column 1 is nan; give a finite number, 0 or more");
  const std::vector<double> rows{1, hole};
  CHECK(error_of([&] { Index(device(), MatrixView<const double>(rows.data(), 1, 2), Metric::nan_gower); }) ==
        begin +
            "rows of f64 in arithmetic f64, in which nan_gower is not computed; give f32, and leave the "
            "arithmetic out");
  const std::vector<std::int64_t> large{1, (std::int64_t{1} << 53) + 1};
  CHECK(error_of([&] {
          Index(device(), RowsView(large.data(), Element::i64, 1, 2), Metric::nan_gower,
                {.arithmetic = Arithmetic::f32});
        }).starts_with(begin + "training row 0, column 1 holds 9007199254740993, beyond 2^53"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
