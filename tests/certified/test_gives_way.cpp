// A proposer that kith chose itself is dropped if it does not pay: docs/certificate.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_gives_way {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("proposer: one that left most queries to the chain is not chosen for that index again") {
  const std::int64_t n = 65536, dims = 256, k = 5;
  const Index index(device(), Matrix{n, dims, std::vector<float>(size(n * dims), 1)});
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 64, dims, Metric::l2);
  const Plan first = index.plan(64, k);
  if (first.proposer == Proposer::none) return;
  Trace trace;
  const Neighbors found = index.search(queries, k, {}, &trace);
  CHECK(trace.plan.proposer == first.proposer);
  CHECK(trace.fallbacks == 64);  // all rows are equally near, so every list overflows
  const Plan next = index.plan(64, k);
  CHECK(next.proposer == Proposer::none);
  CHECK(next.reason.find(std::string(name(first.proposer)) + " gave way") != std::string::npos);
  CHECK(index.plan(64, k - 1).proposer == first.proposer);  // fewer neighbours may still work
  CHECK(index.plan(64, k + 1).proposer == Proposer::none);
  CHECK(index.plan(64, k, {.proposer = first.proposer}).proposer == first.proposer);
  CHECK(index.search(queries, k) == found);
}

TEST_CASE("proposer: what a plan is given decides it, whatever was searched before") {
  const std::int64_t n = 65536, dims = 256, k = 5;
  const Index index(device(), Matrix{n, dims, std::vector<float>(size(n * dims), 1)});
  CHECK(index.feedback() == Feedback{});
  const Plan first = index.plan(64, k);
  index.search(hard_rows(DataKind::normal, Set::queries, 64, dims, Metric::l2), k);
  CHECK(index.plan(64, k, {}, {}) == first);
  if (first.proposer == Proposer::none) return;
  const Feedback taught = index.feedback();
  REQUIRE(taught.lessons.size() == 1);
  CHECK(taught.lessons[0].proposer == first.proposer);
  CHECK(taught.lessons[0].overwhelmed_from == k);
  CHECK(index.plan(64, k) == index.plan(64, k, {}, taught));
  const Index fresh(device(), Matrix{n, dims, std::vector<float>(size(n * dims), 1)});
  CHECK(fresh.plan(64, k, {}, taught) == index.plan(64, k));
}

TEST_CASE("proposer: one that kith chose gives way where most lists overflow") {
  const std::int64_t n = 20000, m = 300, dims = 256;
  const Index index(device(), Matrix{n, dims, std::vector<float>(size(n * dims), 1)});
  const Matrix queries{m, dims, std::vector<float>(size(m * dims), 2)};
  Trace trace;
  const Neighbors found = index.search(queries, 2, {.query_tile = 100}, &trace);
  CHECK(found == index.search(queries, 2, {.proposer = Proposer::none}));
  if (trace.plan.proposer == Proposer::none) return;  // here the problem is too small for a proposer
  CHECK(trace.fallbacks == m);
  CHECK(trace.repeats == 0);
  // Only the first tile had candidates proposed, in at most four attempts: fp16 after int8, each with and
  // without guesses.
  CHECK(trace.listed <= 400 * trace.plan.candidates);
  index.search(queries, 2, {.proposer = trace.plan.proposer, .query_tile = 100}, &trace);
  CHECK(trace.listed > 200 * trace.plan.candidates);  // a proposer that was asked for is not dropped
}

TEST_CASE("proposer: one that left a few queries to the chain is chosen again") {
  const std::int64_t n = 65536, dims = 256, k = 5, m = 64;
  Matrix rows = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  for (std::size_t i = 0; i < rows.values.size() / 2; ++i) rows.values[i] = 2;  // more than a list holds
  Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  for (std::size_t i = 44 * size(dims); i < queries.values.size(); ++i) queries.values[i] = 2;
  const Index index(device(), rows);
  const Plan plan = index.plan(m, k);
  if (plan.proposer == Proposer::none) return;
  Trace trace;
  CHECK(index.search(queries, k, {.query_tile = 44}, &trace) ==
        index.search(queries, k, {.proposer = Proposer::none}));
  CHECK(trace.fallbacks == 20);  // all queries of the last tile
  CHECK(index.plan(m, k).proposer == plan.proposer);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_gives_way
