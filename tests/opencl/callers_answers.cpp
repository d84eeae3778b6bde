// Tests answers that stay in buffers of a host program: their bits, and the bytes copied between host
// and device.
#include <algorithm>

#include "callers.hpp"
#include "common/bytes_as_floats.hpp"
#include "kith/filter.hpp"
#include "kith/knn_graph.hpp"

namespace kith::tests {
namespace {

Matrix rows_of(const Matrix& all, std::int64_t first, std::int64_t count) {
  const auto begin = all.values.begin() + first * all.cols;
  return {count, all.cols, {begin, begin + count * all.cols}};
}

TEST_SUITE_BEGIN("device");

/// Covers every way in which rows may not count, or may have numbers that differ from their places.
TEST_CASE("callers: filters, own rows, ids and removed rows leave the bits of the host in buffers") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 6), queries = rows_of(train, 100, m);
  const RowsView rows = caller.put(train.view()), asked = caller.put(queries.view());
  std::vector<std::int64_t> ids(size(n)), kept, few = {101, 7, 499};
  for (std::int64_t i = 0; i < n; ++i) {
    ids[size(i)] = 3 * ((i * 7) % n) + 1;
    if (i % 3 != 0) kept.push_back(i);
  }
  const std::vector<std::int64_t> gone = {0, 101, 102, 250, 499};
  const RowFilter most = RowFilter::only(n, kept), least = RowFilter::only(n, few);
  std::vector<std::uint32_t> each;
  for (std::int64_t q = 0; q < m; ++q) {
    const auto words = (q % 2 == 0 ? most : least).view();
    each.insert(each.end(), words.row(0), words.row(0) + words.cols());
  }
  const FilterWords of_each(each.data(), m, most.view().cols());
  const std::vector<SearchOptions> ways = {{},
                                           {.self = 100},
                                           {.filter = most},
                                           {.filter = least},
                                           {.filter = of_each},
                                           {.filter = most, .self = 100},
                                           {.query_tile = 16, .filter = of_each, .self = 100}};
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine, Metric::linf}) {
    CAPTURE(std::string(name(metric)));
    const Index right(device(), train, metric), index(adopted, rows, metric);
    const Index named(device(), train, metric, {.ids = ids}),
        named_there(adopted, rows, metric, {.ids = ids});
    for (std::size_t way = 0; way < ways.size(); ++way) {
      CAPTURE(way);
      CHECK(search_into_buffers(caller, index, asked, k, ways[way]) == right.search(queries, k, ways[way]));
      CHECK(search_into_buffers(caller, named_there, asked, k, ways[way]) ==
            named.search(queries, k, ways[way]));
    }
    for (const SearchOptions& way : {SearchOptions{}, SearchOptions{.filter = most}}) {
      CHECK(search_into_buffers(caller, index.without(gone), asked, k, way) ==
            right.without(gone).search(queries, k, way));
      CHECK(search_into_buffers(caller, index.without(gone).compact(), asked, k, way) ==
            right.without(gone).compact().search(queries, k, way));
    }
    CHECK(search_into_buffers(caller, index.without(gone).with(asked), asked, k, {.self = n}) ==
          right.without(gone).with(queries).search(queries, k, {.self = n}));
  }
}

/// What a metric needs beside rows of `dims` columns.
IndexOptions needed_by(Metric metric) {
  IndexOptions options;
  if (metric == Metric::minkowski) options.p = 1.5;
  if (takes_categories(metric)) options.categorical = {dims - 1};
  return options;
}

/// The host alone makes angles, roots of powers, quotients by columns, and fractions of codes.
TEST_CASE("callers: distances by every metric are those of the host in buffers") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 6), queries = rows_of(train, 100, m);
  std::vector<Metric> metrics(number_metrics.begin(), number_metrics.end());
  for (const Metric metric : prepared_metrics)  // haversine is of two columns, and has doubles
    if (metric != Metric::haversine && metric != Metric::mahalanobis) metrics.push_back(metric);
  for (const Metric metric : sum_metrics)
    if (!compares_bits(metric)) metrics.push_back(metric);
  for (const Metric metric : metrics) {
    CAPTURE(std::string(name(metric)));
    const Index right(device(), train, metric, needed_by(metric)),
        index(adopted, train, metric, needed_by(metric));
    CHECK(search_into_buffers(caller, index, queries.view(), k) == right.search(queries, k));
  }
  constexpr std::int64_t wide = 32 * dims * 10;  // bits, enough for codes
  const std::int64_t rows = n / 10, asked = m / 10;
  for (const Metric metric : sum_metrics) {
    if (!compares_bits(metric)) continue;
    CAPTURE(std::string(name(metric)));
    CHECK((bits_without_codes(metric) == 0 || has_codes(metric, wide)));
    const RowsView bits{train.values.data(), Element::bits, rows, wide},
        of_queries{queries.values.data(), Element::bits, asked, wide};
    const Index right(device(), bits, metric), index(adopted, bits, metric);
    CHECK(search_into_buffers(caller, index, of_queries, k) == right.search(of_queries, k));
  }
}

TEST_CASE("callers: groups, together and by themselves, leave the bits of the host in buffers") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 6);
  const RowsView rows = caller.put(train.view());
  const IndexOptions grouped{.groups = {0, 3, 3, 200, n}};
  const Index right(device(), train, Metric::l2, grouped), index(adopted, rows, Metric::l2, grouped);
  for (const bool from_group : {false, true})
    for (const std::optional<bool> fused : {std::optional<bool>(), std::optional<bool>(false)}) {
      const SearchOptions way{.fused = fused, .self = 0, .rows_from_group = from_group};
      CAPTURE_ALL(from_group, fused.has_value());
      CHECK(search_into_buffers(caller, index, rows, k, way) == right.search(train, k, way));
    }
}

TEST_CASE("callers: a filter that keeps few rows is heeded by these rows alone") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  constexpr std::int64_t many = 6000, all = 4200;
  const Matrix train = bytes_as_floats(many, 5, 8);
  const RowsView rows = caller.put(train.view());
  std::vector<std::int64_t> few;
  for (std::int64_t i = 3; i < many; i += 400) few.push_back(i);
  const RowFilter filter = RowFilter::only(many, few);
  for (const std::int64_t self : {-1, 0, 1700}) {
    SearchOptions way{.filter = filter};
    if (self >= 0) way.self = self;
    const Index right(device(), train, Metric::l1), index(adopted, rows, Metric::l1);
    CHECK(search_into_buffers(caller, index, rows.slice(0, all), 4, way) ==
          right.search(train.view().slice(0, all), 4, way));
  }
}

TEST_CASE("callers: queries and answers in buffers do not pass through the host") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  constexpr std::int64_t all = 40000, nearest = 5;
  constexpr std::uint64_t little = 1 << 10;  // parameters of steps, and words that they report
  const auto words = [](std::int64_t count) { return static_cast<std::uint64_t>(count) * 4; };
  const Matrix train = bytes_as_floats(all, 3, 9);
  const RowsView rows = caller.put(train.view());
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine}) {
    CAPTURE(std::string(name(metric)));
    const Index index(adopted, rows, metric);
    SearchOptions way{.self = 0};
    const bool boxes = metric == Metric::l2;
    if (boxes)
      way.boxes = true;
    else
      way.proposer = Proposer::none;
    index.prepare(all, nearest, way);
    const DeviceNeighbors to =
        opencl::neighbors(caller.buffer(words(all * nearest)), caller.buffer(2 * words(all * nearest)));
    Trace trace;
    index.search_into(rows, nearest, to, way, &trace);
    if (boxes && trace.seconds.count(spi::OrderStep::name) == 0) continue;  // the host puts queries in order
    CHECK(trace.bytes_to_device < little);
    // A search by boxes downloads how many leaves each query read.
    CHECK(trace.bytes_from_device < little + (boxes ? words(all) : 0));
    Trace on_host;
    static_cast<void>(index.search(train, nearest, way, &on_host));
    CHECK(on_host.bytes_to_device >= words(3 * all));
    CHECK(on_host.bytes_from_device >= words(2 * all * nearest));
  }
}

TEST_CASE("callers: the numbers of rows go to the device once") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 6);
  std::vector<std::int64_t> ids(size(n));
  for (std::int64_t i = 0; i < n; ++i) ids[size(i)] = 5 * i + 3;
  const RowsView rows = caller.put(train.view());
  const Index index(adopted, rows, Metric::l1, {.ids = ids});
  const std::size_t before = index.memory_bytes();
  const DeviceNeighbors to = opencl::neighbors(caller.buffer(n * k * 4), caller.buffer(n * k * 8));
  SearchOptions way;
  way.proposer = Proposer::none;
  // A device tests a selector with its own data before the first search that uses it.
  Index(adopted, rows, Metric::l1).search_into(rows, k, to, way);
  Trace first, second;
  index.search_into(rows, k, to, way, &first);
  CHECK(index.memory_bytes() >= before + ids.size() * 8);
  index.search_into(rows, k, to, way, &second);
  CHECK(first.bytes_to_device == second.bytes_to_device + ids.size() * 8);
  // Rows added without ids get new numbers.
  const Index grown = index.with(rows);
  CHECK(search_into_buffers(caller, grown, rows, 3, way) ==
        Index(device(), train, Metric::l1, {.ids = ids}).with(train).search(train, 3, way));
  CHECK(search_into_buffers(caller, index, rows, 3, way) ==
        Index(device(), train, Metric::l1, {.ids = ids}).search(train, 3, way));
}

TEST_CASE("callers: the graph of rows in a buffer has the bits of the host") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  constexpr std::int64_t all = 20000, nearest = 6;
  Matrix train = bytes_as_floats(all, 3, 10);
  std::copy_n(train.values.begin(), 3 * 1000, train.values.end() - 3 * 1000);  // duplicates
  const RowsView rows = caller.put(train.view());
  for (const Metric metric : {Metric::l2, Metric::cosine, Metric::l1}) {
    CAPTURE(std::string(name(metric)));
    const cl_mem distance = caller.buffer(all * nearest * 4), row = caller.buffer(all * nearest * 8);
    knn_graph_into(adopted, rows, nearest, opencl::neighbors(distance, row), metric);
    const Neighbors found{all, nearest, caller.read<float>(distance, size(all * nearest)),
                          caller.read<std::int64_t>(row, size(all * nearest))};
    CHECK(found == knn_graph(device(), train, nearest, metric));
  }
  CHECK(error_of([&] {
          knn_graph_into(adopted, rows, 2, opencl::neighbors(caller.buffer(8), caller.buffer(8)), Metric::l2,
                         {.self = 1});
        }).find("leave self alone") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
