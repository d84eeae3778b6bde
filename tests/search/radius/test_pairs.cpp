// Tests all pairs of training rows within a radius: docs/contract.md, section 2.
#include <cmath>

#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "common/searches.hpp"
#include "search/radius/counted.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("pairs: by hand: each once, by row, then distance, then the other row") {
  const Index index(device(), matrix(1, {3, 1, 2, 0, 8, 1}), Metric::l1);
  const Pairs expected{{0, 0, 0, 1, 1, 1, 2, 2, 3}, {2, 1, 5, 5, 2, 3, 5, 3, 5}, {1, 2, 2, 0, 1, 1, 1, 2, 1}};
  CHECK(all_pairs(index.pairs(2)) == expected);
  CHECK(all_pairs(index.pairs(0)) == Pairs{{1}, {5}, {0}});
  CHECK(all_pairs(index.pairs(-1)) == Pairs{});
  Pairs block;
  PairSearch search = index.pairs(0);
  CHECK(search.next(block));
  CHECK_FALSE(search.next(block));
  CHECK(block == Pairs{});
  CHECK_FALSE(search.next(block));
}

TEST_CASE("pairs: those of within() for all rows, by every metric, on hard data") {
  const std::int64_t n = 120, dims = 4;
  for_each_hard_search(3, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    const float radius = neighbors(metric, queries, train, n).distance[40];
    const RadiusNeighbors found = within(metric, train, train, {radius});
    CHECK(all_pairs(index.pairs(static_cast<double>(radius))) == pairs_of(found));
  });
}

TEST_CASE("pairs: among rows that count and are not removed, by their numbers") {
  const std::int64_t n = 300;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  std::vector<std::int64_t> ids, removed{5, 40, 2 * n};
  for (std::int64_t t = 0; t < n; ++t) ids.push_back(5 * t);
  const Index index = Index(device(), train, Metric::l2, {.ids = ids}).without(removed);
  const Counts chosen = of_query_0(some(2));
  const RowFilter filter = filter_of(chosen, n, 1);
  SearchOptions options{};
  options.filter = filter;
  const auto counts = [&](std::int64_t t) { return chosen(0, t) && t != 1 && t != 8 && t != 2 * n / 5; };
  const Pairs all = pairs_of(within(Metric::l2, train, train, {2}));
  Pairs expected;
  for (std::size_t p = 0; p < all.first.size(); ++p) {
    if (!counts(all.first[p]) || !counts(all.second[p])) continue;
    expected.first.push_back(5 * all.first[p]);
    expected.second.push_back(5 * all.second[p]);
    expected.distance.push_back(all.distance[p]);
  }
  CHECK(!expected.first.empty());
  CHECK(all_pairs(index.pairs(2, options)) == expected);
}

TEST_CASE("pairs: blocks hold about as many as they may, and go on in order") {
  const std::int64_t n = 3000;  // 4,498,500 pairs
  Matrix train{n, 1, {}};
  for (std::int64_t t = 0; t < n; ++t) train.values.push_back(static_cast<float>(t % 7));
  PairSearch search = Index(device(), train, Metric::l1).pairs(10);
  Pairs block;
  std::int64_t count = 0, last = 0, blocks = 0;
  for (; search.next(block); ++blocks) {
    CHECK(static_cast<std::int64_t>(block.first.size()) <= PairSearch::most_pairs);
    CHECK(std::is_sorted(block.first.begin(), block.first.end()));
    CHECK(block.first.front() >= last);
    last = block.first.back();
    count += static_cast<std::int64_t>(block.first.size());
  }
  CHECK(count == n * (n - 1) / 2);
  CHECK(blocks > 4);
}

TEST_CASE("pairs: sets of devices, rows that stay in a source, features, and double precision") {
  const std::int64_t n = 200;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  const Pairs expected = pairs_of(within(Metric::l2, train, train, {2}));
  CHECK(all_pairs(Index(set_of(2), train).pairs(2)) == expected);
  CHECK(all_pairs(Index(one_device(), memory_source(train), Metric::l2, streamed(64)).pairs(2)) == expected);
  const Matrix chosen = columns_of(train, {0, 2});
  CHECK(all_pairs(Index(device(), train, Metric::l1, {.features = {2, 0}}).pairs(1)) ==
        pairs_of(within(Metric::l1, chosen, chosen, {1})));
  const std::vector<double> values(train.values.begin(), train.values.end());
  for (const Metric metric : {Metric::l2, Metric::cosine}) {
    Matrix moved = train;
    std::vector<double> doubles = values;
    for (std::size_t i = 0; i < doubles.size(); ++i) doubles[i] += 1000.1;
    const RowsView rows(doubles.data(), Element::f64, n, 3);
    const Index index(device(), rows, metric);
    const double radius = index.search(rows, 9).distance64[8];
    const std::vector<double> radii{radius};
    const RadiusNeighbors found = index.within(rows, radii);
    Pairs in_double;
    in_double.arithmetic = Arithmetic::f64;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::size_t at = size(found.first[size(i)]); at < size(found.first[size(i) + 1]); ++at)
        if (found.row[at] > i) {
          in_double.first.push_back(i);
          in_double.second.push_back(found.row[at]);
          in_double.distance64.push_back(found.distance64[at]);
        }
    CHECK(!in_double.first.empty());
    CHECK(all_pairs(index.pairs(radius)) == in_double);
  }
}

TEST_CASE("pairs: refuses what it has no use for") {
  const Index index(device(), matrix(1, {1, 2, 3}), Metric::l1);
  const auto refusal = [&](double radius, const SearchOptions& options) {
    return error_of([&] { index.pairs(radius, options); });
  };
  CHECK(refusal(std::nan(""), {}) == "invalid_argument: pairs: radius is NaN; give a number");
  CHECK(refusal(1, {.self = 0}) ==
        "invalid_argument: pairs: no row is paired with itself already; leave self out");
  CHECK(refusal(1, {.radius = 1}) ==
        "invalid_argument: pairs: options have a radius, too; give only that of pairs");
  const RowFilter two(3, 2), wide(40);
  SearchOptions options{};
  options.filter = two;
  CHECK(refusal(1, options) ==
        "invalid_argument: pairs: the filter is of 2 queries; give one row of words for all");
  options.filter = wide;
  CHECK(refusal(1, options).starts_with("invalid_argument: pairs: the filter is [1, 2], but 3 "));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
