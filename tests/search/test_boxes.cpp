// Tests searches by boxes (docs/boxes.md): they have the bits of the chain, whatever the data, the order and
// the filter.
#include "common/parted/sets.hpp"
#include "common/sanitizers.hpp"
#include "common/searches.hpp"
#include "common/subsets.hpp"
#include "kith/index.hpp"
#include "kith/knn_graph.hpp"
#include "kith/spi/boxes.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

constexpr Metric bounded[] = {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf};

/// Returns the largest k by boxes; 0 where the device has none, and then there is nothing to test.
std::int64_t most() {
  return device().info().boxes_max_k;
}

SearchOptions by_boxes() {
  return {.boxes = true};
}

/// Makes `rows` rows of `dims` columns from make(random, r, d).
template <class Make>
Matrix rows_of(std::int64_t rows, std::int64_t dims, std::uint64_t seed, const Make& make) {
  workloads::Random random(seed);
  Matrix made{rows, dims, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < dims; ++d) made.values.push_back(make(random, r, d));
  return made;
}

float uniform(workloads::Random& random) {
  return static_cast<float>(random.below(1 << 24)) * 0x1p-24f;
}

void check_boxes(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k,
                 SearchOptions options = by_boxes()) {
  if (k > most()) return;
  CAPTURE_ALL(name(metric), train.rows, queries.rows, train.cols, k);
  Trace trace;
  const Neighbors found = Index(device(), train, metric).search(queries, k, options, &trace);
  CHECK(difference(found, neighbors(metric, queries, train, k)) == "");
  CHECK(trace.plan.boxes);
  CHECK(trace.leaves > 0);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("boxes: by hand, with ties in the order of the rows") {
  if (most() < 4) return;
  const Matrix train = matrix(1, {3, -1, 1, 5, 9, -1});
  CHECK(Index(device(), train, Metric::l1).search(matrix(1, {0, 5}), 4, by_boxes()) ==
        Neighbors{2, 4, {1, 1, 1, 3, 0, 2, 4, 4}, {1, 2, 5, 0, 3, 0, 2, 4}});
}

TEST_CASE("boxes: all hard data, every metric that has bounds, leaves that are not full") {
  std::size_t turn = 0;
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : bounded)
      for (const std::int64_t n : {1, 31, 33, 700, 1025, 2600}) {
        if (!workloads::admits(metric, kind)) continue;
        CAPTURE(std::string(workloads::name(kind)));
        const std::int64_t dims = std::vector<std::int64_t>{1, 2, 3, 5, 8, 17}[turn++ % 6];
        const std::int64_t k = std::min(n, std::vector<std::int64_t>{1, 5, 16, 33, 64}[turn % 5]);
        check_boxes(metric, hard_rows(kind, Set::queries, 9, dims, metric),
                    hard_rows(kind, Set::train, n, dims, metric), k);
      }
}

TEST_CASE("boxes: the data that deceive: a line, shells, a crowd around each query, one row far away") {
  const std::int64_t n = 2100, m = 6;
  const auto line = [](auto& random, auto, auto d) { return d == 0 ? uniform(random) : 0.5f; };
  const auto crowd = [&](auto& random, std::int64_t r, auto) {
    return static_cast<float>(r % m) + (uniform(random) - 0.5f) * 0x1p-12f;
  };
  const auto far = [](auto& random, std::int64_t r, auto) { return r == 77 ? 1e30f : uniform(random); };
  const auto place = [](auto&, std::int64_t r, auto) { return static_cast<float>(r); };
  Matrix shells = rows_of(n, 3, 5, [](auto& random, auto, auto) { return uniform(random) - 0.5f; });
  for (std::int64_t r = 0; r < n; ++r) {
    float* const row = shells.values.data() + r * 3;
    const float length = std::sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
    for (std::int64_t d = 0; d < 3; ++d) row[d] *= static_cast<float>(1 + r % 2) / length;
  }
  const Matrix queries = rows_of(m, 3, 1, place), centre{1, 3, {0, 0, 0}};
  for (const Metric metric : bounded)
    for (const std::int64_t k : {1, 17, 300}) {
      check_boxes(metric, queries, rows_of(n, 3, 2, line), k);
      check_boxes(metric, queries, rows_of(n, 3, 3, crowd), k);
      check_boxes(metric, queries, rows_of(n, 3, 4, far), k);
      check_boxes(metric, centre, shells, k);
    }
}

TEST_CASE("boxes: rows that lie on the sides of their boxes, and queries one step beside them") {
  // Every row is a corner, so a bound that is too large by its last bit loses one.
  for (const float scale : {1.0f, 0x1p-130f, 1e17f, 3.0000002f}) {
    const auto grid = [&](auto& random, auto, auto) {
      return static_cast<float>(random.below(40)) * scale + scale * 0.1f;
    };
    Matrix queries = rows_of(40, 2, 9, grid);
    for (std::size_t i = 0; i < queries.values.size(); ++i)
      queries.values[i] = std::nextafter(queries.values[i], i % 3 == 0 ? -inf : i % 3 == 1 ? inf : 0.0f);
    for (const Metric metric : bounded)
      for (const std::int64_t k : {1, 3, 40}) check_boxes(metric, queries, rows_of(1500, 2, 8, grid), k);
  }
}

TEST_CASE("boxes: many queries, which are taken in another order, in tiles") {
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  SearchOptions tiles = by_boxes();
  tiles.query_tile = 300;
  const std::int64_t m = sanitized() ? 1100 : 3000;  // sorted from 256 on
  for (const std::int64_t k : {1, 10}) {
    check_boxes(Metric::l2, rows_of(700, 3, 1, any), rows_of(m, 3, 2, any), k);
    check_boxes(Metric::l1, rows_of(700, 3, 3, any), rows_of(m, 3, 4, any), k, tiles);
  }
}

TEST_CASE("boxes: fewer queries than leaves, which are taken from block to block") {
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  const std::int64_t n = 20000, m = 600;  // 625 leaves, and from 214 queries on some read the same
  check_boxes(Metric::l2, rows_of(m, 2, 5, any), rows_of(n, 2, 6, any), 16);
}

TEST_CASE("boxes: with a filter, one for all and one a query, and without the query's own row") {
  if (most() < 6) return;
  const std::int64_t n = 1100, first = 20, m = 300;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
  const auto begin = train.values.begin() + first * 3;
  const Matrix queries{m, 3, std::vector<float>(begin, begin + m * 3)};
  const Index index(device(), train, Metric::l2);
  const Counts each = some(3), same = of_query_0(each);
  const RowFilter of_each = filter_of(each, n, m), of_all = filter_of(same, n, 1);
  const auto check = [&](const RowFilter& filter, const Counts& counts) {
    SearchOptions options = by_boxes();
    options.filter = filter;
    CHECK(difference(index.search(queries, 5, options),
                     neighbors_among(Metric::l2, queries, train, 5, counts)) == "");
    options.self = first;
    const Counts both = [&](std::int64_t q, std::int64_t t) { return counts(q, t) && t != first + q; };
    CHECK(difference(index.search(queries, 5, options),
                     neighbors_among(Metric::l2, queries, train, 5, both)) == "");
  };
  check(of_each, each);
  check(of_all, same);
}

TEST_CASE("boxes: rows within a radius, those of crowded queries among them") {
  if (most() < 300) return;
  const std::int64_t n = 3000, m = 300;
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  const Matrix train = rows_of(n, 3, 1, any);
  const Matrix queries{m, 3, std::vector<float>(train.values.begin(), train.values.begin() + m * 3)};
  std::vector<float> radii;
  for (std::int64_t q = 0; q < m; ++q) radii.push_back(q % 7 == 0 ? 0.6f : q % 7 == 1 ? -1.0f : 0.1f);
  const Counts third = some(3);
  const RowFilter filter = filter_of(third, n, m);
  for (const Metric metric : bounded)
    for (const bool filtered : {false, true})
      for (const bool self : {false, true}) {
        CAPTURE_ALL(name(metric), filtered, self);
        const Index index(device(), train, metric);
        SearchOptions options{.boxes = false};
        if (filtered) options.filter = filter;
        if (self) options.self = 0;
        const RadiusNeighbors expected = index.within(queries, radii, options);
        options.boxes = true;
        Trace trace;
        CHECK(index.within(queries, radii, options, &trace) == expected);
        CHECK(trace.plan.boxes);
        CHECK((trace.fallbacks > 0 && trace.fallbacks < m));
      }
}

TEST_CASE("boxes: a grown index has boxes around its own rows") {
  if (most() < 3) return;
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  const Matrix all = rows_of(1300, 3, 1, any), queries = rows_of(20, 3, 2, any);
  const Index part(device(), MatrixView<const float>(all.values.data(), 900, 3), Metric::l2);
  const Matrix before{900, 3, std::vector<float>(all.values.begin(), all.values.begin() + 2700)};
  const std::size_t plain = part.memory_bytes();
  CHECK(difference(part.search(queries, 3, by_boxes()), neighbors(Metric::l2, queries, before, 3)) == "");
  CHECK(part.memory_bytes() > plain);
  const Index grown = part.with(MatrixView<const float>(all.values.data() + 2700, 400, 3));
  CHECK(difference(grown.search(queries, 3, by_boxes()), neighbors(Metric::l2, queries, all, 3)) == "");
}

TEST_CASE("boxes: their memory is told: the rows in order, their numbers, and the bounds of all levels") {
  if (most() < 3) return;
  const std::int64_t n = 33000, dims = 2;  // three levels
  const Matrix train = rows_of(n, dims, 1, [](auto& random, auto, auto) { return uniform(random); });
  const Index index(one_device(), train, Metric::l2);
  const std::size_t plain = index.memory_bytes();
  index.prepare(1, 3, by_boxes());
  const std::size_t leaf = spi::box_rows * size(dims) * sizeof(float);
  CHECK(index.memory_bytes() - plain >=
        spi::boxes_of_level(n, 0) * leaf + size(n) * sizeof(std::uint32_t) + spi::box_blocks(n) * 2 * leaf);
}

TEST_CASE("boxes: single queries on a host make them once they have cost as much") {
  if (most() < 3 || !one_device().info().profile.host_threads) return;
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  const Index index(one_device(), rows_of(100000, 2, 1, any), Metric::l2);
  const Matrix queries = rows_of(900, 2, 2, any);
  const Neighbors expected = index.search(queries, 1, {.boxes = false});  // counts for nothing
  std::int64_t without = 0;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    Trace trace;
    const Neighbors found = index.search(RowsView(queries).slice(q, 1), 1, {}, &trace);
    without += trace.plan.boxes ? 0 : 1;
    CHECK(found.row[0] == expected.row[size(q)]);
    CHECK(found.distance[0] == expected.distance[size(q)]);
  }
  CHECK(without > 300);
  CHECK(without < 900);
}

TEST_CASE("boxes: who asks to stop waits for no boxes") {
  if (most() < 1) return;
  const Matrix train = rows_of(5000, 3, 1, [](auto& random, auto, auto) { return uniform(random); });
  const Index index(device(), train, Metric::l2);
  const std::size_t plain = index.memory_bytes();
  std::stop_source stop;
  stop.request_stop();
  SearchOptions options = by_boxes();
  options.stop = stop.get_token();
  CHECK(error_of([&] { index.prepare(10, 1, options); }).starts_with("interrupted: "));
  CHECK(index.memory_bytes() == plain);
  index.prepare(10, 1, by_boxes());
  CHECK(index.memory_bytes() > plain);
}

TEST_CASE("boxes: what they are not for is refused, or left alone") {
  const Index index(device(), matrix(1, {1, 2, 3}), Metric::negative_dot);
  const std::string refusal = error_of([&] { index.search(matrix(1, {1}), 1, by_boxes()); });
  CHECK(refusal.find("negative_dot") != std::string::npos);
  SearchOptions both = by_boxes();
  both.lists = 2;
  if (most() > 0) {
    const Index bounded_index(device(), matrix(1, {1, 2, 3}), Metric::l2);
    CHECK(error_of([&] { bounded_index.search(matrix(1, {1}), 1, both); }).find("drop one of the two") !=
          std::string::npos);
    std::stop_source stop;
    stop.request_stop();
    SearchOptions stopped = by_boxes();
    stopped.stop = stop.get_token();
    CHECK(error_of([&] { bounded_index.search(matrix(1, {1}), 1, stopped); }).find("stopped") !=
          std::string::npos);
  }
}

/// Returns enough rows for kith to test boxes on a sample of queries; a GPU needs more of them.
std::int64_t rows_to_sample() {
  return device().info().kind == DeviceKind::gpu ? 400000 : 40000;
}
std::int64_t queries_to_sample() {
  return device().info().kind == DeviceKind::gpu ? 4096 : 640;
}

TEST_CASE("boxes: chosen where they pay, and not where a sample of the queries says otherwise") {
  if (most() < 5) return;
  const std::int64_t n = rows_to_sample(), m = queries_to_sample();
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  const Matrix train = rows_of(n, 2, 1, any), near = rows_of(m, 2, 2, any);
  // Rows on a circle around all queries are about equally far.
  const Matrix circle = rows_of(n, 2, 3, [&](auto&, std::int64_t r, std::int64_t d) {
    const float angle = static_cast<float>(r) * (6.2831853f / static_cast<float>(n));
    return d == 0 ? std::cos(angle) : std::sin(angle);
  });
  const Matrix middle = rows_of(m, 2, 4, [](auto& random, auto, auto) { return uniform(random) * 0x1p-20f; });
  const auto search = [](const Matrix& rows, const Matrix& queries, bool boxes) {
    const Index index(device(), rows, Metric::l2);
    index.prepare(queries.rows, 3, by_boxes());
    Trace trace;
    const Neighbors found = index.search(queries, 3, {}, &trace);
    CHECK(trace.plan.boxes == boxes);
    SearchOptions chain{.boxes = false};
    CHECK(found == index.search(queries, 3, chain));
    return trace.plan.reason;
  };
  CHECK(search(train, near, true).find("sampled queries read") != std::string::npos);
  CHECK(search(circle, middle, false).find("not by boxes") != std::string::npos);
}

TEST_CASE("boxes: queries that a sample has missed and that read too much are searched by the chain") {
  if (most() < 5) return;
  const std::int64_t n = rows_to_sample(), m = queries_to_sample();
  // Half of the rows lie on a circle far away, with some queries in its middle, none of which is sampled.
  const Matrix train = rows_of(n, 2, 1, [&](auto& random, std::int64_t r, std::int64_t d) {
    const float angle = static_cast<float>(r) * (6.2831853f / static_cast<float>(n));
    return r % 2 ? 100 + (d == 0 ? std::cos(angle) : std::sin(angle)) : uniform(random);
  });
  const Matrix queries = rows_of(
      m, 2, 2, [](auto& random, std::int64_t q, auto) { return q % 32 == 7 ? 100.0f : uniform(random); });
  const Index index(device(), train, Metric::l2);
  index.prepare(m, 3, by_boxes());
  Trace trace;
  const Neighbors found = index.search(queries, 3, {}, &trace);
  CHECK(trace.plan.boxes);
  CHECK(trace.fallbacks == m / 32);
  SearchOptions chain{.boxes = false};
  CHECK(found == index.search(queries, 3, chain));
}

TEST_CASE("knn_graph: the rows nearest to each, itself left out") {
  CHECK(knn_graph(device(), matrix(1, {7, 7, 7, 8}), 2, Metric::l1) ==
        Neighbors{4, 2, {0, 0, 0, 0, 0, 0, 1, 1}, {1, 2, 0, 2, 0, 1, 0, 1}});
  const auto any = [](auto& random, auto, auto) { return uniform(random); };
  const Matrix rows = rows_of(500, 3, 1, any);
  const Counts others_of = [](std::int64_t q, std::int64_t t) { return q != t; };
  const Neighbors expected = neighbors_among(Metric::l2, rows, rows, 4, others_of);
  CHECK(difference(knn_graph(device(), rows, 4, Metric::l2), expected) == "");
  if (most() >= 5) CHECK(difference(knn_graph(device(), rows, 4, Metric::l2, by_boxes()), expected) == "");
  SearchOptions with_self{.self = 0};
  const IndexOptions second{.features = {1}};
  CHECK(difference(knn_graph(device(), rows, 4, Metric::l2, {}, nullptr, second),
                   Index(device(), rows, Metric::l2, second).search(rows, 4, {.self = 0})) == "");
  CHECK(error_of([&] { knn_graph(device(), rows, 4, Metric::l2, with_self); }).find("leave self alone") !=
        std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
