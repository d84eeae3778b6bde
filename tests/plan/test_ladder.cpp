// Tests the attempts of a plan, what earlier searches taught, and that rules do not ask for names of
// back ends.
#include <filesystem>
#include <regex>

#include "common/described_devices.hpp"
#include "common/device.hpp"
#include "kith/unstable/plan.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

namespace fs = std::filesystem;
using Way = Attempt::Way;
using When = Attempt::When;

const Problem many{Metric::l2, 1000000, 10000, 128, 10};

std::vector<Way> ways_of(const Plan& plan) {
  std::vector<Way> ways;
  for (const Attempt& attempt : plan.attempts) ways.push_back(attempt.way);
  return ways;
}

/// Returns whether a line decides by the name of a back end, or of its driver.
bool asks_for_a_name(const std::string& line) {
  static const std::regex question(R"(\b(backend|driver)(\.name)?(\(\))?\s*[!=]=)");
  return std::regex_search(line, question);
}

TEST_CASE(
    "attempts: a proposer guesses, is careful, takes longer lists, short steps, and leaves the rest to the "
    "chain") {
  const DeviceInfo gpu = described_gpu("cuda");
  const Plan plan = make_plan(gpu, many);
  REQUIRE(plan.proposer == Proposer::fp16);
  REQUIRE(ways_of(plan) == std::vector<Way>{Way::guess, Way::careful, Way::longer, Way::longer, Way::exact});
  const Attempt &guess = plan.attempts[0], &careful = plan.attempts[1], &longer = plan.attempts[2],
                &last = plan.attempts[3];
  CHECK(guess.when == When::many);
  CHECK(guess.growth == plan.growth);
  CHECK(guess.seed_rows == plan.sample_rows * plan.growth);
  CHECK(careful.when == When::many);
  CHECK(careful.seed_rows >= 4 * many.k);
  CHECK(careful.growth <= guess.growth);
  CHECK(longer.when == When::few);
  CHECK(longer.lists == Attempt::many_open);
  CHECK(longer.step_rows == careful.step_rows);
  CHECK(last.when == When::few);
  CHECK(last.lists == longer.lists);
  CHECK(2 * last.step_rows <= plan.candidates * last.lists);  // half a list
  CHECK(plan.attempts[4] == Attempt{});
  CHECK(make_plan(gpu, many, {.proposer = Proposer::none}).attempts == std::vector<Attempt>{Attempt{}});
}

TEST_CASE("attempts: a library that writes products alone has no bounds to guess from") {
  const Plan plan = make_plan(described_gpu("cuda"), many, {.proposer = Proposer::gemm});
  CHECK(ways_of(plan) == std::vector<Way>{Way::careful, Way::longer, Way::longer, Way::exact});
  CHECK(plan.visit_rows > 0);
}

TEST_CASE("attempts: the plan explains each of them in a line") {
  const std::string text = explain(make_plan(described_gpu("cuda"), many));
  std::size_t at = 0;
  for (const char* const said : {"\nattempt        guess: ", "\nattempt        careful: ",
                                 "\nattempt        longer: ", "\nattempt        exact: "}) {
    CAPTURE(said);
    at = text.find(said, at);
    CHECK(at != std::string::npos);
  }
}

TEST_CASE("feedback: an index that misled guesses is searched without one, by the same proposer alone") {
  const DeviceInfo gpu = described_gpu("cuda");
  const Plan plan = make_plan(gpu, many);
  const Feedback misled{{{Proposer::fp16, true, 0}}}, other{{{Proposer::int8, true, 0}}};
  Plan expected = plan;
  expected.attempts.erase(expected.attempts.begin());
  CHECK(make_plan(gpu, many, {}, misled) == expected);
  CHECK(make_plan(gpu, many, {}, other) == plan);
}

TEST_CASE("feedback: a proposer that was overwhelmed is chosen for fewer neighbours alone") {
  const DeviceInfo gpu = described_gpu("opencl");
  const Feedback feedback{{{Proposer::fp16, false, many.k}}};
  const Plan plan = make_plan(gpu, many, {}, feedback);
  CHECK(plan.proposer == Proposer::none);
  CHECK(
      plan.reason.ends_with("; proposer fp16 gave way (an earlier search of this index showed that its "
                            "bounds tell too few of the rows apart)"));
  Problem fewer = many;
  --fewer.k;
  CHECK(make_plan(gpu, fewer, {}, feedback) == make_plan(gpu, fewer));
  const SearchOptions asked{.proposer = Proposer::fp16};
  CHECK(make_plan(gpu, many, asked, feedback) == make_plan(gpu, many, asked));
}

TEST_CASE("profile: no decision of the library asks for the name of a back end or a driver") {
  CHECK(asks_for_a_name("  if (info.backend == \"cpu\") return;"));
  CHECK(asks_for_a_name("device.info().driver != \"avx2\""));
  CHECK(asks_for_a_name("if (backend.name == \"cpu\")"));
  CHECK_FALSE(asks_for_a_name("  info.backend = \"cpu\";"));
  std::size_t lines = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(test_support::in_sources("/lib/src"))) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++lines) {
      CAPTURE_ALL(entry.path().string(), line);
      if (asks_for_a_name(line)) FAIL_CHECK("a back end is asked for by its name");
    }
  }
  CHECK(lines > 10000);
}

}  // namespace
}  // namespace kith::tests
