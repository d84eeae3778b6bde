// Runs kith count as users do; counts were worked out by hand.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests::test_command_count {

using nlohmann::json;

namespace {

/// Six rows lie on a line, two of them at one place.
const string six_rows = "x\n0\n1\n3\n3\n7\n8\n";

string six_and_two(const Folder& folder) {
  return "count --device cpu --metric l1 --train " + folder.write("six.csv", six_rows) + " --queries " +
         folder.write("two.csv", "x\n1\n8\n");
}

}  // namespace

TEST_CASE("count: at distances and below them, as a table, a file and JSON") {
  const Folder folder;
  const string told = six_and_two(folder) + " --radius 1,2,7";
  const Result shown = kith(told);
  REQUIRE_MESSAGE(shown.code == 0, shown.err);
  CHECK(shown.out ==
        "number of training rows near each query, from 0\n"
        "query  within 1  within 2  within 7\n"
        "    0         2         4         6\n"
        "    1         2         2         5\n");
  CHECK(kith(told + " --quiet --out " + (folder / "counts.csv")).code == 0);
  CHECK(folder.read("counts.csv") == "within_1,within_2,within_7\n2,4,6\n2,2,5\n");
  CHECK(kith(told + " --quiet --strict --out - --write format=csv").out ==
        "below_1,below_2,below_7\n1,2,5\n1,2,4\n");
  CHECK(kith(told + " --quiet --write header=no --out - --write format=txt").out == "2 4 6\n2 2 5\n");
  const json document = json::parse(kith(told + " --json --strict").out);
  CHECK(document["radii"] == json({1, 2, 7}));
  CHECK(document["strict"] == true);
  CHECK(document["queries"] == 2);
  CHECK(document["results"] == json::parse(R"([{"query": 0, "counts": [1, 2, 5]},
                                               {"query": 1, "counts": [1, 2, 4]}])"));
}

TEST_CASE("count: sums over all queries, each row without itself, and by boxes") {
  const Folder folder;
  const string told = "count --device cpu --metric l1 --leave-one-out --radius 0,1,2 --train " +
                      folder.write("six.csv", six_rows);
  CHECK(kith(told + " --total").out ==
        "pairs of a query and a training row, by distance\n"
        "queries  within 0  within 1  within 2\n"
        "      6         2         6        10\n");
  CHECK(kith(told + " --quiet --out - --write format=csv,header=no").out ==
        "0,1,1\n0,1,3\n1,1,2\n1,1,2\n0,1,1\n0,1,1\n");
  CHECK(json::parse(kith(told + " --total --json").out)["total"] == json({2, 6, 10}));
  for (const char* const boxes : {"yes", "no"}) {
    const Result explained = kith(told + " --total --explain --how boxes=" + boxes);
    CHECK(contains(explained.out, "boxes") == (boxes == string("yes")));
    CHECK(contains(explained.out, "6         2         6        10\n"));
  }
}

TEST_CASE("count: a query that misses a value has no count") {
  const Folder folder;
  const string told = "count --device cpu --metric l1 --prepare missing=drop --radius 1,9 --train " +
                      folder.write("three.csv", "x,y\n0,1\n1,1\n3,1\n") + " --queries " +
                      folder.write("two.csv", "x,y\n,1\n8,1\n");
  CHECK(kith(told + " --quiet --out - --write format=csv,header=no").out == "-1,-1\n0,3\n");
  CHECK(json::parse(kith(told + " --json").out)["results"][0]["counts"] == json());
  CHECK(kith(told + " --total --quiet --out - --write format=csv,header=no").out == "0,3\n");
}

TEST_CASE("count: refuses what it cannot mean") {
  const Folder folder;
  const string told = six_and_two(folder);
  check_refused(told, 2,
                "invalid_argument: count: --radius is missing; give distances, such as --radius 0.5,1,2");
  check_refused(told + " --radius 1,x", 2,
                "invalid_argument: count: --radius: \"x\" is no finite number; give a distance");
  check_refused(
      told + " --radius 2,1", 2,
      "invalid_argument: count: radius 1 of row 0 is 1, below that before it; give radii that ascend");
  check_refused(told + " --radius 2,1 --total", 2,
                "invalid_argument: two_point: radius 1 of row 0 is 1, below that before it; give radii that "
                "ascend");
  check_refused("count --device cpu --radius 1 --train " + (folder / "six.csv"), 2,
                "invalid_argument: count: --queries is missing; see `kith count --help`");
  check_refused(told + " --radius 1 -k 3", 2,
                "invalid_argument: count: unknown option -k (search, graph, groundtruth, recall, classify, "
                "regress, select-features, compare, verify, tune have it); see `kith count --help`");
}

}  // namespace command_tests::test_command_count
