// Tests plans, which hold every decision of a search: docs/contract.md, section 4. No device is opened here.
// What a plan chooses comes from measurements and may change; its limits are tested.
#include <locale>

#include "common/described_devices.hpp"
#include "common/device.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"

namespace kith::tests {
namespace {

DeviceInfo device_of(DeviceKind kind, const std::string& backend) {
  DeviceInfo info;
  info.spec = backend == "cpu" ? "cpu" : backend + ":0";
  info.backend = backend;
  info.kind = kind;
  info.compute_units = 8;
  info.memory_bytes = std::size_t{4} << 30;
  info.largest_allocation = std::size_t{1} << 30;
  info.local_memory_bytes = 48 << 10;
  info.train_block = info.query_block = 16;
  info.selectors = {Selector::threshold, Selector::radix, Selector::bubble, Selector::insertion};
  info.fused_max_k = 64;
  info.profile.host_threads = backend == "cpu";
  return info;
}

std::vector<DeviceInfo> kinds_of_device() {
  return {device_of(DeviceKind::cpu, "cpu"), device_of(DeviceKind::cpu, "opencl"),
          device_of(DeviceKind::gpu, "opencl"), device_of(DeviceKind::gpu, "cuda")};
}

const Problem everyday{Metric::l2, 100000, 1000, 64, 10};

std::string refusal(const Problem& problem, const SearchOptions& options = {}) {
  return error_of([&] { make_plan(device_of(DeviceKind::gpu, "cuda"), problem, options); });
}

TEST_CASE(
    "plan: a CPU that multiplies bytes takes them for many rows and queries, matrix units bf16 for fewer") {
  DeviceInfo cpu = device_of(DeviceKind::cpu, "cpu");
  cpu.memory_bytes = cpu.largest_allocation = std::size_t{64} << 30;
  const auto chosen = [&](const Problem& problem, const SearchOptions& options = {}) {
    return make_plan(cpu, problem, options).proposer;
  };
  const Problem images{Metric::l2, 60000, 10000, 784, 5};
  cpu.proposers = {Proposer::dot};
  CHECK(chosen(images) == Proposer::none);
  cpu.proposers = {Proposer::dot, Proposer::int8};
  CHECK(chosen(images) == Proposer::int8);
  CHECK(chosen({Metric::cosine, 100000, 100, 64, 10}) == Proposer::int8);
  CHECK(chosen({Metric::l2, 1000000, 100, 32, 10}) == Proposer::int8);
  CHECK(chosen({Metric::l1, 60000, 10000, 784, 5}) == Proposer::none);  // no inner product
  CHECK(chosen({Metric::l2, 1000000, 1, 128, 10}) == Proposer::none);   // the quantized rows would cost more
  CHECK(chosen({Metric::l2, 1000000, 10000, 16, 10}) == Proposer::none);  // few columns
  CHECK(chosen({Metric::l2, 100000, 10000, 32, 10}) == Proposer::none);   // few numbers
  CHECK(chosen({Metric::l2, 100000, 10000, 64, 200}) == Proposer::none);  // few for so many neighbours
  CHECK(chosen({Metric::l2, 1000000, 10000, 128, 1000}) == Proposer::none);
  CHECK(chosen({Metric::l2, 20000, 100, 65537, 1}) == Proposer::none);  // sums would not fit 32 bits
  CHECK(chosen(images, {.memory_limit = std::size_t{32} << 20}) == Proposer::none);  // nor the quantized rows
  cpu.proposers = {Proposer::dot, Proposer::bf16, Proposer::int8};
  CHECK(chosen(images) == Proposer::int8);
  CHECK(chosen({Metric::l2, 20000, 10000, 784, 5}) == Proposer::bf16);    // few numbers
  CHECK(chosen({Metric::l2, 60000, 10000, 784, 101}) == Proposer::bf16);  // many neighbours
  const auto on_a_grid = [&](const Problem& problem, const SearchOptions& options = {}) {
    return make_plan(cpu, problem, options, {.byte_blur = 0}).proposer;
  };
  CHECK(on_a_grid(images) == Proposer::int8);
  CHECK(on_a_grid({Metric::l2, 60000, 10000, 784, 1000}) == Proposer::none);
  CHECK(on_a_grid({Metric::l2, 20000, 100, 65537, 1}) == Proposer::bf16);  // sums would not fit 32 bits
  CHECK(on_a_grid({Metric::l2, 16384, 100, 200, 5}) == Proposer::bf16);    // few numbers
  CHECK(chosen({Metric::l2, 1000000, 100, 32, 10}) == Proposer::int8);     // too few columns for bf16
}

TEST_CASE("plan: a CPU takes bytes for few rows if queries are many, and for fewer rows on a grid of bytes") {
  DeviceInfo cpu = device_of(DeviceKind::cpu, "cpu");
  cpu.profile.host_threads = true;
  cpu.proposers = {Proposer::dot, Proposer::int8};
  const auto chosen = [&](const Problem& problem, double byte_blur) {
    Feedback feedback{.byte_blur = byte_blur};
    return make_plan(cpu, problem, {}, feedback).proposer;
  };
  constexpr double off = 0.3, on = 0;  // the grid
  CHECK(chosen({Metric::l2, 5000, 500, 784, 5}, off) == Proposer::int8);
  CHECK(chosen({Metric::l2, 5000, 500, 784, 20}, off) == Proposer::none);  // few for so many neighbours
  CHECK(chosen({Metric::l2, 5000, 255, 784, 5}, off) == Proposer::none);
  CHECK(chosen({Metric::l2, 4095, 500, 784, 5}, off) == Proposer::none);
  CHECK(chosen({Metric::l2, 4096, 500, 63, 5}, off) == Proposer::none);
  CHECK(chosen({Metric::l2, 2048, 500, 256, 10}, on) == Proposer::int8);
  CHECK(chosen({Metric::negative_dot, 2048, 500, 784, 64}, on) == Proposer::int8);
  CHECK(chosen({Metric::l2, 5000, 128, 784, 5}, on) == Proposer::int8);
  CHECK(chosen({Metric::l2, 5000, 127, 784, 5}, on) == Proposer::none);
  CHECK(chosen({Metric::l2, 2047, 500, 784, 5}, on) == Proposer::none);
  CHECK(chosen({Metric::l2, 2048, 500, 784, 65}, on) == Proposer::none);
}

TEST_CASE("plan: a CPU keeps rows one behind the other beside bytes, where memory allows") {
  DeviceInfo cpu = device_of(DeviceKind::cpu, "cpu");
  cpu.proposers = {Proposer::dot, Proposer::int8};
  const Problem images{Metric::l2, 60000, 10000, 784, 5};
  CHECK(make_plan(cpu, images, {.proposer = Proposer::int8}).row_copy_bytes == 60000 * 784 * sizeof(float));
  CHECK(make_plan(cpu, images, {.proposer = Proposer::dot}).row_copy_bytes == 0);
  cpu.memory_bytes = std::size_t{1} << 30;
  CHECK(make_plan(cpu, images, {.proposer = Proposer::int8}).row_copy_bytes == 0);
}

TEST_CASE("plan: a sample is of some of the rows, and fits where bounds will be") {
  DeviceInfo gpu = device_of(DeviceKind::gpu, "cuda");
  gpu.proposers = {Proposer::gemm, Proposer::fp16, Proposer::int8};
  gpu.memory_bytes = std::size_t{140} << 30;
  gpu.largest_allocation = std::size_t{140} << 30;
  std::int64_t sampled = 0;
  for (const Proposer proposer : {Proposer::fp16, Proposer::int8})
    for (const std::int64_t n :
         {1, 2, 3, 7, 100, 127, 128, 500, 1023, 1024, 2047, 2048, 5000, 32768, 1000000})
      for (const std::int64_t m : {1, 64, 65, 300, 10000})
        for (const std::int64_t dims : {1, 24, 128})
          for (const std::int64_t k : {1, 10, 100, 2048})
            for (const std::int64_t tile : {0, 1, 200, 1000, 100000}) {
              if (k > n) continue;
              const Plan plan =
                  make_plan(gpu, {Metric::l2, n, m, dims, k}, {.proposer = proposer, .train_tile = tile});
              const bool fits = plan.sample_rows / spi::sample_rows * 4 <= plan.candidates * 8;
              if (plan.sample_rows % spi::quantized_block_rows == 0 && 2 * plan.sample_rows <= n && fits &&
                  plan.seed_rows > 0) {
                sampled += plan.sample_rows > 0;
                continue;
              }
              CAPTURE_ALL(n, k, tile);
              CHECK(plan.sample_rows == 0);
            }
  CHECK(sampled > 1000);
  // A search of many rows begins with a sample.
  CHECK(make_plan(gpu, {Metric::l2, 1000000, 10000, 128, 10}, {}).sample_rows > 0);
}

TEST_CASE(
    "plan: one list for a few queries of as many rows as one launch takes, and several for other steps") {
  const DeviceInfo cuda = described_gpu("cuda");
  const auto lists = [](const DeviceInfo& device, std::int64_t n, std::int64_t m, std::int64_t k) {
    const Plan plan = make_plan(device, {Metric::squared_l2, n, m, 64, k}, {.proposer = Proposer::none});
    CHECK(plan.fused);
    return plan.lists;
  };
  const std::int64_t most = cuda.profile.pairs_at_once / 32;  // rows for two batches of queries
  CHECK(lists(cuda, 81920, 32, 16) == 1);
  CHECK(lists(cuda, most, 32, 16) == 1);
  CHECK(lists(cuda, most, 17, 32) == 1);
  CHECK(lists(cuda, most + 1, 32, 16) > 1);
  CHECK(lists(cuda, most, 33, 16) > 1);
  CHECK(lists(cuda, 2 * most, 16, 16) == 1);
  CHECK(lists(cuda, 81920, 32, 33) > 1);
  CHECK(lists(cuda, 81920, 4, 16) > 1);
  CHECK(lists(cuda, 3000, 32, 16) > 1);
  CHECK(lists(described_gpu("opencl"), 81920, 32, 16) > 1);
}

TEST_CASE("plan: the same question has the same answer") {
  for (const DeviceInfo& device : kinds_of_device()) {
    CHECK(make_plan(device, everyday) == make_plan(device, everyday));
    CHECK(explain(make_plan(device, everyday)) == explain(make_plan(device, everyday)));
  }
}

TEST_CASE("plan: a program's locale, which groups digits, leaves the numbers of an explanation as they are") {
  struct Grouped : std::numpunct<char> {
    char do_thousands_sep() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Plan plan = make_plan(device_of(DeviceKind::gpu, "cuda"), everyday);
  const std::string text = explain(plan);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouped));
  const std::string grouped = explain(plan);
  std::locale::global(before);
  CHECK(grouped == text);
}

TEST_CASE("plan: is whole and within its bounds, for every problem and kind of device") {
  for (const DeviceInfo& device : kinds_of_device())
    for (const std::int64_t n : {1, 2, 17, 1000, 1000000, 100000000})
      for (const std::int64_t m : {0, 1, 33, 100000})
        for (const std::int64_t dims : {1, 3, 128, 784})
          for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, std::int64_t{2048}, n}) {
            if (k > n || n * dims > 800000000) continue;
            CAPTURE_ALL(device.backend, n, m, dims, k);
            const Problem problem{Metric::squared_l2, n, m, dims, k};
            Plan plan;
            const std::string refused = error_of([&] { plan = make_plan(device, problem); });
            if (refused.starts_with("out_of_memory: ")) continue;
            REQUIRE(refused == "nothing was thrown");
            CHECK(plan.problem == problem);
            CHECK(plan.device == device.spec);
            CHECK(plan.query_tile >= 1);
            CHECK(plan.query_tile <= std::max<std::int64_t>(m, 1));
            CHECK(plan.train_tile >= 1);
            CHECK(plan.train_tile <= n);
            CHECK(plan.lists >= 1);
            CHECK(plan.lists <= plan.train_tile);
            CHECK(plan.workspace_bytes <= device.memory_bytes);
            CHECK(plan.selector != Selector::automatic);
            CHECK(plan.proposer == Proposer::none);
            CHECK((!plan.fused || k <= device.fused_max_k || device.backend == "cpu"));
            CHECK(!plan.reason.empty());
            // A training tile lies in one block of memory.
            CHECK(static_cast<std::size_t>(plan.train_tile * dims) * sizeof(float) <=
                  device.largest_allocation);
            if (!plan.fused)
              CHECK(static_cast<std::size_t>(plan.query_tile * plan.train_tile) * sizeof(float) <=
                    device.largest_allocation);
          }
}

TEST_CASE("plan: what the caller fixes stays fixed") {
  for (const DeviceInfo& device : kinds_of_device()) {
    SearchOptions options{
        .selector = Selector::bubble, .lists = 5, .query_tile = 77, .train_tile = 1234, .threads = 3};
    const Plan plan = make_plan(device, everyday, options);
    CHECK(plan.selector == Selector::bubble);
    CHECK(!plan.fused);
    CHECK(plan.lists == 5);
    CHECK(plan.query_tile == 77);
    CHECK(plan.train_tile == 1234);
    CHECK(plan.threads == 3);
    CHECK(plan.reason == "selector bubble was asked for");
    for (const bool fused : {false, true}) {
      SearchOptions path{.fused = fused};
      CHECK(make_plan(device, everyday, path).fused == fused);
    }
  }
}

TEST_CASE("plan: tiles larger than the problem are cut to it") {
  SearchOptions options;
  options.query_tile = options.train_tile = options.lists = std::int64_t{1} << 40;
  const Plan plan = make_plan(device_of(DeviceKind::gpu, "cuda"), {Metric::l1, 50, 7, 3, 2}, options);
  CHECK(plan.query_tile == 7);
  CHECK(plan.train_tile == 50);
  CHECK(plan.lists == 50);
}

TEST_CASE("plan: less memory gives smaller tiles, never more than the limit") {
  for (const DeviceInfo& device : kinds_of_device()) {
    std::size_t before = make_plan(device, everyday).workspace_bytes;
    while (before > 20000) {
      SearchOptions options{.memory_limit = before - 1};
      std::size_t after = 0;
      const std::string refused =
          error_of([&] { after = make_plan(device, everyday, options).workspace_bytes; });
      if (refused.starts_with("out_of_memory: ")) break;
      REQUIRE(refused == "nothing was thrown");
      REQUIRE(after < before);
      before = after;
    }
    CHECK(before < 100000);
  }
}

TEST_CASE("plan: no copy of the rows, and then no proposer, where what it keeps is above the limit") {
  DeviceInfo device = device_of(DeviceKind::gpu, "cuda");
  device.memory_bytes = device.largest_allocation = std::size_t{64} << 30;
  device.proposers = {Proposer::fp16};
  // Each row takes 2 * 64 bytes quantized and 4 * 4 of row terms, 144 MB in all, and 4 * 64 for a copy.
  const Problem problem{Metric::l2, 1000000, 10000, 64, 10};
  SearchOptions options{.memory_limit = 143'000'000};
  CHECK(make_plan(device, problem, options).proposer == Proposer::none);
  options.memory_limit = 399'000'000;
  Plan plan = make_plan(device, problem, options);
  CHECK(plan.proposer == Proposer::fp16);
  CHECK(plan.row_copy_bytes == 0);
  options.memory_limit = 401'000'000;
  plan = make_plan(device, problem, options);
  CHECK(plan.proposer == Proposer::fp16);
  CHECK(plan.row_copy_bytes == 256'000'000);
}

TEST_CASE("plan: refuses sizes outside of their range") {
  CHECK(refusal({Metric::l2, 0, 1, 1, 1}) ==
        "invalid_argument: search: there are no training rows; give at least one");
  CHECK(refusal({Metric::l2, 1, 1, 0, 1}) ==
        "invalid_argument: search: rows have no columns; give at least one");
  CHECK(refusal({Metric::l2, 1, -2, 1, 1}) == "invalid_argument: search: m = -2 queries; give 0 or more");
  CHECK(refusal({Metric::l2, 2, 1, 1, 3}) ==
        "invalid_argument: search: k = 3 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(refusal({Metric::l2, 1, 1, 1, 0}) ==
        "invalid_argument: search: k = 0 is out of range for an index of 1 row; choose k from 1 to 1");
  CHECK(refusal({Metric::l2, 4294967295, 1, 1, 1}) ==
        "invalid_argument: search: n = 4294967295 training rows, but an index holds at most 4294967294; "
        "split them over several");
}

TEST_CASE("plan: refuses options that mean nothing") {
  SearchOptions options{.lists = -1};
  CHECK(refusal(everyday, options) ==
        "invalid_argument: search: lists = -1; give a positive number, or 0 to let kith choose");
  options = {};
  options.query_tile = -5;
  CHECK(refusal(everyday, options) ==
        "invalid_argument: search: query tile = -5; give a positive number, or 0 to let kith choose");
  options = {};
  options.train_tile = -7;
  CHECK(refusal(everyday, options) ==
        "invalid_argument: search: training tile = -7; give a positive number, or 0 to let kith choose");
}

TEST_CASE("plan: refuses what the device lacks, and says what it has") {
  SearchOptions options{.selector = Selector::quick_sort};
  CHECK(refusal(everyday, options) ==
        "unsupported: search: cuda:0 has no selector quick_sort; it has threshold, radix, bubble, insertion");
  options = {};
  options.proposer = Proposer::fp16;
  CHECK(refusal(everyday, options) ==
        "unsupported: search: cuda:0 has no proposer fp16; choose none, or another device");
  options = {};
  options.selector = Selector::radix;
  options.fused = true;
  CHECK(refusal(everyday, options) ==
        "unsupported: search: the fused step has its own selection, so selector radix cannot be had with it; "
        "drop one of the two");
  DeviceInfo plain = device_of(DeviceKind::gpu, "opencl");
  plain.fused_max_k = 0;
  options = {};
  options.fused = true;
  CHECK(error_of([&] { make_plan(plain, everyday, options); }) ==
        "unsupported: search: opencl:0 has no fused step; drop the demand for it");
}

TEST_CASE("plan: refuses a memory limit that no tile fits") {
  SearchOptions options{.fused = false, .memory_limit = 1000};
  // The bytes are the queries of one block, 16 rows of 64 floats; one distance; two lists of 2 * 10 keys; one
  // of 10.
  CHECK(refusal(everyday, options) ==
        "out_of_memory: search: one query takes 4500 bytes on cuda:0, but 1000 are allowed; raise the memory "
        "limit or choose a smaller k");
}

TEST_CASE("plan: explains itself, one line a decision") {
  SearchOptions options{.selector = Selector::radix, .lists = 2, .query_tile = 10, .train_tile = 1000};
  CHECK(explain(make_plan(device_of(DeviceKind::gpu, "cuda"), everyday, options)) ==
        "device         cuda:0\n"
        "problem        l2, n = 100000, m = 1000, dims = 64, k = 10\n"
        "chain          distance, then select\n"
        "selector       radix\n"
        "proposer       none\n"
        "why            selector radix was asked for\n"
        "query tile     10\n"
        "training tile  1000\n"
        "lists          2\n"
        "workspace      49696 bytes\n");
}

}  // namespace
}  // namespace kith::tests
