// Tests sampling: one query is drawn, each selector is timed on it, and the fastest is used for all queries.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_sampling {
namespace {

SearchOptions sampling(std::vector<Selector> sample) {
  return {.sample = std::move(sample)};
}

/// Returns a selector this device does not have.
Selector absent_selector() {
  for (const Selector selector : all_selectors())
    if (std::count(device().info().selectors.begin(), device().info().selectors.end(), selector) == 0)
      return selector;
  return Selector::automatic;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sample: same bits, one of those that were named, and the times are told") {
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 19, 5, Metric::cosine);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 700, 5, Metric::cosine);
  const Index index(device(), train, Metric::cosine);
  const std::vector<Selector>& all = device().info().selectors;
  REQUIRE(!all.empty());
  for (const std::int64_t k : {1, 12}) {
    CAPTURE(k);
    const Neighbors expected = neighbors(Metric::cosine, queries, train, k);
    Trace trace;
    CHECK(difference(index.search(queries, k, sampling(all), &trace), expected) == "");
    CHECK(!trace.plan.fused);
    CHECK(std::count(all.begin(), all.end(), trace.plan.selector) == 1);
    CHECK(trace.plan.reason.starts_with("sampled query "));
    for (const Selector selector : all) {
      CAPTURE(std::string(name(selector)));
      CHECK(trace.plan.reason.find(" " + std::string(name(selector)) + " ") != std::string::npos);
    }
    const auto drawn = [](const Trace& of) { return of.plan.reason.substr(0, of.plan.reason.find(':')); };
    Trace again;
    CHECK(difference(index.search(queries, k, sampling({all.front()}), &again), expected) == "");
    CHECK(again.plan.selector == all.front());
    CHECK(drawn(again) == drawn(trace));  // the sizes alone decide
  }
}

TEST_CASE("sample: in small tiles, and with lists, too") {
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 10, 3, Metric::l1);
  const Matrix train = hard_rows(DataKind::normal, Set::train, 200, 3, Metric::l1);
  SearchOptions options = sampling(device().info().selectors);
  options.train_tile = 70;
  options.query_tile = 4;
  options.lists = 3;
  Trace trace;
  int steps = 0;
  options.progress = [&](const Progress&) { ++steps; };
  const Neighbors found = Index(device(), train, Metric::l1).search(queries, 9, options, &trace);
  CHECK(difference(found, neighbors(Metric::l1, queries, train, 9)) == "");
  CHECK(trace.plan.train_tile == 70);
  CHECK(trace.plan.lists == 3);
  CHECK(trace.query_tiles == 3);
  CHECK(steps == trace.query_tiles * trace.train_tiles);  // steps of the sample are not counted
}

TEST_CASE("sample: of no queries, and by a classifier") {
  const Matrix train = matrix(1, {0, 1, 2, 3});
  const std::vector<std::int64_t> labels = {7, 7, 9, 9};
  const SearchOptions options = sampling({device().info().selectors.front()});
  CHECK(Index(device(), train).search({nullptr, 0, 1}, 2, options) == Neighbors{0, 2, {}, {}});
  CHECK(Classifier(device(), train, labels).predict(matrix(1, {0.1f, 2.9f}), 2, options) ==
        std::vector<std::int64_t>{7, 9});
  const Plan before = Index(device(), train).plan(3, 2, options);
  CHECK(before.selector == options.sample.front());
  CHECK(before.reason == "one query of the data will be sampled, to choose among " +
                             std::string(name(options.sample.front())));
}

TEST_CASE("sample: what the device does not have is left out and named; nothing else is refused") {
  const Selector absent = absent_selector(), present = device().info().selectors.front();
  if (absent == Selector::automatic) return;  // it has all
  const std::string spec = device().info().spec, missing(name(absent));
  const Matrix train = hard_rows(DataKind::normal, Set::train, 100, 3, Metric::l2);
  const Index index(device(), train, Metric::l2);
  Trace trace;
  const Neighbors found = index.search(train, 4, sampling({absent, present}), &trace);
  CHECK(difference(found, neighbors(Metric::l2, train, train, 4)) == "");
  CHECK(trace.plan.selector == present);
  CHECK(trace.plan.reason.find("; " + missing + " is left out: " + spec + " has no selector " + missing +
                               "; it has ") != std::string::npos);
  const std::string refused = error_of([&] { index.search(train, 4, sampling({absent})); });
  CHECK(refused.starts_with("unsupported: search: " + spec + " has none of the selectors to be sampled, " +
                            missing + "; it has "));
}

TEST_CASE("sample: refuses what leaves nothing to choose") {
  const Matrix train = matrix(1, {0, 1, 2, 3});
  const Index index(device(), train);
  const auto refused = [&](const SearchOptions& options) {
    return error_of([&] { index.search(train, 1, options); });
  };
  SearchOptions options = sampling({Selector::threshold, Selector::radix});
  options.selector = Selector::threshold;
  CHECK(refused(options) ==
        "invalid_argument: search: a sample to choose among threshold, radix was asked for, and selector "
        "threshold; drop one of the two");
  options.selector = Selector::automatic;
  options.fused = true;
  CHECK(refused(options) ==
        "invalid_argument: search: a sample to choose among threshold, radix was asked for, and the fused "
        "step, which has its own selection; drop one of the two");
  CHECK(refused(sampling({Selector::automatic})) ==
        "invalid_argument: search: a sample to choose among automatic was asked for, but automatic is no "
        "selector; name those to be timed");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_sampling
