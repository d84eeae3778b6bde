// Experiments and tuning that are stopped: what was measured is kept, and the same command goes on from it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/shell.hpp"

namespace {

using namespace command_tests;
using Json = nlohmann::ordered_json;

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

TEST_CASE("kith reproduce that is interrupted keeps what is done, says what is missing, and goes on") {
  const Folder folder;
  const string options =
      " --quick --device cpu --report " + (folder / "p.html") + " --table " + (folder / "p.csv");
  const Result stopped =
      interrupted(folder,
                  {"kith", "reproduce", "gsknn-crossover,structure", "--quick", "--device", "cpu", "--report",
                   folder / "p.html", "--table", folder / "p.csv", "--json"},
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

  const Result whole = command_tests::kith("reproduce gsknn-crossover,structure" + options);
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
  CHECK(command_tests::kith("reproduce").out == command_tests::kith("reproduce list").out);
  CHECK(command_tests::kith("reproduce structure --device nonsense")
            .err.starts_with(
                "kith: invalid_argument: open_device: \"nonsense\""));  // it is a subcommand's name, too
  check_refused("reproduce gsknn-crosover", 2,
                "invalid_argument: reproduce: NAMES: there is none called \"gsknn-crosover\"; did you mean "
                "gsknn-crossover?");
  check_refused("reproduce --quick --report p.html", 2,
                "invalid_argument: reproduce: NAMES: list runs nothing, so there is nothing to write; give "
                "names, or all");
  check_refused("reproduce all,structure", 2,
                "invalid_argument: reproduce: NAMES: all stands alone; leave the other names out");
  check_refused(
      "reproduce structure --report a/../p.html --resume p.html", 2,
      "invalid_argument: reproduce: --report a/../p.html would replace the file that --resume reads, p.html; "
      "give it another name");
  for (const string& named : {string("--data"), string("--table")})
    check_refused(
        "reproduce structure,gsknn-kdd --report p.html " + named + " ./p.partial.html", 2,
        "invalid_argument: reproduce: " + named +
            " ./p.partial.html is where unfinished results of p.html are kept; give it another name");
  check_refused("reproduce x", 2,
                "invalid_argument: reproduce: NAMES: there is none called \"x\"; choose one of all, list, "
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
  CHECK(contains(stopped.err, " of 8 problems are measured and kept in " + (folder / "cpu.txt.partial.json") +
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
