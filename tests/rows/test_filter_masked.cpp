// Tests proposers that skip rows which a filter excludes: docs/certificate.md, section 4.
#include "common/described_devices.hpp"
#include "common/proposers.hpp"
#include "common/sanitizers.hpp"
#include "common/subsets.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

SearchOptions masked_by(const RowFilter& filter, SearchOptions options = {}) {
  options.filter = filter;
  return options;
}

/// Says which rows of n count, the same for all queries.
struct Share {
  const char* name;
  Counts counts;
};

std::vector<Share> shares(std::int64_t n) {
  const auto of_rows = [](auto counts) {
    return Counts([counts](std::int64_t, std::int64_t t) { return counts(t); });
  };
  const Counts tenth = of_query_0(some(10));
  return {{"nine of ten", of_rows([tenth](std::int64_t t) { return !tenth(0, t); })},
          {"half", of_query_0(some(2))},
          {"one in ten", tenth},
          {"one in fifty", of_query_0(some(50))},
          {"the first half", of_rows([n](std::int64_t t) { return t < n / 2; })},
          {"none of every third block", of_rows([](std::int64_t t) { return t / 128 % 3 != 1; })},
          {"all but one", of_rows([n](std::int64_t t) { return t != n / 2; })},
          {"fewer than k", of_rows([](std::int64_t t) { return t % 1100 == 37; })},
          {"the last row", of_rows([n](std::int64_t t) { return t == n - 1; })}};
}

/// Returns rows that are bytes, on a grid that serves the metric.
Matrix bytes_for(Metric metric, Set set, std::int64_t rows, std::int64_t dims) {
  Matrix bytes = hard_rows(DataKind::integers, set, rows, dims, metric);
  if (metric == Metric::negative_dot)
    for (float& value : bytes.values) value -= 128;
  return bytes;
}

struct Shape {
  std::int64_t m, n, dims;
};

void check_shares(const Shape& shape, Metric metric, bool bytes) {
  const std::int64_t m = shape.m, n = shape.n, dims = shape.dims, k = 7;
  const auto rows = [&](Set set, std::int64_t count) {
    return bytes ? bytes_for(metric, set, count, dims)
                 : hard_rows(DataKind::clusters, set, count, dims, metric);
  };
  const Matrix queries = rows(Set::queries, m), train = rows(Set::train, n);
  const Index index(device(), train, metric);
  for (const Share& share : shares(n)) {
    CAPTURE(std::string(share.name));
    const RowFilter filter = filter_of(share.counts, n, 1);
    const Neighbors expected = neighbors_among(metric, queries, train, k, share.counts);
    for_each_proposer([&](Proposer proposer) {
      Trace trace;
      CHECK(difference(index.search(queries, k, masked_by(filter, {.proposer = proposer}), &trace),
                       expected) == "");
      CHECK(trace.plan.proposer == proposer);
      CHECK(trace.plan.masked != trace.plan.gathered);  // few rows
      if (trace.plan.masked) CHECK(trace.plan.problem.k == k);
      if (bytes && proposer == Proposer::int8 && metric != Metric::cosine) CHECK(trace.plan.exact_products);
    });
  }
}

TEST_CASE("filters that mask: a GPU's proposer heeds it down to one row in 64, and its plan grows by terms") {
  const DeviceInfo info = described_gpu("cuda");
  const std::int64_t n = 1000000;
  const Problem large{Metric::l2, n, 10000, 64, 10};
  const Plan open = make_plan(info, large);
  REQUIRE(open.proposer == Proposer::fp16);
  RowFilter filter(n);
  const Plan all = make_plan(info, large, masked_by(filter));
  CHECK(all.proposer == Proposer::fp16);
  CHECK(all.masked);
  CHECK(!all.struck);
  CHECK(all.problem.k == 10);
  CHECK(all.filters == 1);
  CHECK(all.sample_rows == open.sample_rows);
  CHECK(all.workspace_bytes == open.workspace_bytes + 16 * 1000000 + 1000000 / 8);
  CHECK(explain(all).find(
            "filter         one for all queries, there are no bounds of rows that do not count\n") !=
        std::string::npos);
  CHECK(make_plan(info, large, masked_by(filter, {.self = 0})).problem.k == 11);
  const auto only_each = [&](std::int64_t one_in) {
    RowFilter some(n, 1, false);
    for (std::int64_t row = 0; row < n; row += one_in) some.set(row, true);
    return make_plan(info, large, masked_by(some));
  };
  const Plan half = only_each(2), tenth = only_each(10), sixty = only_each(60), few = only_each(70);
  for (const Plan& plan : {half, tenth, sixty}) {
    CHECK(plan.proposer == Proposer::fp16);
    CHECK(plan.masked);
    CHECK(plan.problem.k == 10);
    CHECK(plan.candidates == open.candidates);
  }
  CHECK(sixty.sample_rows > open.sample_rows);
  CHECK(sixty.sample_rows <= n / 16);
  CHECK(tenth.seed_rows >= 10 * 40);
  CHECK(few.proposer == Proposer::none);
  CHECK(!few.masked);
  const Plan tight = make_plan(info, large, masked_by(filter, {.memory_limit = open.workspace_bytes}));
  CHECK(tight.workspace_bytes <= open.workspace_bytes / 2);
}

TEST_CASE("filters that mask: not one a query, nor what keeps fewer rows than the first step needs") {
  const DeviceInfo info = described_gpu("cuda");
  const Problem large{Metric::l2, 100000, 4000, 64, 600};
  const RowFilter each(100000, 4000);
  const Plan of_each = make_plan(info, large, masked_by(each));
  CHECK(!of_each.masked);
  CHECK(of_each.struck);
  RowFilter few(100000, 1, false);
  for (std::int64_t row = 0; row < 2300; ++row) few.set(row, true);
  CHECK(!make_plan(info, large, masked_by(few)).masked);
  CHECK(make_plan(info, large, masked_by(few, {.proposer = Proposer::fp16})).masked);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("filters that mask: the bits of the chain among what counts, by every proposer") {
  // The shapes reach kernels that test within the product, those for few queries, and those that
  // split numbers.
  std::vector<Shape> all = {{70, 1300, 20}, {9, 1100, 40}, {66, 1100, 3}};
  if (sanitized()) all = {{9, 1100, 24}};
  for (const Shape& shape : all)
    for (const Metric metric : {Metric::squared_l2, Metric::cosine, Metric::l2, Metric::negative_dot}) {
      if (shape.m != all.front().m && metric != Metric::squared_l2 && metric != Metric::cosine) continue;
      CAPTURE_ALL(name(metric), shape.m, shape.dims);
      check_shares(shape, metric, false);
    }
}

TEST_CASE("filters that mask: bytes, whose products are exact") {
  for (const Metric metric : {Metric::squared_l2, Metric::negative_dot}) {
    CAPTURE(std::string(name(metric)));
    check_shares({sanitized() ? 5 : 20, 1100, 32}, metric, true);
  }
}

TEST_CASE("filters that mask: beside a row that is not its own neighbour, and with any tiles") {
  const std::int64_t m = sanitized() ? 8 : 40, n = 1700, dims = 24, k = 6, own = 11;
  const Matrix train = hard_rows(DataKind::clusters, Set::train, n, dims, Metric::squared_l2);
  const Matrix queries{m, dims, {train.values.begin() + own * dims, train.values.begin() + (own + m) * dims}};
  const Index index(device(), train, Metric::squared_l2);
  for (const Counts& counts : {of_query_0(some(2)), of_query_0(some(9)),
                               Counts([](std::int64_t, std::int64_t t) { return t >= 11 && t < 15; })}) {
    const RowFilter filter = filter_of(counts, n, 1);
    const Neighbors expected =
        neighbors_among(Metric::squared_l2, queries, train, k,
                        [&](std::int64_t q, std::int64_t t) { return t != own + q && counts(0, t); });
    for_each_proposer([&](Proposer proposer) {
      for (const std::int64_t tile : {0, 1, 7}) {
        const SearchOptions options{.proposer = proposer, .query_tile = tile, .self = own};
        CHECK(difference(index.search(queries, k, masked_by(filter, options)), expected) == "");
      }
    });
  }
}

TEST_CASE("filters that mask: another filter, or none, follows on the same index") {
  const std::int64_t m = 12, n = 1300, dims = 24, k = 5;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  const Index index(device(), train, Metric::l2);
  for_each_proposer([&](Proposer proposer) {
    for (const Counts& counts : {of_query_0(some(3)), Counts(all_count), of_query_0(some(2))}) {
      const RowFilter filter = filter_of(counts, n, 1);
      CHECK(difference(index.search(queries, k, masked_by(filter, {.proposer = proposer})),
                       neighbors_among(Metric::l2, queries, train, k, counts)) == "");
    }
    CHECK(difference(index.search(queries, k, {.proposer = proposer}),
                     neighbors_among(Metric::l2, queries, train, k, all_count)) == "");
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
