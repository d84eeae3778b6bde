// Tests every selector by every metric and on all hard data, in tiny tiles: docs/contract.md, sections 1
// to 4.
#include "common/searches.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_search_selectors {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("search: every selector x metric x hard data x tiny tiles, the bits of the scalar search") {
  const std::int64_t m = 5, n = 131, dims = 6;
  for_each_hard_search(m, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    for (const std::int64_t k : {1, 9, 131}) {
      const Neighbors expected = neighbors(metric, queries, train, k);
      for (const Selector selector : device().info().selectors) {
        CAPTURE_ALL(name(selector), k);
        SearchOptions options{
            .selector = selector, .lists = k == 9 ? 2 : 0, .query_tile = 3, .train_tile = k == 9 ? 13 : 67};
        CHECK(difference(index.search(queries, k, options), expected) == "");
      }
    }
  });
}

TEST_CASE("search: only local_sort refuses a k, and only one above its block") {
  const std::int64_t n = 700;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 2, 3, Metric::l2);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  const Index index(device(), train, Metric::l2);
  for (const std::int64_t k : {256, 257, 700}) {
    const Neighbors expected = neighbors(Metric::l2, queries, train, k);
    for (const Selector selector : device().info().selectors) {
      CAPTURE_ALL(name(selector), k);
      SearchOptions options{.selector = selector};
      Neighbors found;
      const std::string refusal = error_of([&] { found = index.search(queries, k, options); });
      if (selector == Selector::local_sort && k > 256) {
        CHECK(refusal.starts_with("unsupported: search: " + device().info().spec + ": "));
        CHECK(refusal.find("k = " + std::to_string(k)) != std::string::npos);
      } else {
        CHECK(refusal == "nothing was thrown");
        CHECK(difference(found, expected) == "");
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_search_selectors
