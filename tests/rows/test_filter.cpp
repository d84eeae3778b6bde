// Tests searches in which only some training rows count: docs/contract.md, section 2.
#include "common/proposers.hpp"
#include "common/sanitizers.hpp"
#include "common/searches.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

SearchOptions filtered(const RowFilter& filter, SearchOptions options = {}) {
  options.filter = filter;
  return options;
}

Matrix rows_of(const Matrix& from, std::int64_t first, std::int64_t count) {
  const auto begin = from.values.begin() + first * from.cols;
  return {count, from.cols, {begin, begin + count * from.cols}};
}

/// Returns whether few rows that count are gathered: on the host, or in blocks that the device itself
/// can pack.
bool gathers_few_rows() {
  const DeviceInfo& info = device().info();
  return info.profile.host_threads || info.train_block == spi::box_rows;
}

TEST_CASE("filter: bits by hand") {
  RowFilter filter(35, 2);
  CHECK(filter.rows() == 35);
  CHECK(filter.filters() == 2);
  CHECK(filter.count() == 35);
  filter.set(34, false, 1);
  filter.set(0, false, 1);
  filter.set(33, false, 1);
  filter.set(33, true, 1);
  CHECK(filter.count(0) == 35);
  CHECK(filter.count(1) == 33);
  CHECK(!filter.counts(0, 1));
  CHECK(filter.counts(1, 1));
  CHECK(filter.counts(33, 1));
  const MatrixView<const std::uint32_t> words = filter.view();
  CHECK(words.rows() == 2);
  CHECK(words.cols() == 2);
  CHECK(std::vector(words.row(0), words.row(0) + 2) == std::vector<std::uint32_t>{0xFFFFFFFFu, 7});
  CHECK(std::vector(words.row(1), words.row(1) + 2) == std::vector<std::uint32_t>{0xFFFFFFFEu, 3});
  CHECK(RowFilter(32).view().row(0)[0] == 0xFFFFFFFFu);
  CHECK(RowFilter(40, 3, false).count(2) == 0);
  const std::vector<std::int64_t> list = {31, 2, 31};
  CHECK(RowFilter::only(32, list).view().row(0)[0] == 0x80000004u);
}

TEST_CASE("filter: the bits of a shard, by hand") {
  const std::vector<std::int64_t> list = {0, 31, 32, 40, 69};
  RowFilter filter = RowFilter::only(70, list);
  const auto words = [&](std::int64_t first, std::int64_t count) {
    const RowFilter part = filter.slice(first, count);
    CHECK(part.rows() == count);
    return std::vector(part.view().row(0), part.view().row(0) + part.view().cols());
  };
  CHECK(words(0, 70) == std::vector<std::uint32_t>{0x80000001u, 0x101u, 0x20u});
  CHECK(words(31, 39) == std::vector<std::uint32_t>{0x203u, 0x40u});
  CHECK(words(32, 38) == std::vector<std::uint32_t>{0x101u, 0x20u});
  CHECK(words(31, 2) == std::vector<std::uint32_t>{3});
  CHECK(words(33, 7) == std::vector<std::uint32_t>{0});
  RowFilter several(70, 2, false);
  several.set(66, true, 1);
  CHECK(several.slice(65, 5).count(0) == 0);
  CHECK(several.slice(65, 5).counts(1, 1));
  const auto refused = [&](std::int64_t first, std::int64_t count) {
    return error_of([&] { filter.slice(first, count); });
  };
  CHECK(refused(60, 11) ==
        "invalid_argument: filter: there are no rows 60 ... 60 + 11 - 1 among 70; choose at least one from 0 "
        "to 69");
  for (const std::string& error : {refused(-1, 2), refused(0, 0), refused(70, 1)})
    CHECK(error.find("invalid_argument: filter: there are no rows ") == 0);
}

TEST_CASE("filter: refuses rows and filters that are not there") {
  RowFilter filter(5, 2);
  CHECK(error_of([&] { filter.set(5, true); }) ==
        "invalid_argument: filter: there is no row 5 among 5; choose from 0 to 4");
  CHECK(error_of([&] { filter.counts(-1); }) ==
        "invalid_argument: filter: there is no row -1 among 5; choose from 0 to 4");
  CHECK(error_of([&] { filter.count(2); }) ==
        "invalid_argument: filter: there is no filter 2 among 2; choose from 0 to 1");
  CHECK(error_of([&] { RowFilter(0); }) ==
        "invalid_argument: filter: 1 filters over 0 training rows; give at least one of each");
  CHECK(error_of([&] { RowFilter(3, 0); }) ==
        "invalid_argument: filter: 0 filters over 3 training rows; give at least one of each");
  const std::vector<std::int64_t> list = {1, 7};
  CHECK(error_of([&] { RowFilter::only(7, list); }) ==
        "invalid_argument: filter: there is no row 7 among 7; choose from 0 to 6");
}

TEST_CASE("filter: nothing is fused, and where each query has one, longer lists are proposed") {
  DeviceInfo info;
  info.spec = "cuda:0";
  info.backend = "cuda";
  info.kind = DeviceKind::gpu;
  info.compute_units = 100;
  info.memory_bytes = std::size_t{64} << 30;
  info.largest_allocation = info.memory_bytes;
  info.train_block = info.query_block = 16;
  info.selectors = {Selector::threshold, Selector::radix};
  info.proposers = {Proposer::fp16};
  info.fused_max_k = 64;
  const std::int64_t n = 1000000, m = 200;
  const Problem large{Metric::l2, n, m, 64, 10};
  REQUIRE(make_plan(info, large).proposer == Proposer::fp16);
  RowFilter filter(n, m);
  const Plan all = make_plan(info, large, filtered(filter));
  CHECK(all.proposer == Proposer::fp16);
  CHECK(all.struck);
  CHECK(all.problem.k == 10);  // no row is struck out
  CHECK(all.filters == m);
  CHECK(explain(all).find("filter         one a query, rows are struck out of longer lists\n") !=
        std::string::npos);
  for (std::int64_t row = 0; row < 5; ++row) filter.set(row, false, 0);
  CHECK(make_plan(info, large, filtered(filter, {.self = 0})).problem.k == 16);
  for (std::int64_t row = 0; row < n; row += 2) filter.set(row, false, 0);
  const Plan half = make_plan(info, large, filtered(filter));
  CHECK(half.proposer == Proposer::fp16);
  CHECK(half.problem.k == 35);
  for (std::int64_t row = 0; row < 900000; ++row) filter.set(row, false, 0);
  const Plan few = make_plan(info, large, filtered(filter));
  CHECK(few.proposer == Proposer::none);
  CHECK(!few.fused);
  CHECK(!few.struck);
  CHECK(few.problem.k == 10);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("filter: by hand, and short rows end in (+infinity, -1)") {
  const Index index(device(), matrix(1, {5, 1, 3, 1, 9}), Metric::l1);
  const std::vector<std::int64_t> list = {4, 3, 0};
  const RowFilter filter = RowFilter::only(5, list);
  CHECK(index.search(matrix(1, {0}), 2, filtered(filter)) == Neighbors{1, 2, {1, 5}, {3, 0}});
  CHECK(index.search(matrix(1, {0, 9}), 4, filtered(filter)) ==
        Neighbors{2, 4, {1, 5, 9, inf, 0, 4, 8, inf}, {3, 0, 4, -1, 4, 0, 3, -1}});
  RowFilter each(5, 2);
  each.set(1, false, 0);
  for (const std::int64_t t : {0, 1, 2, 3, 4}) each.set(t, false, 1);
  CHECK(index.search(matrix(1, {0, 9}), 2, filtered(each)) ==
        Neighbors{2, 2, {1, 3, inf, inf}, {3, 2, -1, -1}});
}

TEST_CASE("filter: options keep a temporary filter, which copies of them share") {
  const Index index(device(), matrix(1, {5, 1, 3, 1, 9}), Metric::l1);
  const auto made = [] {
    return SearchOptions{.filter = RowFilter::only(5, std::vector<std::int64_t>{4, 3, 0})};
  };
  SearchOptions options = made();
  const SearchOptions copy = options;
  CHECK(copy.filter.data() == options.filter.data());
  options.filter = {};
  CHECK(index.search(matrix(1, {0}), 1, options) == Neighbors{1, 1, {1}, {1}});
  CHECK(index.search(matrix(1, {0}), 2, copy) == Neighbors{1, 2, {1, 5}, {3, 0}});
  RowFilter filter(5);
  options.filter = filter;
  filter.set(1, false);  // the options copied the former words
  CHECK(index.search(matrix(1, {0}), 1, options) == Neighbors{1, 1, {1}, {1}});
  const std::uint32_t* const words = filter.view().data();
  options.filter = std::move(filter);
  CHECK(options.filter.data() == words);
  CHECK(index.search(matrix(1, {0}), 1, options) == Neighbors{1, 1, {1}, {3}});
}

TEST_CASE("filter: a row at plus infinity comes before those that do not count") {
  const Index index(device(), matrix(1, {3e30f, 0, -3e30f, 2e30f}), Metric::l2);
  const std::vector<std::int64_t> list = {1, 2, 3};
  for (const std::int64_t tile : {1, 2, 3, 4})
    CHECK(index.search(matrix(1, {0}), 4, filtered(RowFilter::only(4, list), {.train_tile = tile})) ==
          Neighbors{1, 4, {0, inf, inf, inf}, {1, 2, 3, -1}});
}

TEST_CASE("filter: the bits of a search of what counts, whatever the tiles, on hard data") {
  const std::int64_t m = 13, n = 211, dims = 7;
  for_each_hard_search(m, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    for (const std::int64_t share : {2, 60}) {
      const Counts each = some(share), same = of_query_0(each);
      const RowFilter of_each = filter_of(each, n, m), of_all = filter_of(same, n, 1);
      const std::int64_t k = share == 2 ? 4 : n;
      const Neighbors expected_each = neighbors_among(metric, queries, train, k, each);
      const Neighbors expected_all = neighbors_among(metric, queries, train, k, same);
      for (const std::int64_t tile : {7, 64, 211}) {
        CAPTURE_ALL(share, k, tile);
        const SearchOptions options{.lists = tile == 64 ? 3 : 0, .query_tile = 5, .train_tile = tile};
        CHECK(difference(index.search(queries, k, filtered(of_each, options)), expected_each) == "");
        CHECK(difference(index.search(queries, k, filtered(of_all, options)), expected_all) == "");
      }
    }
  });
}

TEST_CASE("filter: every selector, with few rows that count, none, and all") {
  const std::int64_t m = 3, n = 700;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 3, Metric::l2);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  const Index index(device(), train, Metric::l2);
  for (const Counts& counts : {some(3), some(150), Counts(all_count), others(-9),
                               Counts([](std::int64_t, std::int64_t) { return false; }),
                               Counts([](std::int64_t q, std::int64_t t) { return t == 699 - q; })}) {
    const RowFilter filter = filter_of(counts, n, m);
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{6}, std::int64_t{33}, std::int64_t{130}, n}) {
      const Neighbors expected = neighbors_among(Metric::l2, queries, train, k, counts);
      CAPTURE(filter.count());
      check_every_selector(index, queries, k, filtered(filter), expected);
    }
  }
}

TEST_CASE("filter: bits behind the last row are ignored, and rows of words may stand apart") {
  const std::int64_t n = 37, apart = 5;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 4, 3, Metric::l1);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 3, Metric::l1);
  const Index index(device(), train, Metric::l1);
  const RowFilter filter = filter_of(some(2), n, 4);
  std::vector<std::uint32_t> words(4 * apart, 0xFFFFFFFFu);
  for (std::int64_t q = 0; q < 4; ++q) {
    words[size(q * apart)] = filter.view()(q, 0);
    words[size(q * apart + 1)] = filter.view()(q, 1) | 0xFFFFFFE0u;
  }
  const SearchOptions options{.query_tile = 3, .filter = {words.data(), 4, 2, apart}};
  CHECK(difference(index.search(queries, n, options),
                   neighbors_among(Metric::l1, queries, train, n, some(2))) == "");
}

TEST_CASE("filter: the plan says what it does, and counts the words") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 6400, 2, Metric::l2);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 64, 2, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const RowFilter one(6400), each(6400, 64);
  const SearchOptions tiles{.proposer = Proposer::none, .query_tile = 64, .train_tile = 64};
  const Plan with_one = index.plan(64, 3, filtered(one, tiles)),
             with_each = index.plan(64, 3, filtered(each, tiles));
  CHECK(!with_one.fused);
  CHECK(with_one.proposer == Proposer::none);
  CHECK(with_one.filters == 1);
  CHECK(with_each.filters == 64);
  CHECK(with_one.reason == "a filter strikes out distances, so they are written, then selected from");
  CHECK(with_each.workspace_bytes == with_one.workspace_bytes + 63 * 200 * sizeof(std::uint32_t));
  CHECK(explain(with_one).find("filter         one for all queries\n") != std::string::npos);
  CHECK(explain(with_each).find("filter         one a query\n") != std::string::npos);
  SearchOptions tight = filtered(each, tiles);
  tight.memory_limit = with_each.workspace_bytes / 3;
  Trace trace;
  CHECK(difference(index.search(queries, 3, tight, &trace), neighbors(Metric::l2, queries, train, 3)) == "");
  CHECK(trace.plan.query_tile < 64);
  CHECK(trace.plan.workspace_bytes <= tight.memory_limit);
  CHECK(trace.seconds.count("mask") == 1);
  CHECK(trace.seconds.count("nearest") == 0);
}

TEST_CASE("filter: a sample is taken of what counts, too") {
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 9, 3, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 300, 3, Metric::l1);
  const Index index(device(), train, Metric::l1);
  const RowFilter filter = filter_of(some(4), 300, 9);
  SearchOptions options = filtered(filter);
  options.sample = device().info().selectors;
  Trace trace;
  CHECK(difference(index.search(queries, 5, options, &trace),
                   neighbors_among(Metric::l1, queries, train, 5, some(4))) == "");
  CHECK(trace.plan.reason.starts_with("sampled query "));
}

TEST_CASE("filter: who does not count has no vote") {
  const Matrix train = matrix(1, {0, 1, 2, 3});
  const std::vector<std::int64_t> labels = {5, 5, 5, 8};
  const Classifier classifier(device(), train, labels);
  const std::vector<std::int64_t> list = {1, 3};
  const RowFilter filter = RowFilter::only(4, list);
  const Classification found = classifier.classify(matrix(1, {0, 3}), 3, filtered(filter));
  CHECK(found.votes == std::vector<std::uint32_t>{1, 1, 1, 1});
  CHECK(found.label == std::vector<std::int64_t>{5, 5});
  CHECK(found.neighbors.row == std::vector<std::int64_t>{1, 3, -1, 3, 1, -1});
}

TEST_CASE("filter: refuses another shape, and ways that cannot heed it") {
  const Index index(device(), matrix(1, {1, 2, 3}));
  const Matrix queries = matrix(1, {1, 2});
  const RowFilter filter(3), three(3, 3), longer(33);
  const auto refusal = [&](const SearchOptions& options) {
    return error_of([&] { index.search(queries, 1, options); });
  };
  CHECK(refusal(filtered(three)) ==
        "invalid_argument: search: the filter is [3, 1], but 3 training rows and 2 queries take [1, 1] or "
        "[2, 1]; RowFilter makes one");
  CHECK(refusal(filtered(longer)) ==
        "invalid_argument: search: the filter is [1, 2], but 3 training rows and 2 queries take [1, 1] or "
        "[2, 1]; RowFilter makes one");
  CHECK(refusal(filtered(filter, {.fused = true})) ==
        "unsupported: search: the fused step keeps no distances that a filter could strike out; drop one of "
        "the two");
  CHECK(index.search(Matrix{0, 1, {}}, 2, filtered(filter)) == Neighbors{0, 2, {}, {}});
}

TEST_CASE("filter: a proposer goes with it, and the chain answers where too few rows are left") {
  const std::int64_t m = sanitized() ? 10 : 40, n = 2000, dims = 24, k = 7;
  for (const DataKind kind : {DataKind::integers, DataKind::clusters}) {
    const Matrix queries = hard_rows(kind, Set::queries, m, dims, Metric::squared_l2);
    const Matrix train = hard_rows(kind, Set::train, n, dims, Metric::squared_l2);
    const Index index(device(), train, Metric::squared_l2);
    const Neighbors plain = index.search(queries, 60);
    // The filters keep half of the rows, all but a few, one in 50, and all but the 60 nearest rows of
    // query 0.
    const Counts far_from_0 = [&](std::int64_t, std::int64_t t) {
      return std::find(plain.row.begin(), plain.row.begin() + 60, t) == plain.row.begin() + 60;
    };
    const Counts most = [](std::int64_t, std::int64_t t) { return t % 400 != 3; };
    for (const Counts& counts : {of_query_0(some(2)), most, of_query_0(some(50)), far_from_0, some(3)})
      for_each_proposer([&](Proposer proposer) {
        CAPTURE(std::string(workloads::name(kind)));
        const RowFilter one = filter_of(counts, n, 1), each = filter_of(counts, n, m);
        Trace trace;
        const Neighbors found = index.search(queries, k, filtered(one, {.proposer = proposer}), &trace);
        CHECK(difference(found, neighbors_among(Metric::squared_l2, queries, train, k, of_query_0(counts))) ==
              "");
        CHECK(trace.plan.proposer == proposer);
        CHECK(trace.plan.masked);
        CHECK(difference(index.search(queries, k, filtered(each, {.proposer = proposer}), &trace),
                         neighbors_among(Metric::squared_l2, queries, train, k, counts)) == "");
        CHECK(trace.plan.struck);
        CHECK(difference(
                  index.search(train.view().slice(5, m), k, filtered(one, {.proposer = proposer, .self = 5})),
                  neighbors_among(
                      Metric::squared_l2, rows_of(train, 5, m), train, k,
                      [&](std::int64_t q, std::int64_t t) { return t != q + 5 && counts(0, t); })) == "");
      });
  }
}

TEST_CASE("filter: one that keeps few rows for many queries is searched by these alone") {
  const std::int64_t m = 70, n = 1500, dims = 5, k = 20;
  for (const Metric metric : number_metrics) {
    CAPTURE(std::string(name(metric)));
    const Matrix queries = hard_rows(DataKind::clusters, Set::queries, m, dims, metric);
    const Matrix train = hard_rows(DataKind::clusters, Set::train, n, dims, metric);
    const Index index(device(), train, metric);
    // the latter leaves fewer than k rows
    for (const std::int64_t share : {std::int64_t{9}, std::int64_t{200}}) {
      const Counts counts = of_query_0(some(share));
      const RowFilter filter = filter_of(counts, n, 1);
      Trace trace;
      CHECK(difference(index.search(queries, k, filtered(filter), &trace),
                       neighbors_among(metric, queries, train, k, counts)) == "");
      CHECK(trace.plan.gathered == gathers_few_rows());
      CHECK(trace.plan == index.plan(m, k, filtered(filter)));
      CHECK(difference(
                index.search(train.view().slice(3, m), k, filtered(filter, {.self = 3})),
                neighbors_among(metric, rows_of(train, 3, m), train, k, [&](std::int64_t q, std::int64_t t) {
                  return t != q + 3 && counts(0, t);
                })) == "");
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
