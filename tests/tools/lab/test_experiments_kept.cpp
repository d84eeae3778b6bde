// Tests that what is kept of a stopped experiment is read back with the same bits.
#include <nlohmann/json.hpp>

#include "common/device.hpp"
#include "common/text.hpp"
#include "lab/experiments/measure.hpp"
#include "lab/experiments/memory.hpp"
#include "lab/reproduce/experiment_output.hpp"

namespace {

using kith::experiments::Measured;
using kith::experiments::Memory;
using kith::tests::error_of;
using std::string;
using test_support::contains;
using Json = nlohmann::ordered_json;

}  // namespace

TEST_CASE("experiment output: what is kept is what was measured, bit for bit") {
  using namespace kith::experiments;
  const double infinite = std::numeric_limits<double>::infinity();
  kith::experiments::Result result;
  result.name = "invented";
  result.title = "a \"title\", ä";
  result.paper = "a paper";
  result.hardware = "a card";
  result.quick = true;
  result.devices = {"cpu: one", "cuda:0: another"};
  result.explanation = {"what\nwas asked", "and how"};
  result.assumed = {"this"};
  result.notes = {"that"};
  result.plans = {"fused", ""};
  result.claims = {{"ratio", "16x", "1.3x", "because"}, {"", "", "", ""}};
  result.checks = {{"good", true, ""}, {"bad", false, "row 7"}};
  result.tables = {{"table", {"a", "b"}, {{"1", "2"}, {}}}, {"empty", {}, {}}};
  result.energy = "none";
  Chart chart{"chart", {"n", true, false}, {"ms", false, true}, {}};
  chart.series = {
      {"one", "cpu", "a note", {{0.1, 1.0 / 3, 5e-324}, {infinite, -infinite, {}}, {-0.0, 1e300, 2}}},
      {"two", "", "", {}}};
  result.charts = {chart, {}};
  const auto back = [](const kith::experiments::Result& from) {
    return kith::command::experiment_of(Json::parse(kith::command::experiment_json(from, true).dump()));
  };
  CHECK(back(result) == result);
  CHECK(std::signbit(back(result).charts[0].series[0].points[2].x));
  result.charts[0].series[1].points = {{1, not_measured, {}}};
  CHECK(std::isnan(back(result).charts[0].series[1].points[0].y));
  CHECK(!(back(result) == result));  // since NaN never equals itself

  std::vector<Memory::Kept> kept(2);
  kept[0] = {"select on cpu", 3, {}, {{{"select", "cpu", "host", 12, 0.1, 1e-300}, {}}, 0.3}};
  kept[0].run.steps[1].device = 2;
  kept[0].measured.device = 0.1;
  kept[0].measured.host = infinite;
  kept[0].measured.total = 1e-9;
  kept[0].measured.samples = 7;
  kept[0].measured.joules = 1.0 / 3;
  kept[0].measured.plan = "fused";
  kept[1] = kept[0];
  kept[1].measured.joules.reset();
  kept[1].run = {};
  CHECK(kith::command::memory_of(Json::parse(kith::command::memory_json(kept).dump())) == kept);
}

TEST_CASE("experiments: what was measured before a run was stopped is not measured again") {
  std::size_t changes = 0, limit = SIZE_MAX;
  const auto changed = [&] {
    if (++changes > limit) throw kith::Error(kith::Errc::interrupted, "a test: stopped");
  };
  for (const char* name : {"gsknn-crossover", "structure", "ranksort-placements"}) {
    CAPTURE(string(name));
    kith::experiments::Settings settings{{kith::open_device("cpu")}, kith::open_device("cpu")};
    settings.quick = true;
    settings.seconds = 0.001;
    const auto run = [&](Memory& memory) {
      settings.memory = &memory;
      return run_experiment(kith::experiments::find_experiment(name), settings);
    };
    changes = 0;
    limit = 2;
    Memory stopped({}, changed);
    CHECK(contains(error_of([&] { run(stopped); }), "interrupted: "));
    REQUIRE(stopped.kept().size() == 3);
    limit = SIZE_MAX;
    Memory resumed(stopped.kept(), changed);
    const kith::experiments::Result whole = run(resumed);
    CHECK(resumed.kept().size() > 3);
    const std::vector<Memory::Kept> first(resumed.kept().begin(), resumed.kept().begin() + 3);
    CHECK(kith::command::memory_json(first) == kith::command::memory_json(stopped.kept()));
    changes = 0;
    Memory again(resumed.kept(), changed);
    CHECK(kith::command::experiment_json(run(again), true) == kith::command::experiment_json(whole, true));
    CHECK(changes == 0);
  }
}

TEST_CASE("a memory takes each measurement for the one it was, and keeps none that was not timed") {
  const auto timed = [](double seconds) {
    Measured measured;
    measured.device = measured.host = measured.total = seconds;
    measured.samples = 1;
    return measured;
  };
  Memory first;
  Measured refused;
  refused.refusal = "no";
  CHECK(first.measure("a", [&] { return refused; }).refusal == "no");
  first.measure("a", [&] { return timed(1); });
  first.measure("b", [&] {
    first.measure("a", [&] { return timed(7); });
    return timed(2);
  });
  REQUIRE(first.kept().size() == 2);
  Memory second(first.kept());
  std::size_t calls = 0;
  const auto measure = [&](const char* what) {
    return second.measure(what, [&] { return ++calls, timed(9); }).device;
  };
  CHECK(measure("a") == 9);  // it was refused before
  CHECK(measure("a") == 1);
  CHECK(measure("b") == 2);
  CHECK(measure("a") == 9);
  CHECK(calls == 2);
}
