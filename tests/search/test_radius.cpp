// Tests searches for all training rows within a radius: docs/contract.md, section 2.
#include <stop_token>
#include <thread>

#include "common/searches.hpp"
#include "common/subsets.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

const std::vector<float> radius_1 = {1};

/// Returns radii at which rows lie exactly: the distance of some row of each query, and a little less
/// and more.
std::vector<float> radii_of(Metric metric, const Matrix& queries, const Matrix& train) {
  std::vector<float> radii;
  const Neighbors all = neighbors(metric, queries, train, train.rows);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const float distance = all.distance[size(q * train.rows + q * 37 % train.rows)];
    const float way = q % 3 == 1 ? -inf : inf;
    radii.push_back(q % 3 == 0 ? distance : std::nextafter(distance, way));
  }
  return radii;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("radius: by hand, nearest first, equal distances in the order of the rows") {
  const Index index(device(), matrix(1, {3, 1, -1, 0, 8, 1}), Metric::l1);
  CHECK(index.within(matrix(1, {0}), radius_1) == RadiusNeighbors{1, {0, 4}, {0, 1, 1, 1}, {3, 1, 2, 5}});
  const std::vector<float> each = {1, 0, 4};
  CHECK(index.within(matrix(1, {5, 8, 5}), each) ==
        RadiusNeighbors{3, {0, 0, 1, 5}, {0, 2, 3, 4, 4}, {4, 0, 4, 1, 5}});
  CHECK(index.within(matrix(1, {5, 8, 5}), each).count(2) == 4);
  CHECK(index.within(Matrix{0, 1, {}}, radius_1) == RadiusNeighbors{0, {0}, {}, {}});
  CHECK(index.within(Matrix{0, 1, {}}, std::vector<float>{}) == RadiusNeighbors{0, {0}, {}, {}});
}

TEST_CASE("radius: the distance that is shown decides, not what is under its root") {
  // The squares are 1 + 2^-23 and 1, and the float root of both is 1.
  const Index index(device(), matrix(2, {1, 0x1.6p-12f, /**/ 1, 0}), Metric::l2);
  const std::vector<float> less = {std::nextafter(1.0f, 0.0f)};
  CHECK(index.within(matrix(2, {0, 0}), radius_1) == RadiusNeighbors{1, {0, 2}, {1, 1}, {1, 0}});
  CHECK(index.within(matrix(2, {0, 0}), less) == RadiusNeighbors{1, {0, 0}, {}, {}});
}

TEST_CASE("radius: zero, minus zero, negative, infinite, and rows that overflowed") {
  const Index index(device(), matrix(1, {0, -0.0f, 1, 3e30f}), Metric::l2);
  const Matrix query = matrix(1, {0});
  const auto rows = [&](const Index& of, float radius) { return of.within(query, std::vector{radius}).row; };
  using Rows = std::vector<std::int64_t>;
  CHECK(rows(index, 0.0f) == Rows{0, 1});
  CHECK(rows(index, -0.0f) == Rows{0, 1});
  CHECK(rows(index, -denormal) == Rows{});
  CHECK(rows(index, -inf) == Rows{});
  CHECK(rows(index, flt_max) == Rows{0, 1, 2});
  CHECK(rows(index, inf) == Rows{0, 1, 2, 3});
  CHECK(index.within(query, std::vector{inf}).distance == std::vector<float>{0, 0, 1, inf});
  const Index products(device(), matrix(1, {1, 2, -3}), Metric::negative_dot);
  CHECK(products.within(matrix(1, {2}), std::vector{-2.0f}) == RadiusNeighbors{1, {0, 2}, {-4, -2}, {1, 0}});
}

TEST_CASE("radius: the rows of a search through all, whatever the tiles, on hard data") {
  const std::int64_t m = 13, n = 211, dims = 7;
  for_each_hard_search(m, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    const std::vector<float> radii = radii_of(metric, queries, train);
    const RadiusNeighbors expected = within(metric, queries, train, radii);
    for (const std::int64_t tile : {0, 7, 64, 211}) {
      CAPTURE(tile);
      CHECK(difference(index.within(queries, radii, {.query_tile = tile ? 5 : 0, .train_tile = tile}),
                       expected) == "");
    }
  });
}

TEST_CASE("radius: a few crowded queries among many do not disturb the others") {
  const std::int64_t m = 40, n = 3000;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, 4, Metric::l1);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 4, Metric::l1);
  const Index index(device(), train, Metric::l1);
  std::vector<float> radii(size(m), 0.5f);
  radii[3] = inf;
  for (const std::size_t q : {17u, 18u, 39u}) radii[q] = 3;
  const RadiusNeighbors expected = within(Metric::l1, queries, train, radii);
  REQUIRE(expected.count(3) == n);
  for (const std::int64_t tile : {500, 3000}) {
    Trace trace;
    CHECK(difference(index.within(queries, radii, {.train_tile = tile}, &trace), expected) == "");
    CHECK(trace.plan.candidates < trace.plan.train_tile);
    CHECK(trace.collected == static_cast<std::int64_t>(expected.row.size()));
  }
  CHECK(difference(index.within(queries, std::vector{inf}), within(Metric::l1, queries, train, {inf})) == "");
}

TEST_CASE("radius: with a filter, without the query itself, and with both") {
  const std::int64_t n = 200, m = 50, first = 100;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  const Matrix queries{
      m, 3, std::vector<float>(train.values.begin() + first * 3, train.values.begin() + (first + m) * 3)};
  const Index index(device(), train, Metric::l2);
  const Counts each = some(2), same = of_query_0(each);
  const RowFilter of_each = filter_of(each, n, m), of_all = filter_of(same, n, 1);
  for (const float radius : {0.0f, 2.0f, inf})
    for (const std::int64_t tile : {0, 9, 150}) {
      CAPTURE_ALL(radius, tile);
      const std::vector<float> radii = {radius};
      SearchOptions options{.query_tile = tile ? 16 : 0, .train_tile = tile};
      options.filter = of_each;
      CHECK(difference(index.within(queries, radii, options),
                       within(Metric::l2, queries, train, radii, each)) == "");
      options.self = first;
      CHECK(difference(index.within(queries, radii, options),
                       within(Metric::l2, queries, train, radii, [&](std::int64_t q, std::int64_t t) {
                         return each(q, t) && t != first + q;
                       })) == "");
      options.filter = {};
      CHECK(difference(index.within(queries, radii, options),
                       within(Metric::l2, queries, train, radii, others(first))) == "");
      options.self.reset();
      options.filter = of_all;
      CHECK(difference(index.within(queries, radii, options),
                       within(Metric::l2, queries, train, radii, same)) == "");
    }
  const RowFilter none(n, 1, false);
  SearchOptions options{.filter = none};
  CHECK(index.within(queries, std::vector{inf}, options).row.empty());
}

TEST_CASE("radius: features, and rows that were added") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 120, 3, Metric::l1);
  Matrix chosen{120, 2, {}};
  for (std::int64_t t = 0; t < 120; ++t)
    for (const std::size_t d : {0u, 2u}) chosen.values.push_back(train.row(t)[d]);
  const Index index =
      Index(device(), train.view().slice(0, 70), Metric::l1, {{2, 0}}).with(train.view().slice(70, 50));
  CHECK(difference(index.within(train, radius_1), within(Metric::l1, chosen, chosen, radius_1)) == "");
}

TEST_CASE("radius: the plan, the trace, threads, and a memory limit that changes no bit") {
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 50, 6, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 1600, 6, Metric::l1);
  const Index index(device(), train, Metric::l1);
  const std::vector<float> radii = radii_of(Metric::l1, queries, train);
  const RadiusNeighbors expected = within(Metric::l1, queries, train, radii);
  const RowFilter all(1600);
  SearchOptions options{.filter = all};
  Trace trace;
  CHECK(difference(index.within(queries, radii, options, &trace), expected) == "");
  CHECK(trace.plan.problem == Problem{Metric::l1, 1600, 50, 6, 0});
  CHECK(explain(trace.plan).find("chain          distance, then collect and rerank\n") != std::string::npos);
  CHECK(trace.query_tiles >= 1);
  CHECK(trace.train_tiles >= 1);
  for (const char* step : {"distance", "mask", "collect", "upload", "finish"}) {
    CAPTURE(step);
    CHECK(trace.seconds.count(step) == 1);
  }
  CHECK(index.within(queries, std::vector{0.0f}, options, &trace).first.size() == 51);
  for (const std::uint32_t threads : {1u, 3u})
    CHECK(difference(index.within(queries, radii, {.threads = threads}), expected) == "");
  index.within(queries, radii, {}, &trace);
  const std::size_t usual = trace.plan.workspace_bytes;
  for (const std::size_t limit : {usual / 2, usual / 10, usual / 100}) {
    CAPTURE(limit);
    SearchOptions tight{.memory_limit = limit};
    const std::string refusal = error_of([&] {
      CHECK(difference(index.within(queries, radii, tight, &trace), expected) == "");
      CHECK(trace.plan.workspace_bytes <= limit);
    });
    if (refusal != "nothing was thrown") CHECK(refusal.starts_with("out_of_memory: "));
  }
  SearchOptions tiny{.memory_limit = 10};
  CHECK(error_of([&] { index.within(queries, radii, tiny); }).starts_with("out_of_memory: "));
}

TEST_CASE("radius: threads may search one index at once") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 500, 4, Metric::l1);
  const Index index(device(), train, Metric::l1);
  const RadiusNeighbors near = within(Metric::l1, train, train, {2}),
                        all = within(Metric::l1, train, train, {inf});
  std::vector<std::string> differences(4, "not searched");
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < differences.size(); ++i)
    threads.emplace_back([&, i] {
      const bool some = i % 2 == 0;
      const SearchOptions options{.query_tile = 60, .train_tile = 130};
      differences[i] =
          difference(index.within(train, std::vector{some ? 2.0f : inf}, options), some ? near : all);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(differences == std::vector<std::string>(4));
}

TEST_CASE("radius: tells how far it is, and stops when asked") {
  const Index index(device(), matrix(1, {1, 2, 3, 4}), Metric::l1);
  std::stop_source source;
  std::vector<double> seen;
  SearchOptions options{.query_tile = 1, .train_tile = 2, .stop = source.get_token()};
  options.progress = [&](const Progress& progress) {
    seen.push_back(progress.fraction);
    if (seen.size() == 7) source.request_stop();
  };
  CHECK(index.within(matrix(1, {1, 2, 3}), radius_1, options).row.size() == 8);
  CHECK(seen.size() == 6);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() == 1);
  CHECK(error_of([&] {
          index.within(matrix(1, {1, 2, 3}), radius_1, options);
        }) == "interrupted: search: stopped after 1 of 6 steps, as was asked; nothing is returned");
}

TEST_CASE("radius: refuses what the contract refuses, and what has no part in it") {
  const Index index(device(), matrix(1, {1, 2, 3}), Metric::l1);
  const Matrix queries = matrix(1, {1, 2});
  const auto refusal = [&](const std::vector<float>& radii, const SearchOptions& options = {}) {
    return error_of([&] { index.within(queries, radii, options); });
  };
  CHECK(refusal({1, 2, 3}) ==
        "invalid_argument: within: 3 radii for 2 queries; give one for all, or one a query");
  CHECK(refusal({}) == "invalid_argument: within: 0 radii for 2 queries; give one for all, or one a query");
  CHECK(refusal({1, std::nanf("")}) ==
        "invalid_argument: within: radius 1 is NaN; every radius must be a number");
  CHECK(error_of([&] {
          index.within(matrix(2, {1, 2}), radius_1);
        }) == "invalid_argument: within: queries have 2 columns but the index has 1; give as many");
  CHECK(error_of([&] { index.within(matrix(1, {inf}), radius_1); }) ==
        "invalid_argument: within: query row 0, column 0 holds an infinity; make every value finite, or "
        "leave the row out");
  const std::string rest = " has no part in a radius search, which keeps all that is near; drop it";
  CHECK(refusal({1}, {.selector = Selector::radix}) == "unsupported: within: selector radix" + rest);
  CHECK(refusal({1}, {.proposer = Proposer::fp16}) == "unsupported: within: proposer fp16" + rest);
  CHECK(refusal({1}, {.fused = true}) == "unsupported: within: the fused step" + rest);
  CHECK(refusal({1}, {.lists = 2}) == "unsupported: within: lists = 2" + rest);
  CHECK(refusal({1}, {.sample = {Selector::radix}}) ==
        "unsupported: within: a sample to choose a selector by" + rest);
  CHECK(refusal({1}, {.self = 2}) ==
        "invalid_argument: within: self = 2 with 2 queries, but the index holds 3 rows; all of self ... self "
        "+ m - 1 must be rows");
  const RowFilter filter(33);
  SearchOptions options{.filter = filter};
  CHECK(refusal({1}, options).starts_with("invalid_argument: within: the filter is [1, 2], but 3 "));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
