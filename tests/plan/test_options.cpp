// Tests options for memory, threads, stop, progress and trace, none of which changes a bit: docs/contract.md,
// sections 4 and 7.
#include <stop_token>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

/// Holds a search of some tiles with ties.
struct Example {
  Matrix queries = hard_rows(DataKind::grid, Set::queries, 50, 6, Metric::l1);
  Matrix train = hard_rows(DataKind::grid, Set::train, 1600, 6, Metric::l1);
  std::int64_t k = 9;
  Index index{device(), train, Metric::l1};
  Neighbors expected = neighbors(Metric::l1, queries, train, k);

  /// Returns options that make 5 query tiles of 4 training tiles.
  SearchOptions in_20_steps() const { return SearchOptions{.query_tile = 10, .train_tile = 400}; }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("options: a memory limit makes tiles smaller, and changes no bit") {
  const Example example;
  for (const std::optional<bool> fused : {std::optional<bool>(), std::optional(false)}) {
    SearchOptions options{.fused = fused};
    const std::size_t usual = example.index.plan(50, example.k, options).workspace_bytes;
    std::size_t smaller = 0;
    for (const std::size_t limit : {usual, usual / 2, usual / 4, usual / 10, usual / 30}) {
      CAPTURE_ALL(fused.has_value(), usual, limit);
      options.memory_limit = limit;
      const std::string refusal = error_of([&] {
        const Plan plan = example.index.plan(50, example.k, options);
        CHECK(plan.workspace_bytes <= limit);
        CHECK(difference(example.index.search(example.queries, example.k, options), example.expected) == "");
        smaller += plan.workspace_bytes < usual;
      });
      if (refusal != "nothing was thrown")
        CHECK(refusal.starts_with("out_of_memory: search: one query takes "));
    }
    CHECK(smaller > 0);
  }
}

TEST_CASE("options: a memory limit too small for one query is an error that says both sizes") {
  const Example example;
  SearchOptions options{.memory_limit = 10};
  const std::string refusal = error_of([&] { example.index.search(example.queries, example.k, options); });
  CAPTURE(refusal);
  CHECK(refusal.starts_with("out_of_memory: search: one query takes "));
  CHECK(refusal.find(" bytes on " + device().info().spec) != std::string::npos);
  CHECK(refusal.ends_with("but 10 are allowed; raise the memory limit or choose a smaller k"));
}

TEST_CASE("options: any number of host threads gives the same bits") {
  const Example example;
  for (const std::uint32_t threads : {1u, 2u, 3u, 16u, 100u}) {
    CAPTURE(threads);
    SearchOptions options{.threads = threads};
    CHECK(example.index.plan(50, example.k, options).threads == threads);
    CHECK(difference(example.index.search(example.queries, example.k, options), example.expected) == "");
    options.fused = false;
    CHECK(difference(example.index.search(example.queries, example.k, options), example.expected) == "");
  }
}

TEST_CASE("options: progress never goes back, and ends at 1") {
  const Example example;
  std::vector<double> seen;
  SearchOptions options = example.in_20_steps();
  options.progress = [&](const Progress& progress) { seen.push_back(progress.fraction); };
  CHECK(difference(example.index.search(example.queries, example.k, options), example.expected) == "");
  CHECK(seen.size() == 20);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.front() > 0);
  CHECK(seen.back() == 1);
}

TEST_CASE("options: what the progress callback throws ends the search, and the index still works") {
  const Example example;
  SearchOptions options = example.in_20_steps();
  int calls = 0;
  options.progress = [&](const Progress&) {
    if (++calls == 3) throw std::out_of_range("the caller's own");
  };
  CHECK_THROWS_WITH_AS(example.index.search(example.queries, example.k, options), "the caller's own",
                       std::out_of_range);
  CHECK(calls == 3);
  CHECK(difference(example.index.search(example.queries, example.k), example.expected) == "");
}

TEST_CASE("options: the progress callback may search the same index") {
  const Example example;
  SearchOptions options = example.in_20_steps();
  int searches = 0;
  options.progress = [&](const Progress&) {
    if (searches++ < 2) CHECK(example.index.search(example.queries, example.k) == example.expected);
  };
  CHECK(difference(example.index.search(example.queries, example.k, options), example.expected) == "");
  CHECK(searches == 20);
}

TEST_CASE("options: a search that is asked to stop does, within a step") {
  const Example example;
  std::stop_source source;
  SearchOptions options = example.in_20_steps();
  options.stop = source.get_token();
  CHECK(difference(example.index.search(example.queries, example.k, options), example.expected) == "");
  options.progress = [&](const Progress& progress) {
    if (progress.fraction > 0.3) source.request_stop();
  };
  CHECK(error_of([&] { example.index.search(example.queries, example.k, options); }) ==
        "interrupted: search: stopped after 7 of 20 steps, as was asked; nothing is returned");
  CHECK(error_of([&] { example.index.search(example.queries, example.k, options); }) ==
        "interrupted: search: stopped after 0 of 20 steps, as was asked; nothing is returned");
  CHECK(difference(example.index.search(example.queries, example.k), example.expected) == "");
}

TEST_CASE("options: a trace tells the plan, the tiles and the seconds of each step") {
  const Example example;
  SearchOptions options = example.in_20_steps();
  options.fused = false;
  Trace trace;
  trace.total_seconds = -1;
  CHECK(difference(example.index.search(example.queries, example.k, options, &trace), example.expected) ==
        "");
  CHECK(trace.plan == example.index.plan(50, example.k, options));
  CHECK(trace.query_tiles == 5);
  CHECK(trace.train_tiles == 4);
  for (const char* step : {"distance", "select", "merge", "upload", "download", "finish"}) {
    CAPTURE(std::string(step));
    REQUIRE(trace.seconds.count(step) == 1);
    CHECK(trace.seconds[step] >= 0);
  }
  CHECK(trace.seconds.count("nearest") == 0);
  CHECK(trace.total_seconds > 0);
  CHECK(trace.total_seconds >= trace.queue_seconds);

  Trace totals;
  totals.time_steps = false;
  CHECK(difference(example.index.search(example.queries, example.k, options, &totals), example.expected) ==
        "");
  CHECK(totals.seconds.count("distance") == 0);
  CHECK(totals.total_seconds > 0);
}

TEST_CASE("trace: a queue that is held changes nothing but when a device begins") {
  const Example example;
  for (const bool watched : {false, true}) {
    SearchOptions options = example.in_20_steps();
    int told = 0;
    if (watched) options.progress = [&](const Progress&) { ++told; };
    Trace trace;
    trace.time_steps = false;
    trace.hold_queue = true;
    CHECK(difference(example.index.search(example.queries, example.k, options, &trace), example.expected) ==
          "");
    CHECK(trace.hold_queue);
    CHECK(trace.device_seconds >= 0);
    CHECK((told > 0) == watched);
    if (!watched) continue;
    options.progress = [](const Progress&) { throw std::runtime_error("enough"); };
    CHECK_THROWS_AS(example.index.search(example.queries, example.k, options, &trace), std::runtime_error);
    CHECK(difference(example.index.search(example.queries, example.k), example.expected) == "");
  }
}

TEST_CASE("memory: rows that no single block of device memory holds are searched as if it did") {
  // This is meant for a device with little memory (POCL_MEMORY_LIMIT=1); elsewhere it is only a large search.
  const DeviceInfo& info = device().info();
  const std::size_t gigabyte = std::size_t{1} << 30;
  if (info.largest_allocation > gigabyte) return;
  const std::int64_t dims = 64, m = 3, k = 20;
  const auto n = static_cast<std::int64_t>(info.largest_allocation / sizeof(float)) / dims + 1000;
  const Matrix queries = hard_rows(DataKind::clusters, Set::queries, m, dims, Metric::squared_l2);
  const workloads::Rows train = workloads::make_rows(DataKind::clusters, 7, Set::train, n, dims);
  const Index index(device(), train.view());
  CHECK(index.memory_bytes() > info.largest_allocation);
  const Neighbors expected = Index(open_device("cpu"), train.view()).search(queries, k);
  CHECK(difference(index.search(queries, k), expected) == "");
  SearchOptions options{.fused = false, .train_tile = n};
  CHECK(index.plan(m, k, options).train_tile < n);
  CHECK(difference(index.search(queries, k, options), expected) == "");
}

TEST_CASE("memory: no block of a workspace is larger than the device allows") {
  const DeviceInfo& info = device().info();
  const std::size_t gigabyte = std::size_t{1} << 30;
  if (info.largest_allocation > gigabyte) return;
  const std::int64_t m = 1500, n = static_cast<std::int64_t>(info.largest_allocation / sizeof(float) / 1000);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, m, 1, Metric::l1);
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, 1, Metric::l1);
  SearchOptions options{.fused = false, .query_tile = m, .train_tile = n};
  IndexOptions each;
  each.deduplicate = false;
  const Index index(device(), train, Metric::l1, each);
  CHECK(index.plan(m, 3, options).query_tile < m);
  CHECK(difference(index.search(queries, 3, options),
                   Index(open_device("cpu"), train, Metric::l1).search(queries, 3)) == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
