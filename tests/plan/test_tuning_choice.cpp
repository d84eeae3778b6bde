// Tests how plans and devices follow what `kith tune` measured. test_sampling.cpp tests sampling on the data
// at hand.
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/data_files.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/tuning.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

TEST_CASE("tuning: a plan takes the way of the problem that was measured, and says so") {
  const DeviceInfo device = tuned(gpu(), {entry(usual, Selector::bubble, 4)});
  const Plan plan = make_plan(device, usual);
  CHECK(plan.selector == Selector::bubble);
  CHECK(!plan.fused);
  CHECK(plan.lists == 4);
  CHECK(plan.reason ==
        "tuned: nearest measured problem n = 65536, m = 256, dims = 32, k = 100: bubble with 4 lists and "
        "query tiles of 256 took 1.2 ms, the built-in choice 1.9 ms");
  CHECK(make_plan(device, usual) == plan);
  CHECK(make_plan(without_tuning(device), usual) == make_plan(gpu(), usual));
  CHECK(make_plan(gpu(), usual).reason == "built-in rule: k is small enough for a buffer in local memory");
}

TEST_CASE("tuning: where the rule was the fastest, the plan is the rule's") {
  const Plan rule = make_plan(gpu(), usual);
  TuningEntry same{usual,           rule.fused,      rule.selector, rule.proposer, rule.lists,
                   rule.query_tile, rule.train_tile, 0.0019,        0.0019};
  Plan plan = make_plan(tuned(gpu(), {same}), usual);
  CHECK(
      plan.reason.starts_with("tuned: nearest measured problem n = 65536, m = 256, dims = 32, k = 100: "
                              "nothing was faster than the built-in choice, threshold with "));
  plan.reason = rule.reason;
  CHECK(plan == rule);
}

TEST_CASE("tuning: near is within four times n, m and k and twice dims, of one class of k") {
  const DeviceInfo device = tuned(gpu(), {entry(usual, Selector::bubble)});
  const auto is_tuned = [&](std::int64_t n, std::int64_t m, std::int64_t dims, std::int64_t k) {
    const std::string reason = make_plan(device, {Metric::squared_l2, n, m, dims, k}).reason;
    const bool tuned_one = reason.starts_with("tuned: ");
    CHECK((tuned_one || reason.starts_with("built-in rule, as nothing like it was measured: ")));
    return tuned_one;
  };
  CHECK(is_tuned(65536, 256, 32, 100));
  CHECK(is_tuned(4 * 65536, 256, 32, 100));
  CHECK(!is_tuned(4 * 65536 + 9, 256, 32, 100));
  CHECK(is_tuned(65536 / 4, 256, 32, 100));
  CHECK(!is_tuned(65536 / 4 - 1, 256, 32, 100));
  CHECK(is_tuned(65536, 64, 32, 100));
  CHECK(!is_tuned(65536, 63, 32, 100));
  CHECK(is_tuned(65536, 1024, 32, 100));
  CHECK(!is_tuned(65536, 1025, 32, 100));
  CHECK(!is_tuned(65536, 0, 32, 100));
  CHECK(is_tuned(65536, 256, 64, 100));
  CHECK(!is_tuned(65536, 256, 65, 100));
  CHECK(is_tuned(65536, 256, 16, 100));
  CHECK(!is_tuned(65536, 256, 15, 100));
  CHECK(is_tuned(65536, 256, 32, 400));
  CHECK(!is_tuned(65536, 256, 32, 401));
  CHECK(is_tuned(65536, 256, 32, 65));
  CHECK(!is_tuned(65536, 256, 32, 64));  // the fused step takes 64, and not 65
  const DeviceInfo large = tuned(gpu(), {entry({Metric::squared_l2, 1000, 10, 4, 125}, Selector::bubble)});
  CHECK(make_plan(large, {Metric::squared_l2, 1000, 10, 4, 125}).reason.starts_with("tuned"));
  CHECK(make_plan(large, {Metric::squared_l2, 1000, 10, 4, 126})
            .reason.starts_with("built-in"));  // above n / 8
}

TEST_CASE("tuning: the nearest problem counts, then the metric, then the time") {
  Problem twice = usual, dot = usual;
  twice.n *= 2;
  dot.metric = Metric::negative_dot;
  TuningEntry fast = entry(usual, Selector::radix);
  fast.seconds = 0.0011;
  const DeviceInfo device = tuned(gpu(), {entry(twice, Selector::threshold), entry(usual, Selector::bubble),
                                          fast, entry(dot, Selector::threshold)});
  CHECK(make_plan(device, usual).selector == Selector::radix);
  CHECK(make_plan(device, twice).selector == Selector::threshold);
  CHECK(make_plan(device, dot).selector == Selector::threshold);
  Problem rooted = usual, dots = usual;
  rooted.metric = Metric::l2;
  dots.metric = Metric::negative_dot;
  TuningEntry of_dots = fast;  // equally near and faster, but of another metric's chain
  of_dots.problem = dots;
  of_dots.selector = Selector::bubble;
  of_dots.seconds = 0.0001;
  CHECK(make_plan(tuned(gpu(), {of_dots, fast}), rooted).selector == Selector::radix);
  Problem l1 = usual;
  l1.metric = Metric::l1;  // not measured, so the fastest of the equally near ones counts
  CHECK(make_plan(device, l1).selector == Selector::radix);
  l1.n = usual.n * 3 / 2;
  CHECK(make_plan(device, l1).reason.starts_with("tuned: nearest measured problem n = 131072, "));
}

TEST_CASE("tuning: what was better than the rule is as much better elsewhere") {
  const Plan rule = make_plan(gpu(), usual);
  TuningEntry more = entry(usual, Selector::threshold, 3 * rule.lists);
  more.query_tile = rule.query_tile / 2;
  const DeviceInfo device = tuned(gpu(), {more});
  Problem near = usual;
  near.n = 4 * usual.n;
  near.m = 512;
  const Plan there = make_plan(gpu(), near), plan = make_plan(device, near);
  CHECK(plan.lists == 3 * there.lists);
  CHECK(plan.query_tile == there.query_tile / 2);
  CHECK(plan.train_tile == there.train_tile);
}

TEST_CASE("tuning: what the caller fixes is not overruled") {
  const DeviceInfo device = tuned(gpu(), {entry(usual, Selector::bubble, 4)});
  std::vector<SearchOptions> fixed(7);
  fixed[0].selector = Selector::radix;
  fixed[1].fused = false;
  fixed[2].lists = 2;
  fixed[3].query_tile = 5;
  fixed[4].train_tile = 1000;
  fixed[5].proposer = Proposer::gemm;
  fixed[6].sample = {Selector::radix};
  for (const SearchOptions& options : fixed)
    CHECK(make_plan(device, usual, options) == make_plan(gpu(), usual, options));
  SearchOptions open{.memory_limit = 100 << 20, .threads = 3};
  CHECK(make_plan(device, usual, open).selector == Selector::bubble);
  DeviceInfo cpu = gpu();
  cpu.backend = "cpu";
  cpu.kind = DeviceKind::cpu;
  cpu.profile.host_threads = true;
  cpu = tuned(cpu, {entry(usual, Selector::bubble)});
  CHECK(make_plan(cpu, usual, open).reason.starts_with("built-in rule: "));  // measured with all threads
  open.threads = 8;
  CHECK(make_plan(cpu, usual, open).selector == Selector::bubble);
}

TEST_CASE("tuning: what the device does not have is not taken") {
  const auto plan_of = [](const TuningEntry& one, const Problem& problem, const SearchOptions& options = {}) {
    return make_plan(tuned(gpu(), {one}), problem, options);
  };
  CHECK(plan_of(entry(usual, Selector::quick_sort), usual).reason ==
        "built-in rule, as nothing like it was measured: k is small enough for a buffer in local memory");
  TuningEntry fused = entry(usual, Selector::threshold);
  fused.fused = true;
  CHECK(plan_of(fused, usual).reason.starts_with("built-in rule, as nothing"));  // k = 100 is too much for it
  TuningEntry proposed = entry(usual, Selector::threshold);
  proposed.proposer = Proposer::gemm;
  CHECK(plan_of(proposed, usual).proposer == Proposer::gemm);
  CHECK(plan_of(proposed, usual)
            .reason.starts_with("tuned: nearest measured problem n = 65536, m = 256, dims = 32, k = 100: "
                                "proposer gemm, threshold with "));
  Problem other = usual;
  other.metric = Metric::l2;  // has the same chain as squared_l2, which was measured
  CHECK(plan_of(proposed, other).proposer == Proposer::gemm);
  CHECK(plan_of(proposed, other).reason == plan_of(proposed, usual).reason);
  other.metric = Metric::l1;
  CHECK(plan_of(proposed, other).proposer == Proposer::none);
  SearchOptions none;
  none.proposer = Proposer::none;
  CHECK(plan_of(proposed, usual, none).proposer == Proposer::none);
  proposed.proposer = Proposer::fp16;
  CHECK(plan_of(proposed, usual).proposer == Proposer::none);
  SearchOptions little{.memory_limit = make_plan(gpu(), usual).workspace_bytes / 64};
  CHECK(plan_of(entry(usual, Selector::bubble, 64), usual, little).workspace_bytes <= little.memory_limit);
}

TEST_CASE("tuning: a tuned plan is as whole and bounded as any") {
  for (const Selector selector : gpu().selectors)
    for (const std::int64_t lists : {1, 7, 100000})
      for (const std::int64_t tile : {1, 1000}) {
        TuningEntry odd = entry(usual, selector, lists);
        odd.query_tile = odd.train_tile = tile;
        const DeviceInfo device = tuned(gpu(), {odd});
        for (const std::int64_t n : {20000, 65536, 250000})
          for (const std::int64_t m : {64, 300, 1024})
            for (const std::int64_t k : {65, 399}) {
              CAPTURE_ALL(n, m, k);
              const Plan plan = make_plan(device, {Metric::l1, n, m, 32, k});
              CHECK(plan.reason.starts_with("tuned: "));
              CHECK(plan.selector == selector);
              CHECK(plan.query_tile >= 1);
              CHECK(plan.query_tile <= m);
              CHECK(plan.train_tile >= 1);
              CHECK(plan.train_tile <= n);
              CHECK(plan.lists >= 1);
              CHECK(plan.lists <= plan.train_tile);
              CHECK(plan.workspace_bytes <= device.memory_bytes);
            }
      }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tuning: a device brings what was measured on it, and its searches have the same bits") {
  const Folder folder;
  const Variable there("KITH_TUNING", (folder / "tuning").c_str());
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 20, 7, Metric::l2);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 3000, 7, Metric::l2);
  // Each way gets a problem, told apart by k.
  std::vector<TuningEntry> entries;
  std::int64_t k = 1;
  const DeviceInfo& here = device().info();
  for (const Selector selector : here.selectors) {
    entries.push_back(entry({Metric::l2, 3000, 20, 7, k}, selector, 3));
    entries.back().query_tile = 9;
    k = k < 300 ? k + 23 : k + 300;
  }
  entries.push_back(entry({Metric::l2, 3000, 20, 7, k}, Selector::threshold, 1));
  entries.back().proposer = Proposer::gemm;  // which has no lists
  save_tuning(tuning_with(here, entries), tuning_path(here), true);
  const Device opened = open_device(device_spec());
  REQUIRE(opened.info().tuning);
  CHECK(opened.info().tuning->entries == entries);
  CHECK(!device().info().tuning);  // opened while KITH_TUNING was off
  const Index index(opened, train, Metric::l2);
  int followed = 0;
  for (const TuningEntry& one : entries) {
    CAPTURE_ALL(name(one.selector), one.problem.k);
    Trace trace;
    const Neighbors found = index.search(queries, one.problem.k, {}, &trace);
    CHECK(difference(found, neighbors(Metric::l2, queries, train, one.problem.k)) == "");
    CAPTURE(trace.plan.reason);
    if (trace.plan.reason.find(", k = " + std::to_string(one.problem.k) + ": ") == std::string::npos) {
      // The device refused this way, so a near problem or the built-in rule decided.
      CHECK((trace.plan.reason.starts_with("tuned: ") || trace.plan.reason.starts_with("built-in rule")));
      continue;
    }
    ++followed;
    CHECK(trace.plan.selector == one.selector);
    CHECK(trace.plan.proposer == one.proposer);
    CHECK(trace.plan.lists <= one.lists);  // fewer where a device has only tiny blocks of memory
    if (device().info().largest_allocation > (std::size_t{1} << 20)) CHECK(trace.plan.lists == one.lists);
  }
  CHECK(followed >= 2);
}

TEST_CASE("tuning: a file that is not believed changes nothing, and is named once") {
  const Folder folder;
  const Variable there("KITH_TUNING", (folder / "tuning").c_str());
  const std::string path = tuning_path(device().info());
  save_tuning(empty_tuning(device().info()), path, true);
  chmod(path.c_str(), 0666);
  for (int i = 0; i < 2; ++i) {
    CHECK(!open_device(device_spec()).info().tuning);
    for (const DeviceInfo& info : devices()) CHECK(!info.tuning);
  }
  const std::vector<std::string> warnings = tuning_warnings();
  CHECK(std::count(
            warnings.begin(), warnings.end(),
            "tuning: " + path +
                " is ignored: it can be written by others (mode 0666); run `kith tune`, or remove it") == 1);
  const Variable nonsense("KITH_TUNING", "here");
  CHECK(!open_device(device_spec()).info().tuning);
  CHECK(tuning_warnings().back() ==
        "KITH_TUNING=here is neither `off` nor an absolute folder, so nothing that was measured is used; set "
        "it to one");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
