// Tests counts of rows within radii: docs/contract.md, section 2.
#include <cmath>
#include <stop_token>

#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "common/searches.hpp"
#include "doubles/doubles_oracle.hpp"
#include "search/radius/counted.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

/// Returns rows of 3 columns between 0 and 1, on a grid of `steps` a column, so that distances are equal.
Matrix cloud(std::int64_t rows, std::uint64_t seed, std::int64_t steps = 1 << 20) {
  workloads::Random random(seed);
  Matrix made{rows, 3, {}};
  for (std::int64_t i = 0; i < rows * 3; ++i)
    made.values.push_back(static_cast<float>(random.below(steps)) / static_cast<float>(steps));
  return made;
}

/// Returns the options of counts by boxes and by distances; only the latter where the device has no boxes.
std::vector<SearchOptions> both_ways() {
  std::vector<SearchOptions> ways{{.boxes = false}, {}};
  const Index probe(device(), cloud(40, 1));
  const std::vector<double> one{0.5};
  if (error_of([&] { probe.count(cloud(2, 2), {one}, {.boxes = true}); }) == "nothing was thrown")
    ways.push_back({.boxes = true});
  return ways;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("count: by hand, at a distance and below it") {
  const Index index(device(), matrix(1, {3, 1, -1, 0, 8, 1}), Metric::l1);
  const Matrix queries = matrix(1, {0, 8});
  const std::vector<double> one{1}, each{1, 7}, three{0, 1, 8};
  using Numbers = std::vector<std::int64_t>;
  CHECK(index.count(queries, {one}) == Numbers{4, 1});
  CHECK(index.count(queries, {one, true}) == Numbers{1, 1});
  CHECK(index.count(queries, {each}) == Numbers{4, 4});
  CHECK(index.count(queries, {{three.data(), 1, 3}}) == Numbers{1, 4, 6, 1, 1, 5});
  CHECK(index.count(queries, {{three.data(), 1, 3}, true}) == Numbers{0, 1, 5, 0, 1, 4});
  CHECK(index.two_point(queries, {{three.data(), 1, 3}}) == Numbers{2, 5, 11});
  CHECK(index.two_point(Matrix{0, 1, {}}, {{three.data(), 1, 3}}) == Numbers{0, 0, 0});
  CHECK(index.count(Matrix{0, 1, {}}, {one}).empty());
}

TEST_CASE("count: the distance that is shown decides, not what is under its root") {
  const Index index(device(), matrix(2, {1, 0x1.6p-12f, /**/ 1, 0}), Metric::l2);
  const std::vector<double> radii{std::nextafter(1.0, 0.0), 1, std::nextafter(1.0, 2.0)};
  const CountRadii closed{{radii.data(), 1, 3}}, open{{radii.data(), 1, 3}, true};
  CHECK(index.count(matrix(2, {0, 0}), closed) == std::vector<std::int64_t>{0, 2, 2});
  CHECK(index.count(matrix(2, {0, 0}), open) == std::vector<std::int64_t>{0, 0, 2});
}

TEST_CASE("count: zero, minus zero, negative, infinite, and rows that overflowed") {
  const Index index(device(), matrix(1, {0, -0.0f, 1, 3e30f}), Metric::l2);
  const double infinite = static_cast<double>(inf);
  const std::vector<double> radii{-infinite, -1e-300, -0.0, 0, 1e-300, 1e300, infinite};
  const Matrix query = matrix(1, {0});
  using Numbers = std::vector<std::int64_t>;
  for (const SearchOptions& way : both_ways()) {
    CHECK(index.count(query, {{radii.data(), 1, 7}}, way) == Numbers{0, 0, 2, 2, 2, 3, 4});
    CHECK(index.count(query, {{radii.data(), 1, 7}, true}, way) == Numbers{0, 0, 0, 0, 2, 3, 3});
  }
  const Index products(device(), matrix(1, {1, 2, -3}), Metric::negative_dot);
  const std::vector<double> below{-4, -2};
  CHECK(products.count(matrix(1, {2}), {{below.data(), 1, 2}}) == Numbers{1, 2});
  CHECK(products.count(matrix(1, {2}), {{below.data(), 1, 2}, true}) == Numbers{0, 1});
}

TEST_CASE("count: as many as plain loops find, by every metric and way, on hard data") {
  const std::int64_t m = 11, n = 197, dims = 5;
  for_each_hard_search(m, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    const std::vector<double> radii = radii_among(metric, queries, train);
    for (const bool strict : {false, true}) {
      const CountRadii many{{radii.data(), m, 6}, strict}, one{{radii.data() + 1, m, 1, 6}, strict},
          same{{radii.data() + 6, 1, 6}, strict};
      for (const CountRadii& asked : {many, one, same}) {
        const std::vector<std::int64_t> expected = counted(metric, queries, train, asked);
        CHECK(index.count(queries, asked) == expected);
        CHECK(index.count(queries, asked, {.query_tile = 4, .train_tile = 50}) == expected);
        CHECK(index.two_point(queries, asked) == summed(expected, size(asked.radius.cols())));
      }
    }
  });
}

TEST_CASE("count: by boxes, some of which count whole, at every radius") {
  const Matrix train = cloud(3000, 3, 64), queries = cloud(70, 4, 64);
  for (const Metric metric : {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf, Metric::cosine}) {
    CAPTURE(std::string(name(metric)));
    Matrix rows = train;
    rows.values[0] = 1;  // no row of zeros
    if (metric == Metric::cosine)
      for (float& value : rows.values) value += 1;
    Matrix asked = queries;
    if (metric == Metric::cosine)
      for (float& value : asked.values) value += 1;
    const Index index(device(), rows, metric);
    const std::vector<double> radii = radii_among(metric, asked, rows);
    for (const bool strict : {false, true}) {
      const CountRadii each{{radii.data(), asked.rows, 6}, strict};
      const std::vector<std::int64_t> expected = counted(metric, asked, rows, each);
      for (const SearchOptions& way : both_ways()) CHECK(index.count(asked, each, way) == expected);
    }
  }
}

TEST_CASE("count: rows on the sides of boxes, and equal rows") {
  Matrix train{2048, 2, {}};
  for (int t = 0; t < 2048; ++t)
    for (const int value : {t % 8, t / 8 % 8}) train.values.push_back(static_cast<float>(value));
  const Matrix queries = matrix(2, {0, 0, 3, 4, 7.5f, -1, 100, 100});
  const std::vector<double> radii{0, 1, 2, 3, 5, 9, 200};
  for (const Metric metric : {Metric::linf, Metric::l1, Metric::l2}) {
    const Index index(device(), train, metric);
    for (const bool strict : {false, true}) {
      const CountRadii asked{{radii.data(), 1, 7}, strict};
      for (const SearchOptions& way : both_ways())
        CHECK(index.count(queries, asked, way) == counted(metric, queries, train, asked));
    }
  }
}

TEST_CASE("count: with a filter, without the query itself, and with both") {
  const std::int64_t n = 2100, m = 300, first = 500;
  const Matrix train = cloud(n, 5, 16);
  const Matrix queries{
      m, 3, std::vector<float>(train.values.begin() + first * 3, train.values.begin() + (first + m) * 3)};
  const Index index(device(), train, Metric::l2);
  const Counts each = some(3), same = of_query_0(each), rest = others(first);
  const RowFilter of_each = filter_of(each, n, m), of_all = filter_of(same, n, 1);
  const std::vector<double> radii{0, 0.125, 0.5, 2};
  for (const bool strict : {false, true})
    for (SearchOptions options : both_ways()) {
      const CountRadii asked{{radii.data(), 1, 4}, strict};
      const auto check = [&](const Counts& counts) {
        const std::vector<std::int64_t> expected = counted(Metric::l2, queries, train, asked, counts);
        CHECK(index.count(queries, asked, options) == expected);
        CHECK(index.two_point(queries, asked, options) == summed(expected, 4));
      };
      options.filter = of_all;
      check(same);
      options.self = first;
      check([&](std::int64_t q, std::int64_t t) { return same(q, t) && rest(q, t); });
      options.filter = of_each;
      check([&](std::int64_t q, std::int64_t t) { return each(q, t) && rest(q, t); });
      options.filter = {};
      check(rest);
      options.self.reset();
      options.filter = of_each;
      check(each);
    }
}

TEST_CASE("count: removed rows and ids, columns that count, and added rows") {
  const Matrix train = cloud(900, 6, 8), queries = cloud(20, 7, 8);
  const std::vector<double> radii{0, 0.25, 0.5};
  const CountRadii asked{{radii.data(), 1, 3}};
  std::vector<std::int64_t> ids, removed;
  for (std::int64_t t = 0; t < 900; ++t) ids.push_back((t * 7 % 900) * 10);
  for (std::int64_t t = 0; t < 900; t += 3) removed.push_back(ids[size(t)]);
  const Index index(device(), train, Metric::l2, {.ids = ids});
  const Counts left = [](std::int64_t, std::int64_t t) { return t % 3 != 0; };
  CHECK(index.count(queries, asked) == counted(Metric::l2, queries, train, asked));
  CHECK(index.without(removed).count(queries, asked) == counted(Metric::l2, queries, train, asked, left));
  CHECK(index.without(removed).compact().count(queries, asked) ==
        counted(Metric::l2, queries, train, asked, left));
  const Index grown = Index(device(), train.view().slice(0, 500), Metric::l1, {.features = {2, 0}})
                          .with(train.view().slice(500, 400));
  CHECK(grown.count(queries, asked) ==
        counted(Metric::l1, columns_of(queries, {0, 2}), columns_of(train, {0, 2}), asked));
}

TEST_CASE("count: sets of devices, and rows that stay in a source") {
  const Matrix train = cloud(700, 8, 32), queries = cloud(60, 9, 32);
  const std::vector<double> each = radii_among(Metric::l2, queries, train);
  const CountRadii asked{{each.data(), 60, 6}}, same{{each.data(), 1, 6}, true};
  const auto check = [&](const Index& index) {
    CHECK(index.count(queries, asked) == counted(Metric::l2, queries, train, asked));
    CHECK(index.count(queries, same) == counted(Metric::l2, queries, train, same));
    const SearchOptions left_out{.self = 3};
    const Matrix own{60, 3, std::vector<float>(train.values.begin() + 9, train.values.begin() + 189)};
    CHECK(index.count(own, same, left_out) == counted(Metric::l2, own, train, same, others(3)));
    const RowFilter filter = filter_of(some(2), 700, 60);
    SearchOptions filtered{};
    filtered.filter = filter;
    CHECK(index.count(queries, asked, filtered) == counted(Metric::l2, queries, train, asked, some(2)));
  };
  for (const Placement placement : {Placement::split, Placement::replicate})
    for (const bool once : {false, true})
      check(Index(set_of(2), train, Metric::l2, {.placement = placement, .deduplicate = once}));
  check(Index(one_device(), train, Metric::l2, {.deduplicate = true}));
  check(Index(one_device(), memory_source(train), Metric::l2, streamed(100)));
}

TEST_CASE("count: in double precision") {
  std::vector<double> values;
  for (const float value : cloud(400, 10, 64).values) values.push_back(1e6 + static_cast<double>(value) / 3);
  const RowsView rows(values.data(), Element::f64, 400, 3), some_rows(values.data(), Element::f64, 30, 3);
  for (const Metric metric : {Metric::l2, Metric::l1, Metric::cosine}) {
    const Index index(device(), rows, metric);
    REQUIRE(index.arithmetic() == Arithmetic::f64);
    const Neighbors all = index.search(some_rows, 400);
    const std::vector<double> radii{0, all.distance64[7], all.distance64[60], all.distance64[399]};
    for (const bool strict : {false, true})
      for (const bool left_out : {false, true}) {
        SearchOptions options{};
        if (left_out) options.self = 0;
        std::vector<std::int64_t> expected;
        for (std::int64_t q = 0; q < 30; ++q)
          for (const double radius : radii) {
            std::int64_t count = 0;
            for (std::size_t i = size(q * 400); i < size((q + 1) * 400); ++i)
              count += (strict ? all.distance64[i] < radius : all.distance64[i] <= radius) &&
                       !(left_out && all.row[i] == q);
            expected.push_back(count);
          }
        CHECK(index.count(some_rows, {{radii.data(), 1, 4}, strict}, options) == expected);
      }
  }
}

TEST_CASE("count: many rows in boxes, beside within()") {
  const std::int64_t n = device().info().kind == DeviceKind::cpu ? 100000 : 20000;
  const Matrix train = cloud(n, 11), queries = cloud(400, 12);
  const Index index(device(), train);
  const std::vector<float> wide{0.3f};
  const std::vector<double> radii{0.001, 0.05, static_cast<double>(0.3f), 2};
  const RadiusNeighbors found = index.within(queries, wide);
  for (const SearchOptions& way : both_ways()) {
    Trace trace;
    const std::vector<std::int64_t> counts = index.count(queries, {{radii.data(), 1, 4}}, way, &trace);
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      CHECK(counts[size(q * 4 + 2)] == found.count(q));
      CHECK(counts[size(q * 4 + 3)] == n);
    }
    if (way.boxes == true) {
      CHECK(trace.plan.boxes);
      CHECK(trace.leaves < 400 * n / 32);  // most leaves count whole, or not at all
    }
  }
}

TEST_CASE("count: by more radii than a launch of a GPU takes, equal ones among them") {
  const Matrix train = cloud(700, 13, 64), queries = cloud(70, 14, 64);
  std::vector<double> radii;
  for (int r = 0; r < 601; ++r) radii.push_back(r / 4 / 100.0);
  const CountRadii asked{{radii.data(), 1, 601}};
  const Index index(device(), train, Metric::l2);
  const std::vector<std::int64_t> expected = counted(Metric::l2, queries, train, asked);
  for (SearchOptions way : both_ways()) {
    CHECK(index.count(queries, asked, way) == expected);
    const RowFilter filter = filter_of(of_query_0(some(3)), 700, 1);
    way.filter = filter;
    CHECK(index.count(queries, asked, way) ==
          counted(Metric::l2, queries, train, asked, of_query_0(some(3))));
  }
}

TEST_CASE("count: tells how far it is, stops, and heeds a memory limit") {
  const Index index(device(), matrix(1, {1, 2, 3, 4}), Metric::l1);
  const std::vector<double> one{1};
  std::vector<double> seen;
  std::stop_source source;
  const auto tell = [&](const Progress& progress) {
    seen.push_back(progress.fraction);
    if (seen.size() == 7) source.request_stop();
  };
  const SearchOptions options{.query_tile = 1, .train_tile = 2, .stop = source.get_token(), .progress = tell};
  CHECK(index.count(matrix(1, {1, 2, 3}), {one}, options) == std::vector<std::int64_t>{2, 3, 3});
  CHECK(seen.size() == 6);
  CHECK(seen.back() == 1);
  CHECK(error_of([&] { index.count(matrix(1, {1, 2, 3}), {one}, options); }).starts_with("interrupted: "));
  CHECK(error_of([&] {
          index.count(matrix(1, {1, 2}), {one}, {.memory_limit = 10});
        }).starts_with("out_of_memory: "));
}

TEST_CASE("count: refuses what the contract refuses") {
  const Index index(device(), matrix(1, {1, 2, 3}), Metric::l1);
  const Matrix queries = matrix(1, {1, 2});
  const auto refusal = [&](const CountRadii& radii, const SearchOptions& options = {}) {
    return error_of([&] { index.count(queries, radii, options); });
  };
  const std::vector<double> three{1, 2, 3}, down{2, 1}, none{}, nan{1, std::nan("")}, one{1};
  const std::string shape = " for 2 queries; give [1, r] for all or [m, r], r at least 1";
  CHECK(refusal({three}) == "invalid_argument: count: the radii are [3, 1]" + shape);
  CHECK(refusal({none}) == "invalid_argument: count: the radii are [0, 1]" + shape);
  CHECK(refusal({{one.data(), 1, 0}}) == "invalid_argument: count: the radii are [1, 0]" + shape);
  CHECK(refusal({nan}) == "invalid_argument: count: radius 0 of row 1 is NaN; every radius must be a number");
  CHECK(refusal({{down.data(), 1, 2}}) ==
        "invalid_argument: count: radius 1 of row 0 is 1, below that before it; give radii that ascend");
  CHECK(error_of([&] {
          index.count(matrix(2, {1, 2}), {one});
        }) == "invalid_argument: count: queries have 2 columns but the index has 1; give as many");
  CHECK(error_of([&] {
          index.two_point(queries, {{down.data(), 1, 2}});
        }) ==
        "invalid_argument: two_point: radius 1 of row 0 is 1, below that before it; give radii that ascend");
  CHECK(error_of([&] {
          index.two_point(matrix(2, {1, 2}), {one});
        }) == "invalid_argument: two_point: queries have 2 columns but the index has 1; give as many");
  CHECK(error_of([&] {
          index.two_point(queries, {one}, {.radius = 2});
        }).starts_with("unsupported: two_point: option radius = 2 has no part"));
  const std::string rest = " has no part in a radius search, which keeps all that is near; drop it";
  CHECK(refusal({one}, {.selector = Selector::radix}) == "unsupported: count: selector radix" + rest);
  CHECK(refusal({one}, {.radius = 2}) == "unsupported: count: option radius = 2" + rest);
  CHECK(refusal({one}, {.self = 2}).starts_with("invalid_argument: count: self = 2 with 2 queries"));
  CHECK(refusal({one}, {.checkpoint = "x"}).starts_with("unsupported: count: a checkpoint is kept of"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
