// Compares plans of described devices with a table: a change that is not meant to change plans changes no
// line of it. With KITH_PLANS=FILE in the environment this writes the plans there, for a new table.
#include <stdlib.h>

#include "common/described_devices.hpp"
#include "common/device.hpp"
#include "kith/unstable/plan.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

using std::string;

std::vector<std::pair<string, DeviceInfo>> devices_of_table() {
  return {{"cpu amx", described_cpu("amx", {Proposer::dot, Proposer::bf16, Proposer::int8})},
          {"cpu avx2", described_cpu("avx2", {Proposer::dot, Proposer::int8})},
          {"cpu baseline", described_cpu("baseline", {Proposer::dot})},
          {"opencl on a cpu", described_pocl()},
          {"cuda", described_gpu("cuda")},
          {"opencl on the same gpu", described_gpu("opencl")},
          {"opencl on a small gpu", described_small_gpu()}};
}

std::vector<Problem> problems_of_table() {
  std::vector<Problem> problems;
  for (const std::int64_t m : {1, 4, 64, 65, 10000})
    for (const auto& [n, dims] : {std::pair{1000, 3}, {60000, 784}, {1000000, 128}})
      for (const std::int64_t k : {1, 10, 300}) problems.push_back({Metric::l2, n, m, dims, k});
  problems.push_back({Metric::l1, 1000000, 10000, 128, 10});
  problems.push_back({Metric::cosine, 10000000, 1, 64, 100});
  problems.push_back({Metric::negative_dot, 1000000, 1000, 4, 5000});
  return problems;
}

std::vector<std::pair<string, SearchOptions>> options_of_table(const DeviceInfo& device) {
  std::vector<std::pair<string, SearchOptions>> options{
      {"", {}},
      {" selector=radix", {.selector = Selector::radix}},
      {" fused=no", {.fused = false}},
      {" self=0", {.self = 0}},
      {" limit=1e9", {.memory_limit = 1'000'000'000}},
      {" tile=3000 threads=2", {.train_tile = 3000, .threads = 2}},
  };
  for (const Proposer proposer : device.proposers)
    options.push_back({" proposer=" + string(name(proposer)), {.proposer = proposer}});
  return options;
}

string in_line(const Plan& p) {
  std::ostringstream out;
  out << (p.fused ? "fused" : name(p.selector)) << ' ' << name(p.proposer) << " seed " << p.seed_rows
      << " sample " << p.sample_rows << " visits " << p.visit_rows << " growth " << p.growth << " guesses "
      << p.guesses() << " copy " << p.row_copy_bytes << " places " << p.candidates << " lists " << p.lists
      << " tiles " << p.query_tile << " x " << p.train_tile << " bytes " << p.workspace_bytes << ": "
      << p.reason;
  return out.str();
}

string in_line(const DeviceInfo& device, const Problem& problem, const string& said,
               const SearchOptions& options) {
  std::ostringstream line;
  line << name(problem.metric) << " n=" << problem.n << " m=" << problem.m << " dims=" << problem.dims
       << " k=" << problem.k << said << " -> ";
  const string refused = error_of([&] { line << in_line(make_plan(device, problem, options)); });
  return line.str() + (refused == "nothing was thrown" ? "" : refused);
}

/// Returns one line for each plan, or for why there is none, under its device.
std::vector<string> plans() {
  std::vector<string> lines;
  for (const auto& [title, device] : devices_of_table()) {
    lines.push_back("[" + title + "]");
    for (const Problem& problem : problems_of_table()) {
      const bool all_options = problem.m >= 10000 && problem.k == 10;
      for (const auto& [said, options] : options_of_table(device))
        if (said.empty() || all_options) lines.push_back(in_line(device, problem, said, options));
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("plan: what is planned for described devices is what the table says") {
  const std::vector<string> found = plans();
  if (const char* const file = getenv("KITH_PLANS")) {
    std::ofstream out(file);
    for (const string& line : found) out << line << '\n';
    REQUIRE(out.flush());
  }
  std::ifstream table(test_support::in_sources("/tests/plan/plans.txt"));
  REQUIRE(table);
  std::size_t count = 0;
  for (string expected; std::getline(table, expected); ++count) {
    REQUIRE(count < found.size());
    CHECK(found[count] == expected);
  }
  CHECK(count == found.size());
  CHECK(count > 400);
}

}  // namespace kith::tests
