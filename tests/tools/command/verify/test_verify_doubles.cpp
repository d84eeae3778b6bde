// Runs kith verify --train and kith compare --train in double precision: where kith search computes in it by
// itself, and where that is asked for. All cases run on the CPU.
#include <nlohmann/json.hpp>

#include "tools/command/text/map_points.hpp"

namespace command_tests::test_verify_doubles {
namespace {

/// Writes rows and queries that float32 would round. Returns the options that name them.
string map_files(const Folder& folder) {
  return " --device cpu --train " + folder.write("t.npy", npy_of(map_points(300, 7))) + " --queries " +
         folder.write("q.npy", npy_of(map_points(20, 8)));
}

}  // namespace

TEST_CASE("verify: an earlier answer in double precision is compared bit by bit") {
  const Folder folder;
  const string files = map_files(folder);
  for (const char* more :
       {"", " --prepare arithmetic=f64", " --prepare arithmetic=f32", " --scale standardize",
        " --prepare arithmetic=f64 --scale standardize", " --metric cosine"})
    for (const string ending : {".npy", ".csv", ".txt"}) {
      CAPTURE(more + ending);
      const string index = folder / ("i" + ending), distance = folder / ("d" + ending);
      REQUIRE(kith("search -k 2 --out-index " + index + " --out-distance " + distance + files + more).code ==
              0);
      const string asked = "verify --found-index " + index + " --found-distance " + distance + files + more;
      const Result same = kith(asked);
      CHECK_MESSAGE(same.code == 0, same.err);
      const bool single = contains(more, "f32") || string(more) == " --scale standardize";
      CHECK(contains(same.out, "; in double precision, compared with " + index + "\n") == !single);
      CHECK(same.out.ends_with("Same bits everywhere.\n"));
      CHECK(kith(asked + " -m 7").code == 0);
      CHECK(kith("verify --found-index " + index + files + more).code == 0);
    }
  const string kept = folder.read("d.npy");
  REQUIRE(contains(kept.substr(0, 80), "'<f8'"));
  for (const std::size_t back : {std::size_t{1}, std::size_t{8}}) {  // its exponent, and its last bit
    string wrong = kept;
    wrong[kept.size() - back] = static_cast<char>(wrong[kept.size() - back] ^ 1);
    folder.write("d.npy", wrong);
    const Result told = kith("verify --metric cosine --found-index " + (folder / "i.npy") +
                             " --found-distance " + (folder / "d.npy") + files);
    CHECK(told.code == 1);
    CHECK(contains(told.out, ": 1 queries DIFFERENT, first: query 19, place 1: row "));
  }
}

TEST_CASE(
    "verify: distances of the other arithmetic are refused, and files of float32 choose single precision") {
  const Folder folder;
  const string files = map_files(folder), index = folder / "i.npy", distance = folder / "d.npy";
  const auto search = [&](const string& more, const string& ending = ".npy") {
    REQUIRE(kith("search -k 2 --out-index " + index + " --out-distance " + (folder / ("d" + ending)) + files +
                 more)
                .code == 0);
  };
  const string asked = "verify --found-index " + index + files + " --found-distance ";
  const auto refused = [&](const char* held, const char* searched, const char* advice) {
    return "invalid_argument: verify: " + distance + " holds " + held + ", but " + (folder / "t.npy") +
           " is searched in " + searched +
           " precision, so their bits cannot be compared; give --prepare arithmetic=" + advice +
           " as to that search, or leave --found-distance out";
  };
  search("");
  const Result single = kith(asked + distance + " --prepare arithmetic=f32");
  CHECK(single.code == 2);
  CHECK(contains(single.err, refused("float64", "single", "f64")));
  search(" --prepare arithmetic=f32");
  const Result wide = kith(asked + distance);
  CHECK(wide.code == 2);
  CHECK(contains(wide.err, refused("float32", "double", "f32")));
  search("", ".fvecs");
  CHECK(kith(asked + (folder / "d.fvecs")).code == 0);
  check_refused(
      asked + (folder / "d.fvecs") + " --prepare arithmetic=f64", 2,
      "invalid_argument: verify: --prepare arithmetic=f64 is double precision, but --found-distance " +
          (folder / "d.fvecs") + " holds float32 alone; choose .npy, .csv, .tsv or .txt");
}

TEST_CASE("verify: every proposer gives the bits of doubles, and so does the plain program") {
  const Folder folder;
  const string files = map_files(folder);
  for (const string metric : {"l2", "squared_l2", "l1", "linf", "cosine", "negative_dot"}) {
    CAPTURE(metric);
    const auto found =
        nlohmann::json::parse(kith("verify -k 3 --reference plain --json --metric " + metric + files).out);
    CHECK(found["arithmetic"] == "f64");
    CHECK(found["reference"] == "plain");
    CHECK(found["results"][0]["proposer"] == "none");
    for (const auto& one : found["results"]) CHECK((one.contains("refused") || one["same"] == true));
  }
  const Result text = kith("verify -k 3 -m 6" + files);
  CHECK(text.code == 0);
  CHECK(contains(
      text.out,
      ": l2, n = 300, m = 6, dims = 3, k = 3; in double precision, compared with cpu, where the chain of "
      "floats alone proposes\n"));
  CHECK(contains(text.out, "\ncpu     dot       same  "));
  CHECK(contains(kith("verify -k 3 -m 6 --json --prepare arithmetic=f32" + files).out,
                 "\"arithmetic\": \"f32\""));
}

TEST_CASE("compare: whole searches and classifications of files are in double precision") {
  const Folder folder;
  const string asked = "compare -k 3 --stage distance,search,classify" + map_files(folder);
  for (const char* reference : {" --reference plain", " --reference cpu"}) {
    const Result text = kith(asked + reference);
    CHECK_MESSAGE(text.code == 0, text.out);
    CHECK(contains(text.out,
                   "dims = 3, k = 3; search and classify in double precision, all else by the float32 of "
                   "these rows; select and nearest alone: lists = 8\n"));
    CHECK(text.out.ends_with("Same bits everywhere.\n"));
    CHECK(contains(text.err, "kith therefore computes in double precision"));
  }
  const auto found = nlohmann::json::parse(kith(asked + " --json").out)[0];
  CHECK(found["arithmetic"] == "f64");
  CHECK(contains(found["results"][1]["plan"], "double chains"));
  CHECK(contains(found["results"][2]["plan"], "double chains"));
  const Result single = kith(asked + " --json --prepare arithmetic=f32");
  CHECK(contains(single.out, "\"arithmetic\": \"f32\""));
  CHECK(!contains(single.out, "double chains"));
  const string exact = folder.write("e.csv", "0.5,1\n2,3\n4,7\n");
  const string small =
      "compare --device cpu -k 1 --stage search,classify --json --train " + exact + " --queries " + exact;
  CHECK(contains(kith(small).out, "\"arithmetic\": \"f32\""));
  const Result doubles = kith(small + " --prepare arithmetic=f64");
  CHECK(doubles.code == 0);
  CHECK(contains(doubles.out, "\"arithmetic\": \"f64\""));
  CHECK(contains(doubles.out, "double chains"));
}

}  // namespace command_tests::test_verify_doubles
