// Tests rows with missing values: docs/contract.md, section 1.
#include <array>
#include <cmath>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/regressor.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

const float gone = std::nanf("");

/// Returns rows whose sums are zero, subnormal, rounded and infinite, with from no to only missing values.
Matrix telling_gaps(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  constexpr std::array<float, 5> scales{0x1p-24f, 0x1p-76f, 0x1p-98f, 0x1p40f, 1};
  workloads::Random random(seed);
  Matrix some{rows, cols, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < cols; ++d) {
      const auto unit = static_cast<float>(random.below(1 << 24));
      some.values.push_back(random.below(10) < r % 11 ? gone : unit * scales[size(r) % scales.size()]);
    }
  return some;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("gaps: by hand, and a pair without a common column is no neighbour") {
  const Matrix rows =
      matrix(3, {1, 2, gone, 4, gone, 6, gone, gone, gone, gone, 5, 1, 1, 2, 3, 3e38f, -3e38f, gone});
  const Matrix asked = matrix(3, {1, gone, gone, gone, 5, 7, gone, gone, gone, 1, 2, 4});
  const Index index(device(), rows, Metric::nan_euclidean);
  const Neighbors found = index.search(asked, 6);
  const std::vector<std::int64_t> right{0,  4,  1,  5,  -1, -1, 1, 0, 4, 3, 5, -1,
                                        -1, -1, -1, -1, -1, -1, 0, 4, 1, 3, 5, -1};
  CHECK(found.row == right);
  CHECK(found.distance[2] == std::sqrt(27.0f));  // one of three columns, 3 apart
  CHECK(found.distance[6] == std::sqrt(3.0f));
  CHECK(found.distance[9] == std::sqrt(54.0f));
  CHECK(found.distance[3] == inf);
  CHECK(found.distance[4] == inf);
  CHECK(difference(found, neighbors(Metric::nan_euclidean, asked, rows, 6)) == "");
}

TEST_CASE("gaps: rows without any are at the distances that l2 and l1 give") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 150, 7, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, 20, 7, Metric::l2);
  CHECK(difference(Index(device(), train, Metric::nan_euclidean).search(queries, 150),
                   Index(device(), train, Metric::l2).search(queries, 150)) == "");
  CHECK(difference(Index(device(), train, Metric::nan_manhattan).search(queries, 150),
                   Index(device(), train, Metric::l1).search(queries, 150)) == "");
}

TEST_CASE("gaps: differences that are not squared, by hand") {
  const Matrix rows = matrix(3, {1, 2, gone, 4, gone, 6, gone, gone, gone, 3e38f, -3e38f, gone});
  const Neighbors found =
      Index(device(), rows, Metric::nan_manhattan).search(matrix(3, {1, gone, 5, 0, 3e38f, 2}), 4);
  CHECK(found.row == std::vector<std::int64_t>{0, 1, 3, -1, 1, 0, 3, -1});
  CHECK(found.distance == std::vector<float>{0, 6, inf, inf, 12, inf, inf, inf});
}

/// Compares raw distances and answers of every selector, in tiny tiles.
void check_gaps(Metric metric, const Matrix& train, const Matrix& queries) {
  const std::vector<float> right = chains(metric, queries, train),
                           found = stages::distance(device(), queries, train, metric);
  REQUIRE(found.size() == right.size());
  CHECK(std::memcmp(found.data(), right.data(), found.size() * sizeof(float)) == 0);
  const Index index(device(), train, metric);
  for (const std::int64_t k : {9, 150}) {
    const Neighbors expected = neighbors(metric, queries, train, k);
    CHECK(difference(index.search(queries, k), expected) == "");
    for (const Selector selector : device().info().selectors) {
      CAPTURE_ALL(std::string(name(selector)), k);
      const SearchOptions options{
          .selector = selector, .lists = k == 9 ? 2 : 0, .query_tile = 3, .train_tile = k == 9 ? 13 : 67};
      CHECK(difference(index.search(queries, k, options), expected) == "");
    }
  }
}

TEST_CASE("gaps: sums are zero, subnormal, rounded and infinite, by every selector in tiny tiles") {
  for (const Metric metric : {Metric::nan_euclidean, Metric::nan_manhattan})
    for (const std::int64_t cols : {1, 2, 7, 40, 200}) {
      CAPTURE_ALL(std::string(name(metric)), cols);
      check_gaps(metric, telling_gaps(150, cols, 3), telling_gaps(37, cols, 4));
    }
}

TEST_CASE("gaps: of halves, and of chosen columns") {
  Matrix train = hard_rows(DataKind::grid, Set::train, 90, 6, Metric::l1),
         queries = hard_rows(DataKind::grid, Set::queries, 11, 6, Metric::l1);
  for (std::size_t i = 0; i < train.values.size(); i += 5) train.values[i] = gone;
  for (std::size_t i = 0; i < queries.values.size(); i += 4) queries.values[i] = gone;
  const Neighbors right = neighbors(Metric::nan_euclidean, queries, train, 20);
  for (const Element element : {Element::f16, Element::bf16}) {
    const Stored stored(train, element);
    CHECK(difference(Index(device(), stored.view(), Metric::nan_euclidean).search(queries, 20), right) == "");
  }
  const std::vector<std::int64_t> columns{1, 4};
  IndexOptions options;
  options.features = {4, 1};
  CHECK(difference(Index(device(), train, Metric::nan_euclidean, options).search(queries, 20),
                   neighbors(Metric::nan_euclidean, columns_of(queries, columns), columns_of(train, columns),
                             20)) == "");
}

TEST_CASE("gaps: a query without neighbours gets no vote and no mean") {
  const Matrix rows = matrix(2, {1, gone, 2, gone, 5, gone}), asked = matrix(2, {gone, 3, 1.5f, 3});
  const Index index(device(), rows, Metric::nan_euclidean);
  const std::vector<std::int64_t> labels{4, 4, 9};
  const std::vector<std::int64_t> found =
      Classifier(index, labels).predict(asked, 2, {.tie = TieRule::abstain});
  CHECK(found == std::vector<std::int64_t>{default_no_label, 4});
  const std::vector<double> values{1, 2, 3};
  const std::vector<double> means = Regressor(index, values).predict(asked, 2);
  CHECK(std::isnan(means[0]));
  CHECK(means[1] == 1.5);
}

TEST_CASE("gaps: what is refused, with what to do") {
  const Matrix rows = matrix(2, {1, gone, 2, inf}), holes = matrix(2, {1, gone, 2, 3});
  const Index index(device(), holes, Metric::nan_euclidean);
  CHECK(
      error_of([&] { Index(device(), rows, Metric::nan_euclidean); }) ==
      "invalid_argument: index: training row 1, column 1 holds an infinity; make every value finite, or NaN "
      "where it is missing");
  CHECK(error_of([&] {
          index.search(rows, 1);
        }).starts_with("invalid_argument: search: query row 1, column 1 holds an infinity"));
  CHECK(error_of([&] {
          Index(device(), holes, Metric::l2);
        }).starts_with("invalid_argument: index: training row 0, column 1 holds NaN"));
  CHECK(
      error_of([&] { Index(device(), holes, Metric::nan_euclidean, {.arithmetic = Arithmetic::f64}); }) ==
      "invalid_argument: index: rows of f32 in arithmetic f64, in which nan_euclidean is not computed; give "
      "f32, and leave the arithmetic out");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
