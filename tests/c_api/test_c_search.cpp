// kith.h: devices, indexes and searches give what kith.hpp gives.
#include "c_api/c_support.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/knn.hpp"
#include "kith/knn_graph.hpp"
#include "kith/parse.hpp"
#include "kith/trace.hpp"

namespace kith::tests::test_c_search {
namespace {

using namespace c;

constexpr std::int64_t k = 6;

Matrix train_rows(Metric metric) {
  return hard_rows(DataKind::integers, Set::train, 300, 5, metric);
}
Matrix query_rows(Metric metric) {
  return hard_rows(DataKind::integers, Set::queries, 17, 5, metric);
}

/// Calls kith_index_search(), and returns the answer as C++ would.
Neighbors searched(const kith_index* index, MatrixView<const float> queries, std::int64_t neighbors,
                   const kith_search_options* options = nullptr) {
  const std::size_t cells = size(queries.rows() * neighbors);
  Neighbors found{queries.rows(), neighbors, std::vector<float>(cells), std::vector<std::int64_t>(cells)};
  const kith_rows rows = rows_of(queries);
  CHECK(told(kith_index_search(index, &rows, neighbors, options, found.distance.data(), found.row.data())) ==
        "ok");
  return found;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: boxes, made beforehand, and the nearest rows of every row") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows index = index_of(on.get(), train, "l2");
  kith_search_options options = KITH_INIT(kith_search_options);
  options.boxes = device().info().boxes_max_k >= k ? 1 : -1;
  CHECK(told(kith_index_prepare(index.get(), queries.rows, k, &options)) == "ok");
  CHECK(searched(index.get(), queries, k, &options) == Index(device(), train, Metric::l2).search(queries, k));
  options.boxes = 2;
  CHECK(told(kith_index_prepare(index.get(), 1, k, &options)).find("boxes = 2") != std::string::npos);
  const kith_rows rows = rows_of(train);
  const std::size_t cells = size(train.rows * k);
  Neighbors found{train.rows, k, std::vector<float>(cells), std::vector<std::int64_t>(cells)};
  CHECK(told(kith_knn_graph(on.get(), &rows, k, nullptr, nullptr, found.distance.data(), found.row.data())) ==
        "ok");
  CHECK(found == knn_graph(device(), train, k, Metric::l2));
}

TEST_CASE("c: the nearest rows without an index") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l1), queries = query_rows(Metric::l1);
  const kith_rows rows = rows_of(train), asked = rows_of(queries);
  const std::size_t cells = size(queries.rows * k);
  Neighbors found{queries.rows, k, std::vector<float>(cells), std::vector<std::int64_t>(cells)};
  auto of_index = KITH_INIT(kith_index_options);
  of_index.metric = "manhattan";
  const TraceRoom trace = made<TraceRoom>([](kith_trace** out) { return kith_trace_new(1, out); });
  auto how = KITH_INIT(kith_search_options);
  how.trace = trace.get();
  const auto ask = [&](const kith_search_options* options) {
    return told(
        kith_knn(on.get(), &rows, &asked, k, &of_index, options, found.distance.data(), found.row.data()));
  };
  CHECK(ask(&how) == "ok");
  CHECK(found == knn(device(), train, queries, k, Metric::l1));
  how.memory_limit = std::size_t{1} << 24;  // which an index heeds
  std::fill(found.row.begin(), found.row.end(), -1);
  CHECK(ask(&how) == "ok");
  CHECK(found == knn(device(), train, queries, k, Metric::l1));
  std::vector<std::int64_t> row(cells);
  CHECK(told(kith_knn(on.get(), &rows, &asked, k, &of_index, nullptr, nullptr, row.data())) == "ok");
  CHECK(row == found.row);
  CHECK(told(kith_knn_f64(on.get(), &rows, &asked, k, &of_index, nullptr, nullptr, row.data())) ==
        "2: kith_knn_f64: the index computes in single precision, and its distances are "
        "floats; call kith_knn()");
}

TEST_CASE("c: a search by each metric, by rows with and without gaps") {
  const OpenDevice on = opened();
  std::vector<Metric> metrics(all_metrics.begin(), all_metrics.end());
  metrics.insert(metrics.end(), prepared_metrics.begin(), prepared_metrics.end());
  metrics.insert(metrics.end(), sum_metrics.begin(), sum_metrics.end());
  REQUIRE(kith_metric_count() == static_cast<std::int64_t>(metrics.size()));
  for (std::int64_t number = 0; number < kith_metric_count(); ++number) {
    const Metric metric = metrics[size(number)];
    REQUIRE(kith_metric_name(number) == name(metric));
    if (compares_bits(metric) || is_prepared(metric)) continue;  // below, and in test_c_prepared.cpp
    CAPTURE(std::string(name(metric)));
    const Matrix train = train_rows(metric), queries = query_rows(metric);
    const Neighbors expected = Index(device(), train, metric).search(queries, k);
    const Rows index = index_of(on.get(), train, kith_metric_name(number));
    CHECK(searched(index.get(), queries, k) == expected);
    const Spread spread(queries, 3);
    CHECK(searched(index.get(), spread.view(), k) == expected);
    kith_rows shifted = rows_of(queries);  // without its first row
    shifted.offset_bytes = shifted.stride_bytes;
    shifted.rows -= 1;
    std::vector<std::int64_t> row(size(shifted.rows * k));
    CHECK(told(kith_index_search(index.get(), &shifted, k, nullptr, nullptr, row.data())) == "ok");
    CHECK(row == std::vector<std::int64_t>(expected.row.begin() + k, expected.row.end()));
  }
}

TEST_CASE("c: rows of every element, at odd addresses") {
  const OpenDevice on = opened();
  const Matrix train = matrix(3, {1, 2, 3, 9, 8, 7, 0, 5, 0, 4, 4, 4, 100, 1, 17}),
               queries = matrix(3, {1, 2, 2, 9, 0, 9});
  const auto of = [](const RowsView& view) {
    kith_rows rows = KITH_INIT(kith_rows);
    rows.data = view.data;
    rows.rows = view.rows;
    rows.cols = view.cols;
    rows.stride_bytes = view.stride_bytes;
    rows.offset_bytes = view.offset_bytes;
    rows.element = static_cast<std::int32_t>(view.element);
    return rows;
  };
  const auto check = [&](const RowsView& given, const RowsView& asked, const char* metric,
                         std::int64_t most) {
    kith_index_options options = KITH_INIT(kith_index_options);
    options.metric = metric;
    const kith_rows rows = of(given), wanted = of(asked);
    const Rows index =
        made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &options, out); });
    Neighbors found{asked.rows, most, std::vector<float>(size(asked.rows * most)),
                    std::vector<std::int64_t>(size(asked.rows * most))};
    CHECK(told(kith_index_search(index.get(), &wanted, most, nullptr, found.distance.data(),
                                 found.row.data())) == "ok");
    CHECK(found == Index(device(), given, parse<Metric>(metric)).search(asked, most));
    return found;
  };
  for (const Element element : number_elements) {
    CAPTURE(std::string(name(element)));
    const Stored rows(train, element, 3, 1), asked(queries, element, 1);
    CHECK(check(rows.view(), asked.view(), "l2", 5) == neighbors(Metric::l2, queries, train, 5));
  }
  const Stored bits = random_bits(20, 45, 3, 2), asked = random_bits(4, 45, 4);
  CHECK(check(bits.view(), asked.view(), "Tanimoto", 7) ==
        Index(device(), bits.view(), Metric::jaccard).search(asked.view(), 7));
  CHECK(check(bits.view(), asked.view(), "hamming", 7) ==
        neighbors(Metric::l1, zeros_and_ones(asked.view()), zeros_and_ones(bits.view()), 7));
}

TEST_CASE("c: what is not wanted is not written, and no queries are no work") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows index = index_of(on.get(), train, nullptr);
  const Neighbors expected = Index(device(), train).search(queries, k);
  std::vector<float> distance(expected.distance.size());
  const kith_rows rows = rows_of(queries);
  CHECK(told(kith_index_search(index.get(), &rows, k, nullptr, distance.data(), nullptr)) == "ok");
  CHECK(distance == expected.distance);
  CHECK(told(kith_index_search(index.get(), &rows, k, nullptr, nullptr, nullptr)) == "ok");
  kith_rows none = rows;
  none.rows = 0;
  none.data = nullptr;
  CHECK(told(kith_index_search(index.get(), &none, k, nullptr, nullptr, nullptr)) == "ok");
}

TEST_CASE("c: every option of a search arrives") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows index = index_of(on.get(), train, "Euclidean");
  const Index beside(device(), train, Metric::l2);
  const std::vector<std::int64_t> list{3, 0, 299, 64, 65, 66, 120, 7};
  std::vector<std::uint32_t> words((300 + 31) / 32, 0xFFFFFFFFu);
  REQUIRE(told(kith_filter_of(300, list.data(), 8, words.data())) == "ok");
  const RowFilter filter = RowFilter::only(300, list);
  CHECK(std::equal(words.begin(), words.end(), filter.view().data()));
  kith_search_options options = KITH_INIT(kith_search_options);
  options.filter = words.data();
  options.filter_rows = 1;
  SearchOptions same{.filter = filter};
  CHECK(searched(index.get(), queries, k, &options) == beside.search(queries, k, same));
  options = KITH_INIT(kith_search_options);
  options.has_self = 1;
  options.self = 11;
  same = {};
  same.self = 11;
  CHECK(searched(index.get(), queries, k, &options) == beside.search(queries, k, same));

  // The other options do not change the answer, so their effect on the plan is checked.
  const char* const sample[] = {"Threshold", "radix"};
  options = KITH_INIT(kith_search_options);
  options.selector = "k-min";
  options.proposer = "none";
  options.fused = -1;
  options.lists = 3;
  options.query_tile = 5;
  options.train_tile = 100;
  options.threads = 2;
  options.memory_limit = std::uint64_t{1} << 24;
  same = {};
  same.selector = Selector::k_min;
  same.proposer = Proposer::none;
  same.fused = false;
  same.lists = 3;
  same.query_tile = 5;
  same.train_tile = 100;
  same.threads = 2;
  same.memory_limit = std::size_t{1} << 24;
  const auto& selectors = device().info().selectors;
  if (std::find(selectors.begin(), selectors.end(), Selector::k_min) == selectors.end()) {
    options.selector = "threshold";
    same.selector = Selector::threshold;
  }
  const TraceRoom trace = made<TraceRoom>([](kith_trace** out) { return kith_trace_new(1, out); });
  options.trace = trace.get();
  CHECK(searched(index.get(), queries, k, &options) == beside.search(queries, k));
  kith_trace_info info = KITH_INIT(kith_trace_info);
  REQUIRE(told(kith_trace_describe(trace.get(), &info)) == "ok");
  Trace beside_trace;
  beside.search(queries, k, same, &beside_trace);
  CHECK(std::string(info.plan) == explain(beside_trace.plan));
  CHECK(info.selector == name(beside_trace.plan.selector));
  CHECK(std::string(info.proposer) == "none");
  CHECK(info.query_tiles == 4);
  CHECK(info.train_tiles == 3);
  CHECK(info.total_seconds > 0);
  REQUIRE(info.step_count == static_cast<std::int64_t>(beside_trace.seconds.size()));
  std::int64_t number = 0;
  for (const auto& [step, seconds] : beside_trace.seconds) {
    const char* other = nullptr;
    double other_seconds = -1;
    REQUIRE(told(kith_trace_step(trace.get(), number++, &other, &other_seconds)) == "ok");
    CHECK(other == step);
    CHECK(other_seconds >= 0);
  }
  options = KITH_INIT(kith_search_options);
  options.sample = sample;
  options.sample_count = 2;
  options.fused = -1;
  CHECK(searched(index.get(), queries, k, &options) == beside.search(queries, k));
}

TEST_CASE("c: a plan as text is the plan of C++") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l1);
  const Rows index = index_of(on.get(), train, "l1");
  char* text = nullptr;
  REQUIRE(told(kith_index_explain(index.get(), 9, 4, nullptr, &text)) == "ok");
  CHECK(text == explain(Index(device(), train, Metric::l1).plan(9, 4)));
  kith_text_free(text);
}

TEST_CASE("c: rows within a radius") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows index = index_of(on.get(), train, "l2");
  const Index beside(device(), train, Metric::l2);
  const kith_rows rows = rows_of(queries);
  std::vector<float> radii(size(queries.rows), 2.5f);
  radii[3] = 0;
  radii[5] = 100;
  for (const std::int64_t count : {std::int64_t{1}, queries.rows}) {
    const Within within = made<Within>([&](kith_within** out) {
      return kith_index_within(index.get(), &rows, radii.data(), count, nullptr, out);
    });
    CHECK(lists_of(within.get()) == beside.within(queries, std::span(radii).first(size(count))));
  }
}

TEST_CASE("c: an index of more rows, of chosen columns, and what it says of itself") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const std::int64_t features[] = {4, 0, 2};
  kith_index_options options = KITH_INIT(kith_index_options);
  options.features = features;
  options.features_count = 3;
  const kith_rows rows = rows_of(train), more = rows_of(queries);
  const Rows index =
      made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &options, out); });
  const Rows grown =
      made<Rows>([&](kith_index** out) { return kith_index_with(index.get(), &more, nullptr, out); });
  const Index beside(device(), train, Metric::l2, {{4, 0, 2}});
  const Index more_beside = beside.with(queries);
  // A device may give a larger block that it kept from an earlier search, so a device that was just opened is
  // compared, too.
  const Index anew = Index(open_device(device_spec()), train, Metric::l2, {{4, 0, 2}}).with(queries);
  kith_index_info info = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(grown.get(), &info)) == "ok");
  CHECK(info.rows == 317);
  CHECK(info.dims == 5);
  CHECK(std::string(info.metric) == "l2");
  CHECK(info.device == device().info().spec);
  CHECK(std::vector<std::int64_t>(info.features, info.features + info.features_count) ==
        std::vector<std::int64_t>{0, 2, 4});
  CHECK(info.memory_bytes == anew.memory_bytes());
  CHECK(searched(index.get(), queries, k) == beside.search(queries, k));
  CHECK(searched(grown.get(), queries, k) == more_beside.search(queries, k));
}

TEST_CASE("c: a stop, and a progress that ends a search, are KITH_INTERRUPTED") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows index = index_of(on.get(), train, "l2");
  const kith_rows rows = rows_of(queries);
  std::vector<float> distance(size(queries.rows * k));
  const auto ask = [&](const kith_search_options& options) {
    return kith_index_search(index.get(), &rows, k, &options, distance.data(), nullptr);
  };
  kith_search_options options = KITH_INIT(kith_search_options);
  options.query_tile = 4;
  struct Heard {
    std::vector<double> fractions;
    std::size_t most;
  } heard{{}, 100};
  options.user = &heard;
  options.progress = [](double fraction, void* user) -> std::int32_t {
    auto& into = *static_cast<Heard*>(user);
    into.fractions.push_back(fraction);
    return into.fractions.size() >= into.most ? 1 : 0;
  };
  CHECK(told(ask(options)) == "ok");
  REQUIRE(heard.fractions.size() >= 5);
  CHECK(std::is_sorted(heard.fractions.begin(), heard.fractions.end()));
  CHECK(heard.fractions.back() == 1);
  CHECK(distance == Index(device(), train).search(queries, k).distance);
  heard = {{}, 2};
  CHECK(ask(options) == KITH_INTERRUPTED);
  CHECK(heard.fractions.size() == 2);
  CHECK(std::string(kith_last_error()) ==
        "kith: stopped, as progress() asked by what it returned; nothing is returned: return 0 to go on");
  heard = {{}, 100};

  Stop stop = made<Stop>(kith_stop_new);
  options.stop = stop.get();
  CHECK(told(ask(options)) == "ok");
  CHECK(told(kith_stop_request(stop.get())) == "ok");
  CHECK(ask(options) == KITH_INTERRUPTED);
  CHECK(std::string(kith_last_error()).find("stopped after 0 of") != std::string::npos);
  // The callback asks in the middle of the search.
  stop = made<Stop>(kith_stop_new);
  options.stop = stop.get();
  options.user = stop.get();
  options.progress = [](double, void* user) -> std::int32_t {
    return kith_stop_request(static_cast<kith_stop*>(user));
  };
  CHECK(ask(options) == KITH_INTERRUPTED);
  options.stop = nullptr;
  options.progress = nullptr;
  CHECK(told(ask(options)) == "ok");
}

TEST_CASE("c: a device says of itself what C++ says") {
  const OpenDevice on = opened();
  kith_device_info info = KITH_INIT(kith_device_info);
  REQUIRE(told(kith_device_describe(on.get(), &info)) == "ok");
  const DeviceInfo& expected = device().info();
  CHECK(info.spec == expected.spec);
  CHECK(info.backend == expected.backend);
  CHECK(info.name == expected.name);
  CHECK(info.platform == expected.platform);
  CHECK(info.driver == expected.driver);
  CHECK(info.kind == name(expected.kind));
  CHECK(info.pci == expected.pci);
  CHECK(info.memory_bytes == expected.memory_bytes);
  CHECK(info.largest_allocation_bytes == expected.largest_allocation);
  CHECK(info.compute_units == expected.compute_units);
  CHECK(info.fused_max_k == expected.fused_max_k);
  std::string selectors, proposers;
  for (const Selector selector : expected.selectors) selectors += "," + std::string(name(selector));
  for (const Proposer proposer : expected.proposers) proposers += "," + std::string(name(proposer));
  CHECK("," + std::string(info.selectors) == selectors);
  CHECK((proposers.empty() ? "" : "," + std::string(info.proposers)) == proposers);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_search
