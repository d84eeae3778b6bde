// Tests sets of devices in the command, on the devices of this machine. The gate `readme`
// runs docs/howto/device-sets.md.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"
#include "kith/device.hpp"

namespace command_tests::test_command_sets {

using nlohmann::json;

namespace {

/// Returns the spec of a set of two devices, the CPU and PoCL; empty if PoCL is not installed.
string set_here() {
  for (const kith::DeviceInfo& device : kith::devices())
    if (device.platform == "Portable Computing Language") return "cpu+" + device.spec;
  return "";
}

/// Returns `count` rows of 4 floats in the format .fvecs.
string fvecs(int count) {
  string file;
  for (int i = 0; i < count; ++i) {
    const std::int32_t dims = 4;
    const float row[] = {float(i % 7), float(i % 5), float(i % 3), float(i)};
    file.append(reinterpret_cast<const char*>(&dims), sizeof dims);
    file.append(reinterpret_cast<const char*>(row), sizeof row);
  }
  return file;
}

TEST_CASE("kith on sets: rows are divided as they are told, and answers are those of the CPU alone") {
  const string set = set_here();
  if (set.empty()) return;
  const Folder folder;
  folder.write("base.fvecs", fvecs(5000));
  folder.write("query.fvecs", fvecs(30));
  const auto in_folder = [&](const string& words) {
    return shell("cd '" + folder.path() + "' && \"$kith\" " + words);
  };
  const string asked = " --queries query.fvecs -k 10 --device ";
  std::vector<Result> results;
  for (const string& words :
       {"search --train base.fvecs" + asked + set + " --explain",
        "search --train base.fvecs" + asked + set + " --place placement=replicate,shares=1,1 --explain",
        "index build --train base.fvecs --out base.kidx --device " + set,
        "search --index base.kidx" + asked + set + " --place shares=3,1 --json"}) {
    CAPTURE(words);
    results.push_back(in_folder(words));
    REQUIRE_MESSAGE(results.back().code == 0, results.back().err);
  }
  CHECK(contains(results[0].out, "the rows are split: cpu "));
  CHECK(contains(results[0].out, "member"));
  CHECK(contains(results[1].out, "all rows are on each of cpu, opencl:"));
  const json told = json::parse(results[3].out);
  REQUIRE(told["members"].size() == 2);
  CHECK(told["members"][0]["rows"] == 3744);  // 3 of 4 parts, rounded up to a multiple of 32
  CHECK(told["members"][1]["rows"] == 1256);
  const json alone = json::parse(in_folder("search --index base.kidx" + asked + "cpu --json").out);
  CHECK(told["results"] == alone["results"]);
  CHECK(!alone.contains("members"));
}

TEST_CASE("kith on sets: kith devices names the set of all, and what is wrong is said") {
  const string set = set_here();
  if (!set.empty()) {
    const Result listed = command_tests::kith("devices");
    CHECK(contains(listed.out, "several as one device: --device cpu+"));
  }
  const Folder folder;
  const string rows =
      " --train " + folder.write("base.fvecs", fvecs(9)) + " --queries " + folder / "base.fvecs";
  const Result twice = command_tests::kith("search --device cpu+cpu" + rows);
  CHECK(twice.code == 2);
  CHECK(contains(twice.err, "is there twice in a set; name each device once"));
  const Result unknown = command_tests::kith("search --place placement=spread" + rows);
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "there is none called \"spread\"; choose one of automatic, split, replicate"));
}

}  // namespace

}  // namespace command_tests::test_command_sets
