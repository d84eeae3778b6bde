// Tests when plans search by boxes: docs/boxes.md, section 4.
#include "common/described_devices.hpp"
#include "common/device.hpp"
#include "kith/error.hpp"
#include "kith/unstable/plan.hpp"

namespace kith::tests {
namespace {

DeviceInfo with_boxes(DeviceInfo device, std::uint32_t most = 512) {
  device.boxes_max_k = most;
  return device;
}

const Problem cloud{Metric::l2, 1000000, 20000, 3, 16};

bool by_boxes(const DeviceInfo& device, const Problem& problem, const SearchOptions& options = {},
              const Feedback& feedback = {}) {
  return make_plan(device, problem, options, feedback).boxes;
}

TEST_CASE("plan: boxes for many rows of few columns, by metrics that follow from gaps") {
  const DeviceInfo cpu = with_boxes(described_cpu("avx512", {}));
  CHECK(by_boxes(cpu, cloud));
  CHECK_FALSE(by_boxes(described_cpu("avx512", {}), cloud));
  const auto changed = [](auto change) {
    Problem problem = cloud;
    change(problem);
    return problem;
  };
  CHECK(by_boxes(cpu, changed([](Problem& p) { p.dims = 16; })));
  CHECK_FALSE(by_boxes(cpu, changed([](Problem& p) { p.dims = 17; })));
  CHECK(by_boxes(cpu, changed([](Problem& p) { p.n = 2048; })));
  CHECK_FALSE(by_boxes(cpu, changed([](Problem& p) { p.n = 2047; })));
  const auto some_wide = changed([](Problem& p) { p.n = 16000, p.dims = 9; });
  CHECK_FALSE(by_boxes(cpu, some_wide));
  CHECK_FALSE(by_boxes(with_boxes(described_gpu("cuda")), changed([](Problem& p) { p.n = 16000; }), {},
                       {.boxes_made = true}));
  CHECK_FALSE(by_boxes(cpu, changed([](Problem& p) { p.k = 513; })));
  CHECK_FALSE(by_boxes(cpu, changed([](Problem& p) { p.metric = Metric::negative_dot; })));
  CHECK(by_boxes(cpu, changed([](Problem& p) { p.metric = Metric::cosine; })));
  CHECK(by_boxes(cpu, changed([](Problem& p) { p.metric = Metric::linf; })));
}

TEST_CASE("plan: boxes are made for many queries, of this search or of those before it") {
  const DeviceInfo cpu = with_boxes(described_cpu("avx512", {})), gpu = with_boxes(described_gpu("cuda"));
  Problem one = cloud;
  one.m = 1;
  CHECK_FALSE(by_boxes(cpu, one));
  Feedback told{.queries = 20000};
  CHECK(by_boxes(cpu, one, {}, told));
  CHECK_FALSE(by_boxes(gpu, cloud));
  CHECK(by_boxes(gpu, cloud, {}, told));
  Problem many = cloud;
  many.m = 40000;  // a GPU makes boxes in the time of some 38,000 such queries
  CHECK(by_boxes(gpu, many));
  Feedback made{.boxes_made = true};
  CHECK(by_boxes(gpu, cloud, {}, made));
  CHECK(by_boxes(cpu, one, {}, made));
}

TEST_CASE("plan: where a sample decides a query may read several times what all rows are worth") {
  const DeviceInfo gpu = with_boxes(described_gpu("cuda"));
  Feedback made{.boxes_made = true};
  const std::int64_t worth = 1000000 * 43 / (32 * 5700);
  CHECK(make_plan(gpu, cloud, {}, made).most_leaves / 4 == worth);
  CHECK(make_plan(gpu, {Metric::l2, 1000000, 10000, 8, 10}, {}, made).most_leaves / 4 == worth);
}

TEST_CASE("plan: a GPU that has few queries goes by boxes where a walk is short beside all rows") {
  const DeviceInfo gpu = with_boxes(described_gpu("cuda"));
  Feedback made{.boxes_made = true};
  const auto takes = [&](std::int64_t n, std::int64_t m, std::int64_t dims, std::int64_t k) {
    return by_boxes(gpu, {Metric::l2, n, m, dims, k}, {}, made);
  };
  CHECK(takes(1310720, 1, 2, 15));         // measured: 8.6 us by boxes, 12.0 without
  CHECK_FALSE(takes(1310720, 1, 2, 101));  // 28.4 and 19.2
  CHECK(takes(100000000, 1, 3, 16));
  CHECK(takes(10000000, 15, 3, 16));
  // With more columns a walk reads more leaves.
  CHECK_FALSE(takes(1000000, 1, 8, 10));
  CHECK(takes(100000000, 1, 8, 10));
  CHECK_FALSE(takes(100000000, 1, 16, 10));
  // A sample takes the time of a walk, too.
  CHECK_FALSE(takes(1310720, 100, 2, 15));
  CHECK(takes(1310720, 1000, 2, 15));
  CHECK(takes(400000, 4096, 2, 3));  // tests/search/test_boxes.cpp
  // A query that reads more leaves than expected takes at most twice as long as reading all rows.
  const Plan plan = make_plan(gpu, {Metric::l2, 100000000, 1, 3, 16}, {}, made);
  CHECK(plan.most_leaves > 1000);
  CHECK(plan.most_leaves < 1300);
}

TEST_CASE("plan: a sample of the queries decides, and where it said no others are not asked") {
  const DeviceInfo cpu = with_boxes(described_cpu("avx512", {}));
  const Plan plan = make_plan(cpu, cloud);
  CHECK(plan.tried_queries == 64);
  CHECK(plan.most_leaves > 100);
  Problem few = cloud;
  few.m = 10;
  Feedback told{.boxes_made = true};
  const Plan of_few = make_plan(cpu, few, {}, told);
  CHECK(of_few.tried_queries == 0);  // it is unknown whether boxes pay; trying may cost a tenth more
  CHECK(of_few.most_leaves <= plan.most_leaves / 10);
  told.boxes_lose_from = 16;
  CHECK_FALSE(by_boxes(cpu, cloud, {}, told));
  Problem nearer = cloud;
  nearer.k = 15;
  CHECK(by_boxes(cpu, nearer, {}, told));
}

TEST_CASE("plan: who names another way, or has no memory for boxes, does without") {
  const DeviceInfo cpu = with_boxes(described_cpu("avx512", {}));
  SearchOptions options{.proposer = Proposer::none};
  CHECK_FALSE(by_boxes(cpu, cloud, options));
  options = {};
  options.fused = true;
  CHECK_FALSE(by_boxes(cpu, cloud, options));
  options = {};
  options.boxes = false;
  CHECK_FALSE(by_boxes(cpu, cloud, options));
  options = {};
  options.memory_limit = 1 << 20;
  CHECK_FALSE(by_boxes(cpu, cloud, options));
  options.boxes = true;  // asked for, whatever they take
  CHECK(by_boxes(cpu, cloud, options));
  options.fused = true;
  CHECK_THROWS_AS(make_plan(cpu, cloud, options), Error);
}

TEST_CASE("plan: boxes and another way are refused together, and without a demand that way is taken") {
  const DeviceInfo cpu = with_boxes(described_cpu("avx512", {}));
  std::vector<SearchOptions> ways(6);
  ways[0].selector = Selector::threshold;
  ways[1].proposer = Proposer::none;
  ways[2].sample = {Selector::threshold, Selector::radix};
  ways[3].fused = true;
  ways[4].lists = 2;
  ways[5].train_tile = 4096;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(by_boxes(cpu, cloud, ways[i]));
    ways[i].boxes = true;
    CHECK(error_of([&] { make_plan(cpu, cloud, ways[i]); }) ==
          "unsupported: search: boxes have no selector, proposer, sample, fused step, lists or training "
          "tile; drop one of the two");
  }
}

TEST_CASE("plan: what is said of boxes") {
  const std::string text = explain(make_plan(with_boxes(described_cpu("avx512", {})), cloud));
  CAPTURE(text);
  CHECK(text.find("boxes, nearest first") != std::string::npos);
  CHECK(text.find("then all rows by the chain") != std::string::npos);
  CHECK(text.find("64 queries, to tell whether boxes pay") != std::string::npos);
}

}  // namespace
}  // namespace kith::tests
