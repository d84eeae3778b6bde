// Tests what the command writes and prints for other programs: headers, stdout, JSON, --quiet.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests::test_command_outputs {

using nlohmann::json;

namespace {

const char* const flowers =
    "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n6.4,3.2,versicolor\n6.3,3.3,"
    "virginica\n";
const string ask = " --device cpu --label kind --leave-one-out -k 2 ";

json json_of(const string& arguments) {
  return json::parse(out_of(arguments + " --json"));
}

}  // namespace

TEST_CASE("csv files of the command begin with the names of their columns") {
  const Folder folder;
  const string a = "--train " + folder.write("a.csv", flowers) + ask + "--quiet ";
  const auto first_line = [&](const string& file) {
    return folder.read(file).substr(0, folder.read(file).find('\n'));
  };
  out_of("search " + a + "--out-index " + (folder / "i.csv") + " --out-distance " + (folder / "d.tsv"));
  CHECK(first_line("i.csv") == "neighbor_1,neighbor_2");
  CHECK(first_line("d.tsv") == "distance_1\tdistance_2");
  out_of("classify " + a + "--out " + (folder / "o.csv") + " --proba " + (folder / "p.csv"));
  CHECK(folder.read("o.csv").starts_with("label\nsetosa\nsetosa\n"));
  CHECK(first_line("p.csv") == "setosa,versicolor,virginica");
  const string t = "--train " + (folder / "a.csv") + " --device cpu --quiet --leave-one-out -k 2 ";
  out_of("regress " + t + "--prepare categorical=kind --target width --out " + (folder / "v.csv"));
  CHECK(first_line("v.csv") == "width");
  out_of("structure --quiet --device cpu --label kind --train " + (folder / "a.csv") + " --errors " +
         (folder / "e.csv") + " --sample-classes " + (folder / "s.csv") + " --distances " +
         (folder / "n.csv"));
  CHECK(first_line("e.csv") == "row,nearest");
  CHECK(first_line("s.csv") ==
        "smallest setosa,smallest versicolor,smallest virginica,mean setosa,mean versicolor,mean virginica");
  CHECK(first_line("n.csv") == "row_0,row_1,row_2,row_3,row_4");
  SUBCASE("which can be left out, and is not in .txt") {
    out_of("search " + a + "--write header=no --out-index " + (folder / "i.csv") + " --out-distance " +
           (folder / "d.txt"));
    CHECK(first_line("i.csv") == "1,4");
    CHECK_FALSE(contains(folder.read("d.txt"), "distance"));
  }
}

TEST_CASE("kith reads the csv files that it wrote") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  const string train = "--train " + a + " --device cpu --label kind --quiet ";
  out_of("search " + train + "--leave-one-out -k 1 --out-index " + (folder / "i.csv"));
  CHECK(folder.read("i.csv") == "neighbor_1\n1\n0\n3\n4\n3\n");
  folder.write("some.csv", "neighbor_1\n1\n0\n3\n");
  CHECK(contains(out_of("classify " + train + "--filter " + (folder / "some.csv") + " --query 6,3 -k 3"),
                 ": setosa"));
  folder.write("x.csv", "length,width\n5.1,3.5\n4.9,3.0\n7.0,3.2\n6.4,3.2\n6.3,3.3\n");
  folder.write("y.csv", "0\n0\n1\n1\n2\n");
  const string numbers =
      "--train " + (folder / "x.csv") + " --labels " + (folder / "y.csv") + " --device cpu --quiet ";
  out_of("classify " + numbers + "--leave-one-out -k 1 --out " + (folder / "answers.csv"));
  CHECK(folder.read("answers.csv").starts_with("label\n0\n"));
  CHECK(contains(out_of("classify " + numbers + "--queries " + (folder / "x.csv") + " -k 2 --truth " +
                        (folder / "answers.csv")),
                 "of 5)"));
  CHECK(contains(out_of("classify --train " + (folder / "x.csv") +
                        " --device cpu --quiet --leave-one-out -k 2 --labels " + (folder / "answers.csv")),
                 "of 5)"));
  out_of("search " + train + "--leave-one-out -k 2 --out-distance " + (folder / "d.csv"));
  CHECK(contains(out_of("search --device cpu --quiet --leave-one-out -k 1 --train " + (folder / "d.csv")),
                 "nearest"));
}

TEST_CASE("outputs go to stdout where they are -, and nothing else does") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  const Result once =
      kith("classify --train " + a + " --device cpu --label kind --leave-one-out -k 1 --out -");
  CHECK(once.code == 0);
  CHECK(once.out == "label\nsetosa\nsetosa\nversicolor\nvirginica\nversicolor\n");
  CHECK(once.err == "accuracy 0.6000 (3 of 5)\n");
  CHECK(out_of("search --train " + a + ask + "--out-index - --write format=tsv --quiet") ==
        "neighbor_1\tneighbor_2\n1\t4\n0\t4\n3\t4\n4\t2\n3\t2\n");
  const string bytes = out_of("search --train " + a + ask + "--out-index - --write format=npy");
  CHECK(bytes.starts_with("\x93NUMPY"));
  CHECK(bytes.size() == 128 + 10 * sizeof(std::int64_t));
  CHECK(out_of("search --train " + a + ask + "--out-distance - --out-index " + (folder / "i.npy"))
            .starts_with("distance_1"));
  CHECK(contains(out_of("classify --train " + a + ask + "--report -"), "<html"));
  check_refused("search --train " + a + ask + "--out-index - --out-distance /dev/stdout", 2,
                "invalid_argument: search: --out-index and --out-distance are the same file; give two names");
  check_refused(
      "search --train " + a + ask + "--out-index - --json", 2,
      "invalid_argument: search: --json and --out-index - both go to stdout; give one of them a file");
  check_refused("classify --train " + a + ask + "--save-model -", 2,
                "invalid_argument: classify: --save-model -: a model is an ordinary file; give it a name");
  folder.write("log", "before\n");
  shell("\"$kith\" search --train " + a + ask + "--quiet --out-index /dev/stdout >> " + (folder / "log"));
  CHECK(folder.read("log").starts_with("before\nneighbor_1"));
  const Result closed = shell("for i in 1 2 3 4 5 6 7 8; do seq 1 100000; done > " + (folder / "n.txt") +
                              "; set -o pipefail 2>/dev/null; \"$kith\" search --device cpu --train " +
                              (folder / "n.txt") + " --leave-one-out -k 1 --out-index - --quiet | head -1");
  CHECK(closed.err.empty());
}

TEST_CASE("a file that was written is told on stderr, unless --quiet") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  const string model = folder / "m.kith", page = folder / "p.html", out = folder / "o.csv";
  const string all =
      "classify --train " + a + ask + "--save-model " + model + " --report " + page + " --out " + out;
  const Result loud = kith(all), quiet = kith(all + " --quiet");
  CHECK(loud.code == 0);
  CHECK(contains(loud.err, "kith: note: wrote " + model + " ("));
  CHECK(contains(loud.err, "kith: note: wrote " + page + " ("));
  CHECK(contains(loud.err,
                 "kith: note: wrote " + out + " (" + std::to_string(folder.read("o.csv").size()) + " B)\n"));
  CHECK(quiet.code == 0);
  CHECK(quiet.err.empty());
  CHECK(quiet.out == loud.out);
  const string seen = shell("\"$kith\" classify" + ask + "--train " + a + " --report " + page + " 2>&1")
                          .out;  // on a terminal the result comes first
  CHECK(seen.find("accuracy ") < seen.find("kith: note: wrote "));
  CHECK(contains(seen, "kith: note: wrote "));
  const Result wrong =
      kith("classify --train " + (folder / "none.csv") + " --label kind --leave-one-out --quiet");
  CHECK(wrong.code == 3);
  CHECK(contains(wrong.err, "none.csv"));
  for (const char* name : {"devices", "search", "classify", "regress", "evaluate", "structure",
                           "select-features", "compare", "verify", "tune", "doctor"})
    CHECK(contains(kith(string(name) + " --help-all").out, "--quiet"));
}

TEST_CASE("search --json holds all neighbours") {
  const Folder folder;
  const string train = "search --train " + folder.write("a.csv", flowers);
  const json found = json_of(train + ask);
  CHECK(found["device"] == "cpu");
  CHECK(found["metric"].is_string());
  CHECK(found["k"] == 2);
  CHECK(found["radius"].is_null());
  CHECK(found["rows"] == 5);
  CHECK(found["dims"] == 2);
  CHECK(found["queries"] == 5);
  REQUIRE(found["results"].size() == 5);
  CHECK(found["results"][2]["query"] == 2);
  CHECK(found["results"][2]["neighbors"][0]["row"] == 3);
  CHECK(found["results"][2]["neighbors"].size() == 2);
  CHECK(found["results"][2]["neighbors"][0]["distance"].is_number());
  const json near =
      json_of(train + " --device cpu --label kind --query 5,3 --query 90,90 --radius 1.5 --metric l2");
  CHECK(near["k"].is_null());
  CHECK(near["radius"] == 1.5);
  CHECK(near["results"][0]["neighbors"].size() == 4);
  CHECK(near["results"][1]["neighbors"].empty());
}

TEST_CASE("a number that JSON does not have is null") {
  const Folder folder;
  const string a = folder.write("a.csv", "1e20,1\n-3e38,2\n");
  const json found = json_of("search --device cpu --metric squared_l2 --query 3e38,1 -k 2 --train " + a);
  CHECK(found["results"][0]["neighbors"][1]["distance"].is_null());
}

TEST_CASE("classify --json holds answers, votes, shares and neighbours") {
  const Folder folder;
  const string a = "classify --train " + folder.write("a.csv", flowers);
  const json found = json_of(a + ask);
  CHECK(found["classes"] == json({"setosa", "versicolor", "virginica"}));
  CHECK(found["correct"] == 4);
  CHECK(found["accuracy"] == 0.8);
  const json& first = found["results"][0];
  CHECK(first["label"] == "setosa");
  CHECK(first["truth"] == "setosa");
  CHECK(first["votes"] == json({1, 0, 1}));
  CHECK(first["proba"] == json({0.5, 0.0, 0.5}));
  CHECK(first["neighbors"][0]["row"] == 1);
  CHECK(first["neighbors"][0]["label"] == "setosa");
  const json asked = json_of(a + " --device cpu --label kind --query 5,3 -k 1");
  CHECK_FALSE(asked.contains("accuracy"));
  CHECK_FALSE(asked["results"][0].contains("truth"));
  CHECK(kith(a + ask + "--json --expect 3").code == 1);
  const string two = folder.write("two.csv", "a,k,l\n1,x,0\n2,x,1\n9,y,1\n");
  const json both = json_of("classify --device cpu --label k,l --query 2 -k 1 --train " + two);
  CHECK(both["results"][0]["answers"][0]["label"] == "x");
  CHECK(both["results"][0]["answers"][1]["label"] == 1);
  CHECK(both["results"][0]["neighbors"][0]["label"] == json({"x", 1}));
  const json swept = json_of(a + ask + "--k-sweep 1,2");
  CHECK(swept["sweep"][0] == json({{"k", 1}, {"accuracy", 0.6}, {"correct", 3}}));
}

TEST_CASE("regress --json holds values, errors and neighbours") {
  const Folder folder;
  const string train =
      "regress --device cpu --target y --train " + folder.write("a.csv", "x,y\n1,10\n2,20\n4,30\n");
  const json found = json_of(train + " --leave-one-out -k 1");
  CHECK(found["values"] == json({"y"}));
  CHECK(found["errors"][0]["mae"] == 10);
  CHECK(found["results"][0]["value"] == 20);
  CHECK(found["results"][0]["truth"] == 10);
  CHECK(found["results"][0]["neighbors"][0] == json({{"row", 1}, {"distance", 1.0}, {"value", 20.0}}));
  const json none = json_of(train + " --query 90 --radius 1");
  CHECK(none["results"][0]["value"].is_null());
}

TEST_CASE("doctor --json names findings, drivers and devices with their proposers") {
  const json found = json_of("doctor");
  CHECK(found["findings"][0]["status"] == "found");
  CHECK(found["drivers"].is_array());
  CHECK(found["auto"].is_string());
  bool cpu = false;
  for (const json& device : found["devices"])
    if (device["spec"] == "cpu") {
      cpu = true;
      CHECK(device["exact"] == true);
      CHECK(device["refusal"].is_null());
      CHECK(device["proposers"].size() > 0);
    }
  CHECK(cpu);
}

}  // namespace command_tests::test_command_outputs
