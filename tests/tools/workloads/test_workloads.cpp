// Tests the cases that `kith compare` and `kith-lab bench` run, and the reference that answers are
// compared with.
#include "common/elements.hpp"
#include "common/test.hpp"
#include "workloads/cases.hpp"
#include "workloads/operations.hpp"
#include "workloads/proposed_cases.hpp"
#include "workloads/stored.hpp"
#include "workloads/workloads.hpp"

using namespace kith;
using namespace kith::workloads;

namespace {

DeviceInfo device_with_everything() {
  DeviceInfo info;
  info.spec = "cuda:0";
  info.selectors = all_selectors();
  info.fused_max_k = 64;
  return info;
}

}  // namespace

TEST_CASE("cases: a number always means the same case, within the contract") {
  const DeviceInfo device = device_with_everything();
  CHECK(command_line(random_case(device, 20, 11), "cuda:0") ==
        "kith compare --device cuda:0 --stage search --data clusters --seed 616306 -n 256 -m 3 --dims 100 -k "
        "255 --metric l1 --element f16,u8 --how train_tile=8 --place threads=1");
  std::size_t alone[all_stages.size()] = {}, stored[all_elements.size()] = {};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Case c = random_case(device, 5, i);
    CAPTURE(command_line(c, "cuda:0"));
    CHECK(c == random_case(device, 5, i));
    CHECK(c.n >= 1);
    CHECK(c.m >= 0);
    CHECK(c.dims >= 1);
    CHECK((1 <= c.k && c.k <= c.n));
    CHECK(admits(c.metric, c.data));
    ++stored[static_cast<std::size_t>(c.train_element)];
    for (const Element element : {c.train_element, c.query_element})
      CHECK((element == Element::bits) == compares_bits(c.metric));
    CHECK_FALSE((c.fused == true && (c.selector != Selector::automatic || c.k > 64)));
    CHECK((c.n == 1 || c.m * c.n * c.dims <= 300000000));
    if (c.stage) {
      ++alone[static_cast<std::size_t>(*c.stage)];
      CHECK((c.m > 0 && c.classes > 0));
    }
  }
  for (const Stage stage : {Stage::mask, Stage::score, Stage::accumulate})
    CHECK(alone[static_cast<std::size_t>(stage)] > 10);
  for (const Element element : all_elements) CHECK(stored[static_cast<std::size_t>(element)] > 20);
}

TEST_CASE("cases: rows of an element hold what they are, and are as near to 0") {
  for (const DataKind kind : all_data_kinds)
    for (const Element element : kith::tests::number_elements) {
      Case c{.data = kind};
      c.m = 5, c.n = 1, c.dims = 9;
      c.query_element = element;
      const Rows made = make_rows(kind, c.seed, Set::queries, c.m, c.dims), rows = case_rows(c, Set::queries);
      const StoredRows stored(element, rows);
      CAPTURE_ALL(name(kind), name(element));
      REQUIRE(row_bytes(element, c.dims) == stored.view().stride_bytes);
      for (std::int64_t r = 0; r < c.m; ++r)
        for (std::int64_t d = 0; d < c.dims; ++d) {
          const float value = rows.view()(r, d);
          CHECK(std::bit_cast<std::uint32_t>(kith::tests::value_in(stored.view(), r, d)) ==
                std::bit_cast<std::uint32_t>(value));
          CHECK(std::fabs(value) <= std::fabs(made.view()(r, d)));
        }
    }
  Case words{.metric = Metric::hamming};
  words.train_element = words.query_element = Element::bits;
  words.m = 3, words.dims = 2;
  const Rows rows = case_rows(words, Set::queries);
  const StoredRows stored(Element::bits, rows);
  CHECK(stored.view().cols == 64);
  for (std::int64_t r = 0; r < 3; ++r) CHECK(std::memcmp(stored.view().row(r), rows.view().row(r), 8) == 0);
}

TEST_CASE("cases: a command line says all that is not chosen by the plan") {
  Case c{.data = DataKind::grid, .seed = 7};
  c.n = 100, c.m = 5, c.dims = 3, c.k = 9;
  c.metric = Metric::l1;
  CHECK(command_line(c, "opencl:0") ==
        "kith compare --device opencl:0 --stage search --data grid --seed 7 -n 100 -m 5 --dims 3 -k 9 "
        "--metric l1");
  c.classes = 4;
  c.selector = Selector::bubble;
  c.fused = false;
  c.lists = 2, c.query_tile = 3, c.train_tile = 50, c.threads = 1;
  CHECK(
      command_line(c, "cuda:0") ==
      "kith compare --device cuda:0 --stage classify --data grid --seed 7 -n 100 -m 5 --dims 3 -k 9 --metric "
      "l1 --classes 4 --how selector=bubble,fused=no,lists=2,query_tile=3,train_tile=50 --place threads=1");
  Case alone{.seed = 7, .stage = Stage::score};
  alone.n = 100, alone.m = 5, alone.dims = 3, alone.k = 9, alone.classes = 4;
  CHECK(command_line(alone, "cpu") ==
        "kith compare --device cpu --stage score --data normal --seed 7 -n 100 -m 5 --dims 3 -k 9 --metric "
        "squared_l2 --classes 4");
}

TEST_CASE("plain_answer: neighbours and votes that can be checked on paper") {
  const float train[] = {0, 2, 1, 2}, queries[] = {2, 0.5f};
  const std::vector<std::int64_t> labels = {9, 4, 9, 4};
  const Answer found = plain_answer(Metric::l2, {train, 4, 1}, {queries, 2, 1}, 3, &labels);
  CHECK(found.neighbors.row == std::vector<std::int64_t>{1, 3, 2, 0, 2, 1});
  CHECK(found.neighbors.distance == std::vector<float>{0, 0, 1, 0.5f, 0.5f, 1.5f});
  CHECK(found.label == std::vector<std::int64_t>{4, 9});
  CHECK(found.votes == std::vector<std::uint32_t>{2, 1, 1, 2});
}

TEST_CASE("plain_result: parts, padding and votes") {
  const float distances[] = {3, 1, 2, 1, 0};
  Operation operation{.stage = Stage::select};
  operation.n = 5, operation.m = 1, operation.k = 2, operation.lists = 3;
  Operands operands;
  operands.distances = {distances, 1, 5};
  const StageResult lists = plain_result(operation, operands);
  CHECK(lists.cells == std::vector<std::uint64_t>{make_key(1, 1), make_key(3, 0), make_key(1, 3),
                                                  make_key(2, 2), make_key(0, 4), no_key});
  operation.stage = Stage::merge;
  operands.lists = lists.cells;
  const StageResult merged = plain_result(operation, operands);
  CHECK(merged.cells == std::vector<std::uint64_t>{make_key(0, 4), make_key(1, 1)});
  operation.stage = Stage::vote;
  operation.classes = 3;
  const std::vector<std::uint32_t> labels = {0, 2, 0, 0, 1};
  operands.nearest = merged.cells;
  operands.labels = labels;
  CHECK(plain_result(operation, operands).cells == std::vector<std::uint64_t>{1, 0, 1, 1});
}

TEST_CASE("plain_result: candidates within the threshold, their keys, and what is best") {
  const float distances[] = {3, 1, 2, 1, /**/ 0, 0, 0, 0}, threshold[] = {2, 0};
  Operation operation{.stage = Stage::collect};
  operation.n = 4, operation.m = 2, operation.dims = 1, operation.k = 2, operation.capacity = 3;
  Operands operands;
  operands.distances = {distances, 2, 4};
  operands.threshold = threshold;
  CHECK(plain_result(operation, operands).cells ==
        std::vector<std::uint64_t>{3, 1, 2, 3, /**/ 4, no_row, no_row, no_row});
  operation.stage = Stage::rerank;
  operation.metric = Metric::l1;
  const float queries[] = {0, 5}, train[] = {9, 5, 3, 1};
  const std::uint32_t counts[] = {2, 4}, candidates[] = {3, 1, 7, /**/ 0, 1, 2};
  operands.queries = {queries, 2, 1};
  operands.train = {train, 4, 1};
  operands.counts = counts;
  operands.candidates = candidates;
  const StageResult keys = plain_result(operation, operands);
  CHECK(keys.cells == std::vector<std::uint64_t>{make_key(1, 3), make_key(5, 1), no_key, /**/ make_key(4, 0),
                                                 make_key(0, 1), make_key(2, 2)});
  operation.stage = Stage::tighten;
  const std::vector<Key> best = {make_key(2, 8), make_key(7, 9), /**/ make_key(0, 0), no_key};
  operands.keys = keys.cells;
  operands.best = best;
  const auto bits = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  CHECK(plain_result(operation, operands).cells == std::vector<std::uint64_t>{make_key(1, 3), make_key(2, 8),
                                                                              bits(2), 0, /**/ make_key(0, 0),
                                                                              make_key(0, 1), bits(0), 1});
}

TEST_CASE("plain_result: filters, weights and sums of classes") {
  const auto bits = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  const float distances[] = {3, 1, 2, 1, /**/ 0x1p24f, 0, 1, -0.0f}, weights[] = {0.5f, 4, /**/ 1, 0.25f};
  const std::uint32_t labels[] = {0, 2, 0, 2}, filter[] = {0b1101, 0b0010};
  const Key nearest[] = {make_key(1, 1), make_key(1, 3), /**/ make_key(0, 2), no_key};
  Operation operation{.stage = Stage::mask};
  operation.n = 4, operation.m = 2, operation.k = 2, operation.classes = 3;
  Operands operands;
  operands.distances = {distances, 2, 4};
  operands.filter = filter;
  operands.weights = weights;
  operands.labels = labels;
  operands.nearest = nearest;
  const std::uint64_t out = 0x7FFFFFFFu;
  CHECK(plain_result(operation, operands).cells ==
        std::vector<std::uint64_t>{bits(3), out, bits(2), bits(1), /**/ out, bits(0), out, out});
  operands.filter = operands.filter.first(1);  // one filter for both queries
  CHECK(plain_result(operation, operands).cells == std::vector<std::uint64_t>{bits(3), out, bits(2), bits(1),
                                                                              /**/ bits(0x1p24f), out,
                                                                              bits(1), bits(-0.0f)});
  operation.stage = Stage::score;
  CHECK(plain_result(operation, operands).cells ==
        std::vector<std::uint64_t>{bits(0), bits(0), bits(4.5f), /**/ bits(1), bits(0), bits(0)});
  operation.stage = Stage::accumulate;
  const auto far = bits(std::numeric_limits<float>::infinity());
  // 2^24 + 1 is no float: the sum stays 2^24, and 1 is left over.
  CHECK(plain_result(operation, operands).cells ==
        std::vector<std::uint64_t>{bits(2), far, bits(1), bits(5), 0, bits(2), 0, 0, 0, /**/ bits(1), far,
                                   bits(0), bits(0x1p24f), 0, 0, bits(1), 0, 0});
}

TEST_CASE("stages: what a step changes is as at first when it runs again") {
  const Device cpu = open_device("cpu");
  const std::vector<float> distances = {3, 1, 2, 1}, threshold = {1};
  const std::vector<std::uint32_t> counts = {2};
  const std::vector<Key> keys = {make_key(4, 7), make_key(1, 5)}, best = {make_key(2, 0)};
  Operation operation;
  operation.n = 4, operation.m = 1, operation.k = 1, operation.capacity = 2;
  Operands operands;
  operands.distances = {distances.data(), 1, 4};
  operands.threshold = threshold;
  operands.counts = counts;
  operands.keys = keys;
  operands.best = best;
  const std::vector<std::uint32_t> filter = {0b0110}, labels = {0, 1, 1, 0};
  operands.filter = filter;
  operands.labels = labels;
  operation.classes = 2;
  for (const Stage stage : {Stage::collect, Stage::tighten, Stage::mask, Stage::accumulate}) {
    operation.stage = stage;
    spi::with_device(cpu, [&](spi::Device& device) {
      PreparedStage prepared(device, operation, operands);
      REQUIRE(prepared.refusal() == "");
      for (int run = 0; run < 2; ++run) {
        prepared.run();
        CHECK(difference(plain_result(operation, operands), prepared.result(0, 1)) == "");
      }
    });
  }
}

TEST_CASE("difference: names the first place, with decimals and bits") {
  Answer expected;
  expected.neighbors = {2, 2, {1, 2, 3, 4}, {5, 6, 7, 8}};
  Answer actual = expected;
  CHECK(difference(expected, actual) == "");
  actual.neighbors.distance[3] = -0.0f;
  actual.neighbors.row[3] = 9;
  CHECK(difference(expected, actual) ==
        "query 1, place 1: row 9 at -0 (0x80000000), expected row 8 at 4 (0x40800000)");
  const StageResult right{StageResult::Content::keys, 2, {make_key(1, 3), no_key}};
  StageResult wrong = right;
  wrong.cells[1] = make_key(1, 4);
  CHECK(difference(right, wrong) == "row 0, column 1: row 4 at 1 (0x3F800000), expected no key");
}

TEST_CASE("run_random_cases: in two parts as in one") {
  const Device cpu = open_device("cpu");
  RandomOptions options;
  options.seed = 2;
  options.cases = 30;
  const RandomResult result = run_random_cases(cpu, nullptr, options);
  CHECK(result.compared == 30);
  CHECK(result.different == 0);
  CHECK(summary(result).substr(0, 21) == "30 cases, 0 different");
  RandomOptions rest = options;  // the same cases in two parts
  rest.cases = 10;
  rest.first = run_random_cases(cpu, nullptr, rest).next;
  rest.cases = 20;
  CHECK(run_random_cases(cpu, nullptr, rest).next == result.next);
}

TEST_CASE("proposed cases: a number always means the same set, within the contract") {
  DeviceInfo device = device_with_everything();
  device.kind = DeviceKind::gpu;
  const std::vector<Proposer> proposers = {Proposer::gemm, Proposer::fp16};
  CHECK(command_line(proposed_cases(device, proposers, 20, 3)[5], "cuda:0") ==
        "kith compare --device cuda:0 --stage search --data byte-grid --seed 595942 -n 4097 -m 16 --dims 4 "
        "-k 27 --metric l2 --how proposer=fp16,train_tile=256 --place threads=1");
  std::set<DataKind> kinds;
  std::set<std::int64_t> wide;
  std::map<Proposer, int> by;
  int few = 0, large = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::vector<Case> cases = proposed_cases(device, proposers, 5, i);
    REQUIRE(cases.size() == cases_a_set);
    CHECK(cases == proposed_cases(device, proposers, 5, i));
    for (const Case& c : cases) {
      CAPTURE(command_line(c, "cuda:0"));
      CHECK(admits(c.metric, c.data));
      CHECK((c.metric != Metric::l1 && c.metric != Metric::linf));
      CHECK((1 <= c.n && c.n <= 20000 && 1 <= c.m && c.m <= 300 && 1 <= c.dims && c.dims <= 897));
      CHECK((1 <= c.k && c.k <= std::min<std::int64_t>(c.n, 300)));
      const Case& first = cases.front();
      CHECK((c.data == first.data && c.seed == first.seed && c.n == first.n && c.dims == first.dims));
      kinds.insert(c.data);
      if (c.dims > 300) wide.insert(c.dims);
      ++by[c.proposer];
      few += c.m <= 64;
      large += c.m > 64 && c.n > 4000;
    }
  }
  CHECK(kinds.size() == all_data_kinds.size() + adversarial_data_kinds.size());
  CHECK(by.size() == 2);
  CHECK(by[Proposer::fp16] > by[Proposer::gemm]);
  CHECK(few > 1000);
  CHECK(large > 200);
  CHECK(wide.size() == 12);
}

TEST_CASE("first_of: the first queries, and of each the nearest") {
  const Neighbors all = {3, 2, {1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}};
  CHECK(first_of(all, 2, 1) == Neighbors{2, 1, {1, 3}, {10, 30}});
  CHECK(first_of(all, 3, 2) == all);
}

TEST_CASE("run_proposed_cases: in two parts and by two workers as in one") {
  const std::vector<Device> one = {open_device("cpu")}, two = {one[0], open_device("cpu")};
  ProposedOptions options;
  options.seed = 2;
  options.cases = 40;
  options.proposers = one[0].info().proposers;
  const ProposedResult whole = run_proposed_cases(one, nullptr, options);
  CHECK(whole.compared == 40);
  CHECK(whole.different == 0);
  CHECK(whole.next == 40);
  CHECK(whole.vouched == 1);
  std::uint64_t by_proposer = 0, by_kind = 0;
  for (const auto& [name, counts_of_case] : whole.case_counts) {
    const bool proposer = name == "dot" || name == "bf16" || name == "int8";
    (proposer ? by_proposer : by_kind) += counts_of_case.cases;
    CHECK(counts_of_case.queries >=
          counts_of_case.repeats + counts_of_case.fallbacks + counts_of_case.out_of_range);
  }
  CHECK(by_proposer == 40);
  CHECK(by_kind == 40);
  ProposedOptions part = options;
  part.cases = 21;
  ProposedResult parts = run_proposed_cases(two, nullptr, part);
  CHECK(parts.next == 21);
  part.first = 21;
  part.cases = 19;
  for (const auto& [name, counts_of_case] : run_proposed_cases(two, nullptr, part).case_counts)
    parts.case_counts[name] += counts_of_case;
  CHECK(parts.case_counts == whole.case_counts);
}

TEST_CASE("workloads: floors are the formulas of docs/benchmarks.md") {
  const Ceilings* h200 = find_ceilings("NVIDIA H200");
  REQUIRE(h200 != nullptr);
  CHECK(find_ceilings("Some other GPU") == nullptr);
  CHECK(floor_of(find_workload("sift_k10"), *h200).seconds == doctest::Approx(79.4e-3).epsilon(0.001));
  CHECK(floor_of(find_workload("fmnist"), *h200).seconds == doctest::Approx(29.2e-3).epsilon(0.002));
  CHECK(floor_of(find_workload("lat10m"), *h200).seconds == doctest::Approx(1.19e-3).epsilon(0.002));
  CHECK(floor_of(find_workload("select32"), *h200).seconds == doctest::Approx(0.999e-3).epsilon(0.001));
  const Workload small = scaled(find_workload("rank2d"), 0.001);
  CHECK(small.n == 262);
  CHECK(small.m == 1);
  CHECK(small.k == 262);
}
