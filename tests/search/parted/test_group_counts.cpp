// Tests groups within radii, their counts and pairs: they are those of an Index of each group.
// docs/contract.md, section 2.
#include <random>

#include "common/device.hpp"
#include "common/parted/groups.hpp"
#include "common/parted/sets.hpp"
#include "common/searches.hpp"
#include "search/radius/counted.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("groups: within a radius, and in double precision") {
  std::mt19937 random(8);
  const Borders of_rows = random_borders(6, 40, 60, random);
  const Matrix rows = hard_rows(DataKind::grid, Set::train, of_rows.back(), 3, Metric::l2);
  IndexOptions grouped;
  grouped.groups = of_rows;
  const std::vector<float> radius{2.5f};
  const RadiusNeighbors found = Index(device(), rows, Metric::l2, grouped).within(rows, radius);
  grouped.arithmetic = Arithmetic::f64;
  const Neighbors doubles = Index(device(), rows, Metric::l2, grouped).search(rows, 3);
  IndexOptions alone;
  alone.arithmetic = Arithmetic::f64;
  for (std::size_t g = 0; g + 1 < of_rows.size(); ++g) {
    const Matrix group = rows_between(rows, of_rows[g], of_rows[g + 1]);
    if (group.rows == 0) continue;
    const RadiusNeighbors expected = Index(device(), group, Metric::l2).within(group, radius);
    const std::int64_t k = std::min<std::int64_t>(3, group.rows);
    const Neighbors exact = Index(device(), group, Metric::l2, alone).search(group, k);
    for (std::int64_t q = 0; q < group.rows; ++q) {
      const std::int64_t all = of_rows[g] + q;
      REQUIRE(found.count(all) == expected.count(q));
      for (std::int64_t j = 0; j < found.count(all); ++j)
        CHECK(found.row[size(found.first[size(all)] + j)] ==
              expected.row[size(expected.first[size(q)] + j)] + of_rows[g]);
      for (std::int64_t j = 0; j < 3; ++j) {
        CHECK(doubles.row[size(all * 3 + j)] == (j < k ? exact.row[size(q * k + j)] + of_rows[g] : -1));
        CHECK(doubles.distance64[size(all * 3 + j)] ==
              (j < k ? exact.distance64[size(q * k + j)] : std::numeric_limits<double>::infinity()));
      }
    }
  }
}

/// Checks counts and pairs of an Index with groups beside those of an Index of each group.
void check_counts_and_pairs(const Matrix& rows, const Borders& of_rows, Arithmetic arithmetic, bool split) {
  IndexOptions grouped, alone;
  grouped.groups = of_rows;
  grouped.arithmetic = alone.arithmetic = arithmetic;
  const Device on = split ? set_of(2) : device();
  const Index index(on, rows, Metric::l2, grouped);
  std::vector<double> radii;
  for (std::int64_t q = 0; q < rows.rows; ++q)
    for (const double radius : {0.0, 1.0 + static_cast<double>(q % 3), 4.0}) radii.push_back(radius);
  const CountRadii each{{radii.data(), rows.rows, 3}}, same{{radii.data(), 1, 3}, true};
  const RowFilter filter = filter_of(of_query_0(some(2)), rows.rows, 1);
  SearchOptions own, filtered;
  own.self = 0;
  filtered.filter = filter;
  std::vector<std::int64_t> counts, sums(3), first, second, few_first;
  std::vector<double> far;
  for (std::size_t g = 0; g + 1 < of_rows.size(); ++g) {
    const Matrix group = rows_between(rows, of_rows[g], of_rows[g + 1]);
    if (group.rows == 0) continue;
    const Index one(device(), group, Metric::l2, alone);
    const std::vector<std::int64_t> of_group =
        one.count(group, {{radii.data() + of_rows[g] * 3, group.rows, 3}}, own);
    counts.insert(counts.end(), of_group.begin(), of_group.end());
    const std::vector<std::int64_t> total = one.two_point(group, same);
    for (std::size_t r = 0; r < 3; ++r) sums[r] += total[r];
    const Pairs pairs = all_pairs(one.pairs(2));
    for (std::size_t i = 0; i < pairs.first.size(); ++i) {
      first.push_back(pairs.first[i] + of_rows[g]);
      second.push_back(pairs.second[i] + of_rows[g]);
      far.push_back(arithmetic == Arithmetic::f64 ? pairs.distance64[i]
                                                  : static_cast<double>(pairs.distance[i]));
      if (some(2)(0, first.back()) && some(2)(0, second.back())) few_first.push_back(first.back());
    }
  }
  CHECK(index.count(rows, each, own) == counts);
  CHECK(index.two_point(rows, same) == sums);
  const Pairs found = all_pairs(index.pairs(2));
  CHECK(found.first == first);
  CHECK(found.second == second);
  CHECK((arithmetic == Arithmetic::f64
             ? found.distance64
             : std::vector<double>(found.distance.begin(), found.distance.end())) == far);
  CHECK(all_pairs(index.pairs(2, filtered)).first == few_first);
}

TEST_CASE("groups: counts and pairs are those of an Index of each group") {
  std::mt19937 random(11);
  const Borders of_rows = random_borders(7, 30, 60, random);
  const Matrix rows = hard_rows(DataKind::grid, Set::train, of_rows.back(), 3, Metric::l2);
  for (const bool split : {false, true})
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
      check_counts_and_pairs(rows, of_rows, arithmetic, split);
}

TEST_CASE("groups: counts of queries whose groups have no rows, and what pairs refuse") {
  IndexOptions grouped;
  grouped.groups = {0, 2, 2, 5};
  const Index index(device(), matrix(1, {0, 1, 4, 5, 9}), Metric::l1, grouped);
  const Matrix queries = matrix(1, {0, 0, 5, 4});
  const std::vector<double> one{1};
  SearchOptions options;
  options.groups = {0, 1, 3, 4};
  Trace trace;
  CHECK(index.count(queries, {one}, options, &trace) == std::vector<std::int64_t>{2, 0, 0, 2});
  CHECK(index.two_point(queries, {one}, options) == std::vector<std::int64_t>{4});
  options.groups = {0, 1, 4};
  CHECK(error_of([&] { index.count(queries, {one}, options); }).starts_with("invalid_argument: count: "));
  CHECK(error_of([&] {
          index.two_point(queries, {one}, options);
        }).starts_with("invalid_argument: two_point: "));
  CHECK(error_of([&] { index.pairs(1, options); }) ==
        "invalid_argument: pairs: rows are paired within their groups, and have their numbers in the whole; "
        "leave groups and rows_from_group out");
}

TEST_CASE("groups: the nearest within a radius, by both arithmetics") {
  const Matrix rows = matrix(1, {0, 1, 5, 5, 6});
  SearchOptions options;
  options.radius = 0.5;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    IndexOptions grouped;
    grouped.groups = {0, 2, 5};
    grouped.arithmetic = arithmetic;
    const Neighbors found = Index(device(), rows, Metric::l1, grouped).search(rows, 2, options);
    CHECK(found.row == std::vector<std::int64_t>{0, -1, 1, -1, 2, 3, 2, 3, 4, -1});
  }
}

TEST_CASE("groups: the memory of an index counts the groups that became indices of their own") {
  const Matrix rows = hard_rows(DataKind::grid, Set::train, 300, 4, Metric::l2);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    IndexOptions grouped;
    grouped.groups = {0, 100, 300};
    grouped.arithmetic = arithmetic;
    const Index index(device(), rows, Metric::l2, grouped);
    const std::size_t before = index.memory_bytes();
    const std::vector<float> radius{1};
    index.within(rows, radius);
    CHECK(index.memory_bytes() >= before + 300 * 4 * sizeof(float));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
