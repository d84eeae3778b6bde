// Tests that a stopped `kith tune` keeps what was measured, and that the same command goes on from it.
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tools/interrupted.hpp"

namespace command_tests::test_tune_stopped {

using Json = nlohmann::ordered_json;

TEST_CASE("kith tune that is interrupted goes on with the problems that are missing") {
  const Folder folder;
  const std::vector<string> words = {test_support::command_path(),
                                     "tune",
                                     "--device",
                                     "cpu",
                                     "-n",
                                     "600,700",
                                     "-m",
                                     "5",
                                     "--dims",
                                     "4",
                                     "-k",
                                     "3,4,5,6",
                                     "--out",
                                     folder / "cpu.txt",
                                     "--seconds",
                                     "4"};
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

}  // namespace command_tests::test_tune_stopped
