// Tests Index::with(), which adds rows and leaves the old index unchanged.
#include "common/device.hpp"
#include "common/subsets.hpp"
#include "kith/index.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

/// Returns an index that began with few rows and got the others in parts.
Index grown(const Matrix& rows, Metric metric, const std::vector<std::int64_t>& parts,
            const IndexOptions& options = {}) {
  Index index(device(), rows.view().slice(0, parts[0]), metric, options);
  for (std::size_t i = 1; i < parts.size(); ++i)
    index = index.with(rows.view().slice(index.rows(), parts[i]));
  return index;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("grown: by hand, and the first index stays as it is") {
  const Index few(device(), matrix(1, {5, 1}), Metric::l1);
  const Index more = few.with(matrix(1, {1, 0}));
  CHECK(few.rows() == 2);
  CHECK(more.rows() == 4);
  CHECK(more.dims() == 1);
  CHECK(more.metric() == Metric::l1);
  CHECK(few.search(matrix(1, {0}), 2) == Neighbors{1, 2, {1, 5}, {1, 0}});
  CHECK(more.search(matrix(1, {0}), 4) == Neighbors{1, 4, {0, 1, 1, 5}, {3, 1, 2, 0}});
  CHECK(few.with(matrix(1, {2})).search(matrix(1, {0}), 3) == Neighbors{1, 3, {1, 2, 5}, {1, 2, 0}});
}

TEST_CASE("grown: the bits of an index of all rows, whatever the parts and the way") {
  const std::int64_t m = 11, n = 300, dims = 5;
  for (const DataKind kind : {DataKind::grid, DataKind::clusters})
    for (const Metric metric : number_metrics) {
      const Matrix queries = hard_rows(kind, Set::queries, m, dims, metric);
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric);
      for (const std::vector<std::int64_t>& parts :
           {std::vector<std::int64_t>{200, 100}, {1, 299}, {100, 1, 1, 30, 168}}) {
        const Index index = grown(train, metric, parts);
        for (const std::int64_t k : {std::int64_t{1}, std::int64_t{20}, n}) {
          const Neighbors expected = neighbors(metric, queries, train, k);
          for (const SearchOptions& options :
               {SearchOptions{}, SearchOptions{.fused = false},
                SearchOptions{.lists = 2, .query_tile = 4, .train_tile = 64}}) {
            CAPTURE_ALL(workloads::name(kind), name(metric), parts.size(), k);
            CHECK(difference(index.search(queries, k, options), expected) == "");
          }
        }
      }
    }
}

TEST_CASE("grown: a tile lies in the rows of one part, and the plan says so") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 100, 3, Metric::l2);
  const Index index = grown(train, Metric::l2, {30, 60, 10});
  CHECK(index.plan(1, 1).train_tile <= 60);
  Trace trace;
  index.search(train, 1, {}, &trace);
  CHECK(trace.train_tiles >= 3);
}

TEST_CASE("grown: features, filters and leaving out go on as before") {
  const std::int64_t n = 90;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 4, Metric::l1);
  const Index index = grown(train, Metric::l1, {50, 40}, {{3, 1}});
  CHECK(index.features() == std::vector<std::int64_t>{1, 3});
  Matrix chosen{n, 2, {}};
  for (std::int64_t t = 0; t < n; ++t)
    for (const std::size_t d : {1u, 3u}) chosen.values.push_back(train.row(t)[d]);
  const RowFilter filter = filter_of(some(2), n, n);
  SearchOptions options{.filter = filter, .self = 0};
  const Counts counts = [](std::int64_t q, std::int64_t t) { return q != t && some(2)(q, t); };
  CHECK(difference(index.search(train, 6, options), neighbors_among(Metric::l1, chosen, chosen, 6, counts)) ==
        "");
}

TEST_CASE("grown: by every proposer, with quantized rows of all parts") {
  const std::int64_t n = 900, m = 20, k = 5;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, 9, Metric::l2);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 9, Metric::l2);
  const Neighbors expected = neighbors(Metric::l2, queries, train, k);
  for (const std::vector<std::int64_t>& parts :
       {std::vector<std::int64_t>{500, 400}, {3, 897}, {129, 1, 300, 470}}) {
    const Index index = grown(train, Metric::l2, parts);
    for (const Proposer proposer : device().info().proposers) {
      CAPTURE_ALL(name(proposer), parts.front());
      Neighbors found;
      const std::string refusal =
          error_of([&] { found = index.search(queries, k, {.proposer = proposer, .train_tile = 128}); });
      if (refusal.starts_with("unsupported: ")) continue;  // test_proposers_listed.cpp tells why
      CHECK(refusal == "nothing was thrown");
      CHECK(difference(found, expected) == "");
    }
  }
}

TEST_CASE("grown: rows far from 0 are told apart from the first part on") {
  const auto& has = device().info().proposers;
  if (std::find(has.begin(), has.end(), Proposer::fp16) == has.end()) return;
  // The values are 999 to 1001, so the terms of a product are a thousand times the differences between rows.
  const auto rows = [](std::int64_t n, std::uint64_t seed) {
    workloads::Random random(seed);
    Matrix made{n, 3, {}};
    for (std::int64_t i = 0; i < 3 * n; ++i)
      made.values.push_back(1000 + 2 * workloads::uniform(random.next()) - 1);
    return made;
  };
  const Matrix queries = rows(300, 1), train = rows(50000, 2);
  const Index index = grown(train, Metric::l2, {30000, 20000});
  Trace trace;
  const Neighbors found = index.search(queries, 10, {.proposer = Proposer::fp16}, &trace);
  CHECK(difference(found, index.search(queries, 10, {.proposer = Proposer::none})) == "");
  CHECK_FALSE(trace.plan.guesses());
  CHECK(trace.plan.sample_rows == 0);
  CHECK(trace.fallbacks == 0);
}

TEST_CASE("grown: larger values count where the limits are checked") {
  const Index index = Index(device(), matrix(1, {1}), Metric::negative_dot).with(matrix(1, {1e30f}));
  CHECK(error_of([&] { index.search(matrix(1, {1e30f}), 1); })
            .starts_with("invalid_argument: search: query row 0 reaches 1.00000002e+30 and the training rows "
                         "1.00000002e+30: "));
}

TEST_CASE("grown: refuses what an index refuses") {
  const Index index(device(), matrix(2, {1, 2, 3, 4}), Metric::cosine);
  CHECK(error_of([&] {
          index.with(Matrix{0, 2, {}});
        }) == "invalid_argument: index: the added rows are [0, 2]; give at least one row and one column");
  CHECK(error_of([&] {
          index.with(matrix(3, {1, 2, 3}));
        }) == "invalid_argument: index: the added rows have 3 columns but the index has 2; give as many");
  CHECK(error_of([&] {
          index.with(matrix(2, {1, 2, 3, std::nanf("")}));
        }) ==
        "invalid_argument: index: added row 1, column 1 holds NaN; make every value finite, or leave the row "
        "out");
  CHECK(error_of([&] {
          index.with(matrix(2, {0, 0}));
        }) ==
        "invalid_argument: index: added row 0 is all zeros, which has no direction; leave it out for cosine");
  const float one = 1;  // never read: the sizes are refused first
  CHECK(error_of([&] { index.with(MatrixView<const float>(&one, 4294967293, 2, 0)); }) ==
        "invalid_argument: index: 4294967295 training rows, but an index holds at most 4294967294; split "
        "them over several");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
