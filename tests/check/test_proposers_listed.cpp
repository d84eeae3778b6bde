// Tests which proposers a device lists, their limits, and the text of their refusals. test_proposer.cpp tests
// their answers.
#include <filesystem>

#include "common/pipe.hpp"
#include "common/proposers.hpp"
#include "common/text.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

bool lists(Proposer proposer) {
  const auto& proposers = device().info().proposers;
  return std::find(proposers.begin(), proposers.end(), proposer) != proposers.end();
}

TEST_SUITE_BEGIN("device");

TEST_CASE("proposer: gemm is there, or says why not") {
  const auto& proposers = device().info().proposers;
  CHECK(lists(Proposer::gemm) == (device().info().backend != "cpu"));
  const std::string why = refusal_of(Proposer::gemm);
  MESSAGE("gemm on " << device().info().spec << ": " << (why.empty() ? "can be used" : why));
  if (device().info().backend == "cpu") {
    std::string others;
    for (const Proposer proposer : proposers) others += std::string(name(proposer)) + ", ";
    CHECK(why ==
          "unsupported: search: cpu has no proposer gemm; choose " + others + "none, or another device");
  }
  if (!why.empty()) CHECK(why.starts_with("unsupported: search: "));
}

TEST_CASE("proposer: a device can use those it lists that need no library, and no others") {
  const auto& proposers = device().info().proposers;
  if (device().info().backend == "cpu") CHECK(proposers.front() == Proposer::dot);
  for (const Proposer proposer :
       {Proposer::dot, Proposer::bf16, Proposer::fp16, Proposer::int8, Proposer::int4}) {
    CAPTURE(std::string(name(proposer)));
    const std::string why = refusal_of(proposer);
    CHECK(lists(proposer) == why.empty());
    if (!lists(proposer)) CHECK(why.starts_with("unsupported: search: "));
  }
}

/// Returns the shared memory that a work-group of the tensor-core kernels needs.
std::size_t least_shared_bytes() {
  return device().info().backend == "cuda" ? std::size_t{99} * 1024 : 49152;
}

TEST_CASE("proposer: with little shared memory tensor cores are not listed") {
  const DeviceInfo& info = device().info();
  if (info.kind != DeviceKind::gpu || info.local_memory_bytes >= least_shared_bytes()) return;
  for (const Proposer proposer : {Proposer::fp16, Proposer::int8, Proposer::int4}) {
    // By OpenCL a GPU may multiply bytes without tensor cores.
    if (info.backend == "opencl" && proposer == Proposer::int8) continue;
    CHECK(!lists(proposer));
    CHECK(refusal_of(proposer).starts_with("unsupported: search: " + info.spec + " has no proposer " +
                                           std::string(name(proposer)) + "; choose gemm, "));
  }
}

TEST_CASE("proposer: the same CUDA device with less shared memory does not list tensor cores") {
  const DeviceInfo& info = device().info();
  if (info.kind != DeviceKind::gpu) return;
  if (info.backend != "cuda" || !lists(Proposer::fp16)) {
    MESSAGE("skipped: KITH_CUDA_SHARED_KIB says nothing of "
            << info.spec << (info.backend == "cuda" ? ", which lists no tensor cores anyway" : ""));
    return;
  }
  const std::string line = "KITH_CUDA_SHARED_KIB=64 KITH_REQUIRE_DEVICE=1 '" +
                           std::filesystem::read_symlink("/proc/self/exe").string() +
                           "' --device=" + info.spec +
                           " --test-case='proposer: with little*,proposer: a device can use those*' 2>&1";
  const test_support::Printed printed = test_support::printed_by(line);
  CAPTURE(printed.out);
  CHECK(printed.code == 0);
  CHECK(test_support::contains(printed.out, " 2 passed"));
}

TEST_CASE("proposer: rows of more than 2^20 columns are refused, by a sentence that says what to do") {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  for (const Proposer proposer : {Proposer::dot, Proposer::bf16, Proposer::fp16}) {
    if (!refusal_of(proposer).empty()) continue;
    CAPTURE(std::string(name(proposer)));
    const auto plan = [&](std::int64_t dims) {
      return Index(device(), Matrix{1, dims, std::vector<float>(size(dims), 1)})
          .plan(1, 1, {.proposer = proposer})
          .proposer;
    };
    CHECK(plan(most) == proposer);
    const std::string refused = error_of([&] { plan(most + 1); });
    CAPTURE(refused);
    CHECK(refused.starts_with("unsupported: search: " + device().info().spec + ": "));
    CHECK(refused.find("bound of proposer " + std::string(name(proposer))) != std::string::npos);
    CHECK(refused.find("1048576") != std::string::npos);
    CHECK(refused.find("1048577") != std::string::npos);
    CHECK(refused.find("; choose proposer ") != std::string::npos);
  }
}

TEST_CASE("proposer: what is no inner product is refused") {
  if (device().info().proposers.empty()) return;
  const Index index(device(), matrix(1, {1, 2, 3}), Metric::l1);
  CHECK(error_of([&] { index.search(matrix(1, {2}), 1, {.proposer = Proposer::gemm}); }) ==
        "unsupported: search: proposer gemm works by inner products, from which l1 does not follow; choose "
        "proposer none");
}

const std::string too_many_columns =
    ": proposers int8 and int4 are for up to 65536 columns, and there are 65537; choose another proposer";

TEST_CASE("proposer: int8 takes as many queries a step as the device says, and up to 65536 columns") {
  if (!refusal_of(Proposer::int8).empty()) return;
  const std::string where = "unsupported: search: " + device().info().spec + ": proposer int8 is for up to ";
  const bool gpu = device().info().kind == DeviceKind::gpu;
  const bool few = gpu && device().info().profile.byte_queries < 200;
  const Matrix rows = hard_rows(DataKind::normal, Set::train, 200, 5, Metric::l2);
  const Index index(device(), rows);
  CHECK(index.plan(200, 3, {.proposer = Proposer::int8}).query_tile == (few ? 64 : 200));
  const std::string refused = error_of(
      [&] { index.search(rows.view().slice(0, 65), 3, {.proposer = Proposer::int8, .query_tile = 65}); });
  CHECK(refused == (few ? where + "64 queries a step, and there are 65; choose fp16" : "nothing was thrown"));
  if (!few)
    CHECK(index.search(rows, 3, {.proposer = Proposer::int8, .query_tile = 65}) ==
          index.search(rows, 3, {.proposer = Proposer::none}));
  const auto one = [](std::int64_t dims) { return Matrix{1, dims, std::vector<float>(size(dims), 1)}; };
  const SearchOptions options{.proposer = Proposer::int8};
  CHECK(Index(device(), one(65536)).search(one(65536), 1, options) == Neighbors{1, 1, {0}, {0}});
  CHECK(error_of([&] { Index(device(), one(65537)).search(one(65537), 1, options); }) ==
        "unsupported: search: " + device().info().spec + too_many_columns);
}

TEST_CASE("proposer: int4 takes 64 queries a step, and up to 65536 columns") {
  if (!refusal_of(Proposer::int4).empty()) return;
  const std::string where = "unsupported: search: " + device().info().spec + ": proposer int4 is for up to ";
  const Matrix rows = hard_rows(DataKind::normal, Set::train, 200, 5, Metric::l2);
  const Index index(device(), rows);
  CHECK(index.plan(200, 3, {.proposer = Proposer::int4}).query_tile == 64);
  CHECK(index.search(rows, 3, {.proposer = Proposer::int4}) ==
        index.search(rows, 3, {.proposer = Proposer::none}));
  CHECK(error_of([&] { index.search(rows, 3, {.proposer = Proposer::int4, .query_tile = 65}); }) ==
        where + "64 queries a step, and there are 65; choose fp16");
  const Matrix one{1, 65537, std::vector<float>(65537, 1)};
  CHECK(error_of([&] { Index(device(), one).search(one, 1, {.proposer = Proposer::int4}); }) ==
        "unsupported: search: " + device().info().spec + too_many_columns);
}

TEST_CASE("proposer: bytes add up to 65536 products of 127 by 127, or by 112, without a loss") {
  for (const Proposer proposer : {Proposer::int8, Proposer::int4})
    for (const std::int64_t dims : {5000, 65535, 65536}) {
      if (!refusal_of(proposer).empty()) continue;
      CAPTURE_ALL(std::string(name(proposer)), dims);
      // The rows have equal signs, opposite signs, or half of each, so sums of both signs reach 127 * 127
      // * dims.
      Matrix rows{6, dims, {}};
      for (std::int64_t r = 0; r < rows.rows; ++r)
        for (std::int64_t d = 0; d < dims; ++d) {
          const bool negative = r / 2 == 1 || (r / 2 == 2 && d < dims / 2);
          rows.values.push_back((negative ? -1.0f : 1.0f) * (r % 2 && d == 7 ? 0.5f : 1.0f));
        }
      const Index index(device(), rows, Metric::negative_dot);
      CHECK(index.search(rows, 4, {.proposer = proposer}) ==
            index.search(rows, 4, {.proposer = Proposer::none}));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
