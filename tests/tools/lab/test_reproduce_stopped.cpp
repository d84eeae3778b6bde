// Tests experiments that are stopped: measurements are kept, and the same command goes on from them.
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tools/interrupted.hpp"
#include "tools/lab/lab_shell.hpp"

namespace command_tests::test_reproduce_stopped {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the path of a file named FIRST...LAST; empty if there is none.
string file_like(const fs::path& folder, const string& first, const string& last) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const string name = entry.path().filename().string();
    if (name.starts_with(first) && name.ends_with(last)) return entry.path().string();
  }
  return {};
}

}  // namespace

TEST_CASE("kith-lab reproduce that is interrupted keeps what is done, says what is missing, and goes on") {
  const Folder folder;
  const string options =
      " --quick --device cpu --report " + (folder / "p.html") + " --table " + (folder / "p.csv");
  const Result stopped =
      interrupted(folder,
                  {test_support::command_path() + "-lab", "reproduce", "gsknn-crossover,structure", "--quick",
                   "--device", "cpu", "--report", folder / "p.html", "--table", folder / "p.csv", "--json"},
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

  const Result other = lab("reproduce structure" + options);
  CHECK(other.code == 2);
  CHECK(contains(other.err,
                 "an earlier run left gsknn-crossover there, which is not asked for now; ask for it, too, to "
                 "go on; --fresh begins anew\n"));
  const Result full = lab("reproduce gsknn-crossover --device cpu --report " + (folder / "p.html"));
  CHECK(full.code == 2);
  CHECK(contains(full.err, "(--quick is true there and false here)"));

  const Result whole = lab("reproduce gsknn-crossover,structure" + options);
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

TEST_CASE("kith-lab reproduce keeps what was measured within an experiment, in the user's folder") {
  const Folder folder;
  const auto kept = [&] { return file_like(folder / "cache/kith/unfinished", "experiments-", ".json"); };
  const Result stopped = interrupted(
      folder, {test_support::command_path() + "-lab", "reproduce", "gsknn-crossover", "--device", "cpu"},
      [&] { return !kept().empty(); }, folder / "cache");
  CHECK(stopped.code == 130);
  CHECK(stopped.out.empty());
  CHECK(stopped.err.starts_with("kith: interrupted: reproduce: 0 of 1 experiment is done, and "));
  CHECK(contains(stopped.err, " of gsknn-crossover; give the same command again to go on\n"));
  std::ifstream file(kept());
  CHECK(Json::parse(file)["done"]["begun"]["gsknn-crossover"].size() > 0);
  // Another command keeps its own file there, and removes it when it is done.
  const Result quick = shell("XDG_CACHE_HOME=" + (folder / "cache") +
                             " \"$kith-lab\" reproduce gsknn-crossover --device cpu --quick");
  CHECK(quick.code == 0);
  CHECK(quick.err.empty());
  CHECK(std::distance(fs::directory_iterator(folder / "cache/kith/unfinished"), {}) == 1);
}

TEST_CASE("kith-lab reproduce: a device that is lost ends it, and counts for nothing") {
  const Folder folder;
  const string line = "KITH_BACKEND_PATH='" + test_support::in_plugins("/inexact") +
                      "' \"$kith-lab\" reproduce gsknn-crossover,ranksort-placements --quick "
                      "--device planted:0 --report " +
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

TEST_CASE("kith-lab reproduce: an experiment that fails keeps no other from being measured") {
  const Folder folder;
  const string data = folder.write("rows.csv", "1,2,3\n");
  const string line = "reproduce gsknn-kdd,gsknn-crossover --quick --device cpu --data " + data +
                      " --report " + (folder / "p.html");
  const Result failed = lab(line);
  CHECK(failed.code == 2);
  CHECK(failed.err.starts_with("kith: note: reproduce: gsknn-kdd is left out: invalid_argument: "));
  CHECK(contains(failed.err, "\nkith: invalid_argument: reproduce: 1 of 2 experiments are done; see " +
                                 (folder / "p.partial.html") + "; missing: gsknn-kdd (invalid_argument: "));
  CHECK(failed.out.starts_with("gsknn-crossover: "));
  // The input file seems repaired, so only the experiment that reads it is tried again.
  folder.write("rows.csv", "1,2,3,4\n");
  const Result again = lab(line + " --json");
  CHECK(again.code == 3);
  CHECK(again.err.starts_with("kith: note: going on from "));
  const Json json = Json::parse(again.out);
  REQUIRE(json.size() == 2);
  CHECK(contains(json[0]["missing_because"].get<string>(), "bad_file: "));
  CHECK(json[1]["charts"].size() == 1);
  const Result alone = lab("reproduce gsknn-crossover --quick --device cpu --report " + (folder / "p.html"));
  CHECK(alone.code == 0);
  CHECK(folder.files() == 2);
}

TEST_CASE("kith-lab reproduce: names, and the list") {
  CHECK(lab("reproduce").out == lab("reproduce list").out);
  CHECK(lab("reproduce structure --device nonsense")
            .err.starts_with(
                // `structure` is also the name of a subcommand of kith
                "kith: invalid_argument: open_device: \"nonsense\""));
  check_lab_refused("reproduce gsknn-crosover", 2,
                    "invalid_argument: reproduce: NAMES: there is none called \"gsknn-crosover\"; did you "
                    "mean gsknn-crossover?");
  check_lab_refused("reproduce --quick --report p.html", 2,
                    "invalid_argument: reproduce: NAMES: list runs nothing, so there is nothing to write; "
                    "give names, or all");
  check_lab_refused("reproduce all,structure", 2,
                    "invalid_argument: reproduce: NAMES: all stands alone; leave the other names out");
  check_lab_refused("reproduce structure --report a/../p.html --resume p.html", 2,
                    "invalid_argument: reproduce: --report a/../p.html would replace the file that --resume "
                    "reads, p.html; give it another name");
  for (const string& named : {string("--data"), string("--table")})
    check_lab_refused(
        "reproduce structure,gsknn-kdd --report p.html " + named + " ./p.partial.html", 2,
        "invalid_argument: reproduce: " + named +
            " ./p.partial.html is where unfinished results of p.html are kept; give it another name");
  check_lab_refused("reproduce x", 2,
                    "invalid_argument: reproduce: NAMES: there is none called \"x\"; choose one of all, "
                    "list, pbknn-groups, pbknn-table1, gsknn-table1, gsknn-crossover, gsknn-kdd, "
                    "ranksort-placements, knn-ladder, knn03-table, structure");
}

}  // namespace command_tests::test_reproduce_stopped
