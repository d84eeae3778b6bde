// Tests searches for the k nearest rows of those within a radius: SearchOptions::radius.
#include <algorithm>
#include <cmath>

#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "common/proposers.hpp"
#include "common/searches.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"

namespace kith::tests {
namespace {

/// Returns the lists without rows beyond the radius.
Neighbors cut(Neighbors lists, double radius) {
  for (std::size_t i = 0; i < lists.row.size(); ++i)
    if (static_cast<double>(lists.distance[i]) > radius) lists.distance[i] = inf, lists.row[i] = -1;
  return lists;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("k within a radius: by hand, padded as short lists are") {
  const Index index(device(), matrix(1, {3, 1, -1, 0, 8, 1}), Metric::l1);
  CHECK(index.search(matrix(1, {0, 50}), 3, {.radius = 1}) ==
        Neighbors{2, 3, {0, 1, 1, inf, inf, inf}, {3, 1, 2, -1, -1, -1}});
  CHECK(index.search(matrix(1, {0}), 3, {.radius = std::nextafter(1.0, 0.0)}) ==
        Neighbors{1, 3, {0, inf, inf}, {3, -1, -1}});
  CHECK(index.search(matrix(1, {0}), 2, {.radius = -1}).row == std::vector<std::int64_t>{-1, -1});
}

TEST_CASE("k within a radius: every metric, on hard data, whatever way") {
  const std::int64_t m = 9, n = 210, k = 20;
  for_each_hard_search(m, n, 4, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    const Neighbors all = neighbors(metric, queries, train, k);
    for (const float radius : {all.distance[10], std::nextafter(all.distance[45], -inf), 0.0f, inf}) {
      const double most = radius;
      for (const std::int64_t tile : {0, 70}) {
        const SearchOptions options{.train_tile = tile, .radius = most};
        CHECK(difference(index.search(queries, k, options), cut(all, most)) == "");
      }
    }
  });
}

TEST_CASE("k within a radius: by boxes and proposers, with a filter, and without the query itself") {
  const std::int64_t n = 2200, m = 300, k = 8;
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 3, Metric::l2);
  const Matrix queries{m, 3, std::vector<float>(train.values.begin(), train.values.begin() + m * 3)};
  const Index index(device(), train, Metric::l2);
  const Counts chosen = some(3), same = of_query_0(chosen), rest = others(0);
  const RowFilter filter = filter_of(same, n, 1);
  std::vector<SearchOptions> ways{{}, {.boxes = false}};
  if (device().info().boxes_max_k > k) ways.push_back({.boxes = true});
  for (const Proposer proposer : device().info().proposers)
    if (refusal_of(proposer).empty()) ways.push_back({.proposer = proposer});
  for (SearchOptions options : ways)
    for (const double radius : {0.0, 0.11, 0.4}) {
      options.radius = radius;
      CHECK(difference(index.search(queries, k, options),
                       cut(neighbors(Metric::l2, queries, train, k), radius)) == "");
      options.filter = filter;
      CHECK(difference(index.search(queries, k, options),
                       cut(neighbors_among(Metric::l2, queries, train, k, same), radius)) == "");
      options.self = 0;
      CHECK(difference(index.search(queries, k, options),
                       cut(neighbors_among(Metric::l2, queries, train, k,
                                           [&](auto q, auto t) { return same(q, t) && rest(q, t); }),
                           radius)) == "");
      options.filter = {};
      options.self.reset();
    }
}

TEST_CASE("k within a radius: sets, sources, keys, double precision, and votes") {
  const std::int64_t n = 300, m = 20, k = 12;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, m, 3, Metric::l2);
  const SearchOptions options{.radius = 2};
  const Neighbors expected = cut(neighbors(Metric::l2, queries, train, k), 2);
  CHECK(difference(Index(set_of(2), train).search(queries, k, options), expected) == "");
  CHECK(difference(
            Index(one_device(), memory_source(train), Metric::l2, streamed(64)).search(queries, k, options),
            expected) == "");
  const Index index(device(), train);
  CHECK(difference(finish(Metric::l2, index.search_keys(queries, k, options)), expected) == "");
  const std::vector<double> wide(train.values.begin(), train.values.end()),
      asked(queries.values.begin(), queries.values.end());
  const Neighbors doubles = Index(device(), RowsView(wide.data(), Element::f64, n, 3))
                                .search(RowsView(asked.data(), Element::f64, m, 3), k, options);
  CHECK(doubles.row == expected.row);
  std::vector<std::int64_t> labels;
  for (std::int64_t t = 0; t < n; ++t) labels.push_back(t % 5);
  const Classifier classifier(device(), train, labels);
  const Classification voted = classifier.classify(queries, k, {}, options);
  for (std::int64_t q = 0; q < m; ++q) {
    std::vector<int> votes(5);
    for (std::int64_t j = 0; j < k; ++j)
      if (const std::int64_t row = expected.row[size(q * k + j)]; row >= 0) ++votes[size(row % 5)];
    const auto best = std::max_element(votes.begin(), votes.end());
    CHECK(voted.label[size(q)] == (*best == 0 ? default_no_label : best - votes.begin()));
  }
}

TEST_CASE("k within a radius: refused where it has no part, and a NaN") {
  const Index index(device(), matrix(1, {1, 2, 3}), Metric::l1);
  CHECK(error_of([&] { index.search(matrix(1, {1}), 1, {.radius = std::nan("")}); }) ==
        "invalid_argument: search: radius is NaN; give a number, or leave it out");
  CHECK(error_of([&] { index.within(matrix(1, {1}), std::vector<float>{1}, {.radius = 2}); }) ==
        "unsupported: within: option radius = 2 has no part in a radius search, which keeps all that is "
        "near; drop it");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
