// Experiments and tuning that are stopped: what was measured is kept, and the same command goes on from it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "experiment_output.hpp"
#include "experiments.hpp"
#include "experiments/measure.hpp"
#include "experiments/memory.hpp"
#include "kept.hpp"
#include "kith/error.hpp"
#include "shell.hpp"
#include "tune.hpp"

namespace {

using namespace command_tests;
using kith::command::KeptWork;
using kith::experiments::Measured;
using kith::experiments::Memory;
using Json = nlohmann::ordered_json;

string error_of(const auto& body) {
  try {
    body();
  } catch (const kith::Error& error) {
    return string(kith::name(error.code())) + ": " + error.what();
  }
  return "no error";
}

/// A file that is called FIRST...LAST.
string file_like(const fs::path& folder, const string& first, const string& last) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const string name = entry.path().filename().string();
    if (name.starts_with(first) && name.ends_with(last)) return entry.path().string();
  }
  return {};
}

/// Run the command until it is `ready`, then interrupt it as Ctrl-C does.
Result interrupted(const Folder& folder, const std::vector<string>& words, const std::function<bool()>& ready,
                   const string& cache = {}) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    signal(SIGINT, SIG_DFL);
    if (!cache.empty()) setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      const string file = folder / (stream == STDOUT_FILENO ? "out" : "err");
      dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), stream);
    }
    execv(KITH_COMMAND_PATH, arguments.data());
    _exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!ready() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGINT);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  Result result{WIFEXITED(status) ? WEXITSTATUS(status) : 256, folder.read("out"), folder.read("err")};
  fs::remove(folder / "out");
  fs::remove(folder / "err");
  return result;
}

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

TEST_CASE("kith reproduce that is interrupted keeps what is done, says what is missing, and goes on") {
  const Folder folder;
  const string options =
      " --quick --device cpu --report " + (folder / "p.html") + " --csv " + (folder / "p.csv");
  const Result stopped =
      interrupted(folder,
                  {"kith", "reproduce", "gsknn-crossover,structure", "--quick", "--device", "cpu", "--report",
                   folder / "p.html", "--csv", folder / "p.csv", "--json"},
                  [&] { return folder.has("p.partial.html"); });
  CHECK(stopped.code == 130);
  CHECK(stopped.err.starts_with("kith: interrupted: reproduce: 1 of 2 experiments are done"));
  CHECK(contains(stopped.err, "; see " + (folder / "p.partial.html") + ", " + (folder / "p.partial.csv") +
                                  "; give the same command again to go on\n"));
  const Json json = Json::parse(stopped.out);
  REQUIRE(json.size() == 2);
  CHECK(json[0]["experiment"] == "gsknn-crossover");
  CHECK(!json[0]["charts"].empty());
  CHECK(json[1] == Json{{"experiment", "structure"}, {"missing_because", "stopped before it was done"}});
  CHECK(folder.files() == 3);
  CHECK(folder.has("p.html.partial.json"));
  const string page = folder.read("p.partial.html"), points = folder.read("p.partial.csv");
  CHECK(contains(page, "Not whole."));
  CHECK(contains(page, "1 of 2 experiments are done"));
  CHECK(contains(page, "Missing: structure."));
  CHECK(contains(points, "gsknn-crossover"));

  const Result other = command_tests::kith("reproduce structure" + options);
  CHECK(other.code == 2);
  CHECK(contains(other.err,
                 "an earlier run left gsknn-crossover there, which is not asked for now; ask for it, "
                 "too, to go on; --fresh begins anew\n"));
  const Result full =
      command_tests::kith("reproduce gsknn-crossover --device cpu --report " + (folder / "p.html"));
  CHECK(full.code == 2);
  CHECK(contains(full.err, "(--quick is true there and false here)"));

  const Result whole = command_tests::kith("compare --experiment gsknn-crossover,structure" + options);
  CHECK(whole.code == 0);
  CHECK(whole.err.starts_with("kith: note: going on from " + (folder / "p.html.partial.json") +
                              ": 1 of 2 experiments are done"));
  CHECK(whole.err.ends_with("; --fresh begins anew\n"));
  CHECK(whole.out.starts_with("gsknn-crossover: "));
  CHECK(contains(whole.out, "\n\nstructure: "));
  CHECK(folder.read("p.csv").starts_with(points));  // with the same times, so it was not measured again
  CHECK(contains(folder.read("p.csv"), "structure"));
  CHECK(!contains(folder.read("p.html"), "Not whole."));
  CHECK(folder.files() == 2);
}

TEST_CASE("kith reproduce keeps what was measured within an experiment, in the user's folder") {
  const Folder folder;
  const auto kept = [&] { return file_like(folder / "cache/kith/unfinished", "experiments-", ".json"); };
  const Result stopped = interrupted(
      folder, {"kith", "reproduce", "gsknn-crossover", "--device", "cpu"}, [&] { return !kept().empty(); },
      folder / "cache");
  CHECK(stopped.code == 130);
  CHECK(stopped.out.empty());
  CHECK(stopped.err.starts_with("kith: interrupted: reproduce: 0 of 1 experiment is done, and "));
  CHECK(contains(stopped.err, " of gsknn-crossover; give the same command again to go on\n"));
  std::ifstream file(kept());
  CHECK(Json::parse(file)["done"]["begun"]["gsknn-crossover"].size() > 0);
  // Another command has a file of its own there, and leaves none when it is done.
  const Result quick = shell("XDG_CACHE_HOME=" + (folder / "cache") +
                             " \"$kith\" reproduce gsknn-crossover --device cpu --quick");
  CHECK(quick.code == 0);
  CHECK(quick.err.empty());
  CHECK(std::distance(fs::directory_iterator(folder / "cache/kith/unfinished"), {}) == 1);
}

TEST_CASE("kith reproduce: a device that is lost ends it, and counts for nothing") {
  const Folder folder;
  const string line = "KITH_BACKEND_PATH='" KITH_TEST_PLUGIN_DIR
                      "/inexact' \"$kith\" reproduce "
                      "gsknn-crossover,ranksort-placements --quick --device planted:0 --report " +
                      (folder / "p.html");
  const Result lost = shell("KITH_PLANTED_LOST=" + (folder / "p.partial.html") + " " + line);
  CHECK(lost.code == 7);
  CHECK(lost.err.starts_with("kith: device_failure: reproduce: 1 of 2 experiments are done"));
  CHECK(contains(
      lost.err, "; see " + (folder / "p.partial.html") + "; missing: ranksort-placements (device_failure: "));
  CHECK(contains(lost.err, "it fell off the bus"));
  CHECK(contains(lost.err, "; give the same command again to go on\n"));
  CHECK(contains(folder.read("p.partial.html"), "it fell off the bus"));
  CHECK(!contains(lost.out, "ranksort-placements: "));
  const Json done = Json::parse(folder.read("p.html.partial.json"))["done"];
  CHECK(done["results"].size() == 1);
  for (const auto& [name, measured] : done["begun"].items())  // the CPU was not lost
    for (const Json& kept : measured) CHECK(!contains(kept["what"].get<string>(), "planted"));
}

TEST_CASE("kith reproduce: an experiment that fails keeps no other from being measured") {
  const Folder folder;
  const string data = folder.write("rows.csv", "1,2,3\n");
  const string line = "reproduce gsknn-kdd,gsknn-crossover --quick --device cpu --data " + data +
                      " --report " + (folder / "p.html");
  const Result failed = command_tests::kith(line);
  CHECK(failed.code == 2);
  CHECK(failed.err.starts_with("kith: note: reproduce: gsknn-kdd is left out: invalid_argument: "));
  CHECK(contains(failed.err, "\nkith: invalid_argument: reproduce: 1 of 2 experiments are done; see " +
                                 (folder / "p.partial.html") + "; missing: gsknn-kdd (invalid_argument: "));
  CHECK(failed.out.starts_with("gsknn-crossover: "));
  // The file is mended, or so it seems: only what reads it is tried again.
  folder.write("rows.csv", "1,2,3,4\n");
  const Result again = command_tests::kith(line + " --json");
  CHECK(again.code == 3);
  CHECK(again.err.starts_with("kith: note: going on from "));
  const Json json = Json::parse(again.out);
  REQUIRE(json.size() == 2);
  CHECK(contains(json[0]["missing_because"].get<string>(), "bad_file: "));
  CHECK(json[1]["charts"].size() == 1);
  const Result alone =
      command_tests::kith("reproduce gsknn-crossover --quick --device cpu --report " + (folder / "p.html"));
  CHECK(alone.code == 0);
  CHECK(folder.files() == 2);
}

TEST_CASE("kith reproduce: names, and the list") {
  CHECK(command_tests::kith("reproduce").out == command_tests::kith("compare --experiment list").out);
  CHECK(command_tests::kith("reproduce structure --device nonsense")
            .err.starts_with(
                "kith: invalid_argument: open_device: \"nonsense\""));  // it is a subcommand's name, too
  check_refused("reproduce gsknn-crosover", 2,
                "invalid_argument: reproduce: NAMES: there is none called \"gsknn-crosover\"; did you mean "
                "gsknn-crossover?");
  check_refused("reproduce all,structure", 2,
                "invalid_argument: reproduce: NAMES: all stands alone; leave the other names out");
  check_refused(
      "reproduce structure --report a/../p.html --resume p.html", 2,
      "invalid_argument: reproduce: --resume: p.html is another file of this command; give it one of "
      "its own");
  check_refused("reproduce x", 2,
                "invalid_argument: reproduce: NAMES: there is none called \"x\"; choose among all, list, "
                "pbknn-groups, pbknn-table1, gsknn-table1, gsknn-crossover, gsknn-kdd, ranksort-placements, "
                "knn-ladder, knn03-table, structure");
}

TEST_CASE("kith tune that is interrupted goes on with the problems that are missing") {
  const Folder folder;
  const std::vector<string> words = {
      "kith",   "tune", "--device", "cpu",     "-n",    "600,700",          "-m",        "5",
      "--dims", "4",    "-k",       "3,4,5,6", "--out", folder / "cpu.txt", "--seconds", "4"};
  string line;
  for (std::size_t i = 1; i < words.size(); ++i) line += words[i] + " ";
  const Result stopped = interrupted(folder, words, [&] { return folder.has("cpu.txt.partial.json"); });
  CHECK(stopped.code == 130);
  CHECK(stopped.err.starts_with("kith: interrupted: tune: cpu: "));
  CHECK(stopped.err.ends_with(" of 8 problems are measured and kept in " + (folder / "cpu.txt.partial.json") +
                              "; give the same command again to go on\n"));
  CHECK(folder.files() == 1);
  const Json kept = Json::parse(folder.read("cpu.txt.partial.json"))["done"]["problems"];
  REQUIRE(!kept.empty());
  CHECK(kept.size() < 8);

  const Result other = command_tests::kith(line + "--metric l1");
  CHECK(other.code == 2);
  CHECK(contains(other.err, "--metric is "));
  CHECK(folder.files() == 1);

  const Result whole = command_tests::kith(line + "--json");
  CHECK(whole.code == 0);
  CHECK(whole.err == "kith: note: going on from " + (folder / "cpu.txt.partial.json") + ": " +
                         std::to_string(kept.size()) + " of 8 problems are measured; --fresh begins anew\n");
  const Json problems = Json::parse(whole.out)[0]["problems"];
  REQUIRE(problems.size() == 8);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(problems[i]["best"] == kept[i]["best"][0]);
    CHECK(problems[i]["ways_timed"] == kept[i]["timed"]);
  }
  for (const Json& problem : problems) CHECK(!problem.contains("left_out_because"));
  CHECK(folder.files() == 1);
  CHECK(contains(folder.read("cpu.txt"), "n=700 m=5 dims=4 k=6 "));
}

TEST_CASE("kith tune --out replaces no file but its own, and a name alone is one in this folder") {
  const Folder folder;
  const string rows = folder.write("rows.csv", "1,2\n3,4\n");
  const string small = " --device cpu -n 100 -m 1 --dims 2 --seconds 1 --out ";
  check_refused(
      "tune -k 1" + small + rows, 3,
      "bad_file: tune: --out: " + rows + ": is there and no tuning file; name another file, or remove it");
  CHECK(folder.read("rows.csv") == "1,2\n3,4\n");
  CHECK(folder.files() == 1);
  const Result twice = shell("cd " + (folder / "") + " && for k in 1 2; do \"$kith\" tune -k $k" + small +
                             "cpu.txt > /dev/null; done; \"$kith\" tune --show --device cpu --out cpu.txt");
  CHECK(twice.err.empty());
  CHECK(twice.out.starts_with("cpu: cpu.txt\n"));
  CHECK(std::count(twice.out.begin(), twice.out.end(), '\n') == 5);  // name, titles, two entries, a gap
  const string text = folder.read("cpu.txt");
  folder.write("cpu.txt", text.substr(0, text.size() - 3));
  const Result damaged = command_tests::kith("tune -k 3" + small + (folder / "cpu.txt"));
  CHECK(damaged.code == 0);
  CHECK(damaged.err.starts_with("kith: note: tune: "));
  CHECK(damaged.err.ends_with("; what it holds is replaced\n"));
  const Result nothing = command_tests::kith("tune -k 300" + small + (folder / "none.txt"));
  CHECK(nothing.code == 2);
  CHECK(folder.files() == 2);
}

TEST_SUITE_END();
