// Tests that a query which is a training row is not its own neighbour: docs/contract.md, section 2.
#include "common/device.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_self {
namespace {

SearchOptions leaving_out(std::int64_t self, SearchOptions options = {}) {
  options.self = self;
  return options;
}

/// Returns rows first ... first + count - 1.
Matrix part(const Matrix& rows, std::int64_t first, std::int64_t count) {
  const auto begin = rows.values.begin() + first * rows.cols;
  return {count, rows.cols, std::vector<float>(begin, begin + count * rows.cols)};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("self: by hand, right under duplicates") {
  const Matrix train = matrix(1, {7, 7, 7, 8});
  const Index index(device(), train, Metric::l1);
  CHECK(index.search(train, 2, leaving_out(0)) ==
        Neighbors{4, 2, {0, 0, 0, 0, 0, 0, 1, 1}, {1, 2, 0, 2, 0, 1, 0, 1}});
  CHECK(index.search(train, 3, leaving_out(0)).row ==
        std::vector<std::int64_t>{1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2});
  CHECK(index.search(matrix(1, {7, 8}), 1, leaving_out(2)) == Neighbors{2, 1, {0, 1}, {0, 0}});
}

TEST_CASE("self: a query need not lie where its row does") {
  const Index index(device(), matrix(1, {1, 2, 3, 100}), Metric::l1);
  CHECK(index.search(matrix(1, {0}), 2, leaving_out(3)) == Neighbors{1, 2, {1, 2}, {0, 1}});
  CHECK(index.search(matrix(1, {0}), 2, leaving_out(1)) == Neighbors{1, 2, {1, 3}, {0, 2}});
  CHECK(index.search(matrix(1, {0}), 3, leaving_out(1)) == Neighbors{1, 3, {1, 3, 100}, {0, 2, 3}});
}

TEST_CASE("self: the bits of a search of the other rows, whatever the way, on hard data") {
  const std::int64_t n = 150, dims = 5, first = 40, m = 60;
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : number_metrics) {
      if (!workloads::admits(metric, kind)) continue;
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric);
      const Matrix queries = part(train, first, m);
      const Index index(device(), train, metric);
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{9}, n - 1}) {
        const Neighbors expected = neighbors_among(metric, queries, train, k, others(first));
        for (const SearchOptions& options :
             {SearchOptions{}, SearchOptions{.fused = false, .lists = 3, .query_tile = 16, .train_tile = 64},
              SearchOptions{.query_tile = 7, .train_tile = 11}}) {
          CAPTURE_ALL(workloads::name(kind), name(metric), k, options.train_tile);
          CHECK(difference(index.search(queries, k, leaving_out(first, options)), expected) == "");
        }
      }
    }
}

TEST_CASE("self: with a filter, one for all and one a query") {
  const std::int64_t n = 130, first = 20, m = 70;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  const Matrix queries = part(train, first, m);
  const Index index(device(), train, Metric::l2);
  const Counts each = some(3), same = of_query_0(each);
  const auto both = [&](const Counts& counts) {
    return Counts([=](std::int64_t q, std::int64_t t) { return counts(q, t) && t != first + q; });
  };
  const RowFilter of_each = filter_of(each, n, m), of_all = filter_of(same, n, 1);
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{5}, n - 1})
    for (const std::int64_t tile : {9, 130}) {
      CAPTURE_ALL(k, tile);
      SearchOptions options = leaving_out(first, {.query_tile = 32, .train_tile = tile});
      options.filter = of_each;
      CHECK(difference(index.search(queries, k, options),
                       neighbors_among(Metric::l2, queries, train, k, both(each))) == "");
      options.filter = of_all;
      CHECK(difference(index.search(queries, k, options),
                       neighbors_among(Metric::l2, queries, train, k, both(same))) == "");
    }
}

TEST_CASE("self: by every proposer, and by a sample") {
  const std::int64_t n = 700;
  const Matrix train = hard_rows(DataKind::clusters, Set::train, n, 6, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const Neighbors expected = neighbors_among(Metric::l2, train, train, 4, others(0));
  for (const Proposer proposer : device().info().proposers) {
    CAPTURE(std::string(name(proposer)));
    Neighbors found;
    const std::string refusal = error_of(
        [&] { found = index.search(train, 4, leaving_out(0, {.proposer = proposer, .train_tile = 64})); });
    if (refusal.starts_with("unsupported: ")) continue;  // test_proposers_listed.cpp tells why
    CHECK(refusal == "nothing was thrown");
    CHECK(difference(found, expected) == "");
  }
  Trace trace;
  SearchOptions options = leaving_out(0);
  options.sample = device().info().selectors;
  CHECK(difference(index.search(train, 4, options, &trace), expected) == "");
  CHECK(trace.plan.problem.k == 5);
  CHECK(trace.plan.reason.starts_with("sampled query "));
  CHECK(trace.plan.reason.ends_with(
      "; one more neighbour is searched for, since a query is no neighbour of its own"));
}

TEST_CASE("self: who is left out has no vote") {
  const Matrix train = matrix(1, {0, 0, 1, 9});
  const std::vector<std::int64_t> labels = {4, 6, 6, 4};
  const Classifier classifier(device(), train, labels);
  const Classification found = classifier.classify(train, 1, leaving_out(0));
  CHECK(found.label == std::vector<std::int64_t>{6, 4, 4, 6});
  CHECK(found.votes == std::vector<std::uint32_t>{0, 1, 1, 0, 1, 0, 0, 1});
  const std::vector<std::int64_t> ks = {1, 3};
  const Sweep sweep = classifier.sweep(train, ks, leaving_out(0));
  CHECK(sweep.label == std::vector<std::vector<std::int64_t>>{{6, 4, 4, 6}, {6, 4, 4, 6}});
  CHECK(sweep.neighbors.row == std::vector<std::int64_t>{1, 2, 3, 0, 2, 3, 0, 1, 3, 2, 0, 1});
}

TEST_CASE("self: the plan says that one more is searched for") {
  const Index index(device(), matrix(1, {1, 2, 3, 4}));
  const Plan plan = index.plan(2, 3, leaving_out(1)), usual = index.plan(2, 4);
  CHECK(plan.problem.k == 4);
  CHECK(plan.self == 1);
  CHECK(plan.reason ==
        usual.reason + "; one more neighbour is searched for, since a query is no neighbour of its own");
  CHECK(explain(plan).find("left out       training row 1 + q for query q\n") != std::string::npos);
}

TEST_CASE("self: refuses rows that are not there, and a k that the others do not fill") {
  const Index index(device(), matrix(1, {1, 2, 3}));
  const auto refusal = [&](const Matrix& queries, std::int64_t k, std::int64_t self) {
    return error_of([&] { index.search(queries, k, leaving_out(self)); });
  };
  CHECK(refusal(matrix(1, {1, 2}), 1, 2) ==
        "invalid_argument: search: self = 2 with 2 queries, but the index holds 3 rows; all of self ... self "
        "+ m - 1 must be rows");
  CHECK(refusal(matrix(1, {1}), 1, -1) ==
        "invalid_argument: search: self = -1 with 1 queries, but the index holds 3 rows; all of self ... "
        "self + m - 1 must be rows");
  CHECK(refusal(matrix(1, {1}), 3, 0) ==
        "invalid_argument: search: k = 3 is out of range for an index of 3 rows, each left out of its own "
        "list; choose k from 1 to 2");
  CHECK(refusal(matrix(1, {1, 1, 1, 1}), 1, 0) ==
        "invalid_argument: search: self = 0 with 4 queries, but the index holds 3 rows; all of self ... self "
        "+ m - 1 must be rows");
  CHECK(error_of([] { Index(device(), matrix(1, {1})).search(matrix(1, {1}), 1, leaving_out(0)); }) ==
        "invalid_argument: search: the index holds 1 row, which is not its own neighbour; give more rows");
  CHECK(index.search(Matrix{0, 1, {}}, 2, leaving_out(3)) == Neighbors{0, 2, {}, {}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_self
