// What is kept of experiments and tuning that were stopped: the same bits, and no other command's.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/shared/kept.hpp"
#include "common/device.hpp"
#include "common/shell.hpp"  // Folder; it wants KITH_COMMAND_PATH
#include "lab/experiments/measure.hpp"
#include "lab/experiments/memory.hpp"
#include "lab/reproduce/experiment_output.hpp"
#include "lab/tune/tune.hpp"

namespace {

using namespace command_tests;
using kith::command::KeptWork;
using kith::experiments::Measured;
using kith::experiments::Memory;
using kith::tests::error_of;
using Json = nlohmann::ordered_json;

}  // namespace

TEST_SUITE_BEGIN("command");

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
  CHECK(!(back(result) == result));  // as NaN is never itself

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

TEST_CASE("tune: what is kept is what was measured") {
  kith::command::TunedProblem problem;
  problem.problem = {kith::Metric::l1, 1000, 10, 8, 5};
  problem.refusal = "too large";
  const auto back = [](const kith::command::TunedProblem& from) {
    return kith::command::tuned_problem_of(Json::parse(kith::command::whole_json(from).dump()));
  };
  CHECK(back(problem) == problem);
  kith::TuningEntry fused{problem.problem, true, kith::Selector::threshold, kith::Proposer::none, 1, 10, 1000,
                          1.234e-7,        0.1};
  kith::TuningEntry selected = fused;
  selected.fused = false;
  selected.selector = kith::Selector::bitonic;
  selected.proposer = kith::Proposer::gemm;
  problem.refusal.clear();
  problem.built_in = fused;
  problem.best = {selected, fused};
  problem.timed = 12;
  problem.left_out = {"bubble: slow", "radix: refused"};
  problem.difference = "row 7";
  problem.unsure = true;
  CHECK(back(problem) == problem);
}

TEST_CASE("kept work: a file is believed only whole, from the same command, and is never somebody else's") {
  const Folder folder;
  const Json asked = {{"--quick", true}, {"--device", {"cpu: one"}}, {"--data", "K\xe4se"}},
             done = {1, "two", 0.1};
  KeptWork work("reproduce", folder / "state.json", asked);
  CHECK(work.load(false).is_null());
  work.save(done);
  CHECK(work.saved());
  CHECK(work.load(false) == done);
  CHECK(work.load(true).is_null());
  work.save({3});
  CHECK(work.load(false) == Json{3});
  CHECK(folder.files() == 1);

  Json other = asked;
  other["--quick"] = false;
  CHECK(error_of([&] { KeptWork("reproduce", folder / "state.json", other).load(false); }) ==
        "invalid_argument: reproduce: " + (folder / "state.json") +
            ": another command left it unfinished (--quick is true there and false here); give that command "
            "again to go on from it; --fresh begins anew");
  CHECK(KeptWork("reproduce", folder / "state.json", other).load(true).is_null());

  const string text = folder.read("state.json");
  for (const std::size_t at : {text.size() - 4, text.find("cpu: one"), text.find("checksum") + 12}) {
    string damaged = text;
    damaged[at] = damaged[at] == '3' ? '4' : '3';
    folder.write("state.json", damaged);
    CHECK(error_of([&] { work.load(false); }) ==
          "bad_file: " + (folder / "state.json") + ": is damaged; --fresh begins anew");
  }
  folder.write("state.json", text.substr(0, text.size() / 2));
  CHECK(contains(error_of([&] { work.load(false); }), "is damaged; --fresh begins anew"));
  CHECK(work.load(true).is_null());

  folder.write("state.json", "a,b\n1,2\n");
  for (const bool fresh : {false, true})
    CHECK(error_of([&] { work.load(fresh); }) ==
          "bad_file: " + (folder / "state.json") +
              ": is no file that kith keeps measurements in; name another, or move it away");
  work.remove();
  CHECK(!folder.has("state.json"));
  CHECK(contains(error_of([&] { KeptWork("tune", folder / "no/state.json", asked).check_writable(false); }),
                 "bad_file: "));
  KeptWork nowhere("tune", "", asked);
  nowhere.save(done);
  CHECK(!nowhere.saved());
  CHECK(nowhere.load(false).is_null());
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

TEST_SUITE_END();
