// Tests the command in double precision against an oracle of its own: when it is chosen, what a note says,
// and distances, radii, votes and files of doubles. All cases run on the CPU.
#include <charconv>

#include "doubles/doubles_oracle.hpp"
#include "files/printed.hpp"
#include "tools/command/text/map_points.hpp"

namespace command_tests::test_command_doubles {
namespace {

using kith::Metric;
using kith::tests::DoubleMatrix;

const string lost = ": column 2 (y): float32 keeps its values to 0.5, and they span 199";
const string chosen =
    "; kith therefore computes in double precision, and --prepare arithmetic=f32 would round the values";

/// Returns points of a map, each the double that its three decimal places name, as files of text have them.
std::vector<double> decimal_points(std::int64_t rows) {
  std::vector<double> points = map_points(rows, 7);
  for (double& value : points) value = std::strtod(kith::files::printed("%.3f", value).c_str(), nullptr);
  return points;
}

string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Returns the k nearest other rows of each row.
kith::Neighbors others_of(const std::vector<double>& points, std::int64_t k, Metric metric = Metric::l2) {
  const DoubleMatrix rows{static_cast<std::int64_t>(points.size() / 3), 3, points};
  return kith::tests::nearest_by_oracle(
      metric,
      kith::tests::all_by_oracle(metric, rows, rows, [](std::int64_t q, std::int64_t t) { return q != t; }),
      k);
}

/// Returns them as lines of text, with commas between them.
template <class T>
string lines_of(const std::vector<T>& cells, std::int64_t k) {
  string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if constexpr (std::is_same_v<T, double>)
      text += shortest(cells[i]);
    else
      text += std::to_string(cells[i]);
    text += (i + 1) % static_cast<std::size_t>(k) == 0 ? "\n" : ",";
  }
  return text;
}

string without_header(const string& text) {
  return text.substr(text.find('\n') + 1);
}

/// Returns the bytes of doubles behind the header of an array.
string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

/// Runs the command; kith() has the name of a namespace here.
Result run(const string& arguments) {
  return command_tests::kith(arguments);
}

/// Runs `command`, which must find what `expected` says.
void check_found(const Folder& folder, const string& command, const kith::Neighbors& expected) {
  const Result result = run(command + " --out-index " + (folder / "rows.csv") + " --out-distance " +
                            (folder / "distances.csv"));
  CHECK_MESSAGE(result.code == 0, result.err);
  CHECK(without_header(folder.read("rows.csv")) == lines_of(expected.row, expected.k));
  CHECK(without_header(folder.read("distances.csv")) == lines_of(expected.distance64, expected.k));
}

}  // namespace

TEST_CASE("doubles: rows with digits that float32 loses are searched as doubles, and a note says so") {
  const Folder folder;
  const std::vector<double> points = decimal_points(600);
  const kith::Neighbors right = others_of(points, 3);
  for (const string& file :
       {folder.write("utm.csv", text_of(points)), folder.write("utm.npy", npy_of(points))}) {
    CAPTURE(file);
    const string search = "search --device cpu --leave-one-out -k 3 --train " + file;
    check_found(folder, search, right);
    check_found(folder, search + " --prepare arithmetic=f64", right);
    check_found(folder, "search --device cpu --leave-one-out -k 3 --metric l1 --train " + file,
                others_of(points, 3, Metric::l1));
    const Result told = run(search + " --out-distance " + (folder / "d.npy"));
    CHECK(contains(told.err, file.ends_with("csv") ? lost : ": column 1: float32 keeps its values to 0.5"));
    CHECK(contains(told.err, "; so it is with 1 other column" + chosen + "\n"));
    const string array = folder.read("d.npy");
    CHECK(contains(array.substr(0, 80), "'<f8'"));
    CHECK(array.substr(128) == bytes_of(right.distance64));
    const Result asked = run(search + " --prepare arithmetic=f64");
    CHECK(asked.err.empty());
    CHECK(contains(asked.out, std::to_string(right.row[0]) + " (" + shortest(right.distance64[0]) + ")"));
    const Result json = run(search + " --prepare arithmetic=f64 --json");
    CHECK(contains(json.out, "\"arithmetic\": \"f64\""));
    CHECK(contains(json.out, "{\"query\":0,\"neighbors\":[{\"row\":" + std::to_string(right.row[0]) +
                                 ",\"distance\":" + shortest(right.distance64[0]) + "}"));
    const Result single = run(search + " --prepare arithmetic=f32 --json");
    CHECK(contains(single.out, "\"arithmetic\": \"f32\""));
    CHECK(contains(single.err, "; --prepare centre=yes subtracts each column's mean first"));
  }
}

TEST_CASE("doubles: an array of doubles is read in ranges where double precision is asked for") {
  const Folder folder;
  const std::vector<double> points = decimal_points(600);
  const string file = folder.write("utm.npy", npy_of(points));
  const DoubleMatrix rows{600, 3, points};
  const kith::Neighbors right = kith::tests::nearest_by_oracle(
      Metric::l2, kith::tests::all_by_oracle(Metric::l2, rows, rows, kith::tests::every_row), 3);
  const string search = "search --device cpu -k 3 --train " + file + " --queries " + file;
  for (const char* residence : {"stream", "quantized"}) {
    const string placed = search + " --place memory-limit=1M,residence=" + residence;
    check_found(folder, placed, right);  // in memory, where it is seen that digits are lost
    check_found(folder, placed + " --prepare arithmetic=f64", right);
  }
  folder.write("utm.npy", npy_of(points) + "x");
  const Result longer = run(search + " --place residence=stream --prepare arithmetic=f64");
  CHECK(contains(longer.err, "source: "));
  CHECK(contains(longer.err,
                 "utm.npy: its head says [600, 3] of f64, which take 14528 bytes, but it has 14529"));
}

TEST_CASE("doubles: rows that float32 holds, and options that round, keep single precision") {
  const Folder folder;
  const string exact = folder.write("exact.csv", "x,y\n0.5,1\n2,3\n4,7\n");
  const string asked = "search --device cpu --leave-one-out -k 1 --json --train ";
  CHECK(contains(out_of(asked + exact), "\"arithmetic\": \"f32\""));
  CHECK(contains(out_of(asked + exact + " --prepare arithmetic=f64"), "\"arithmetic\": \"f64\""));
  const string map = folder.write("utm.csv", text_of(decimal_points(60)));
  for (const char* rounds : {"--prepare centre=yes", "--scale standardize", "--prepare missing=mean"})
    CHECK(contains(out_of(asked + map + " " + rounds), "\"arithmetic\": \"f32\""));
  // Scaled values are floats; their distances may be asked for as doubles.
  CHECK(contains(out_of(asked + map + " --scale standardize --prepare arithmetic=f64"),
                 "\"arithmetic\": \"f64\""));
  CHECK(contains(out_of(asked + map + " --prepare missing=drop"), "\"arithmetic\": \"f64\""));
  const Result kept = run("search --device cpu --leave-one-out -k 1 --train " + map + " --out-distance " +
                          (folder / "d.fvecs"));
  CHECK(kept.code == 0);
  CHECK(contains(kept.err, "; --prepare centre=yes subtracts"));
  CHECK(folder.read("d.fvecs").size() == 60 * 8);
}

TEST_CASE("doubles: a pipe is read once, so its rows become doubles only where that is asked for") {
  const Folder folder;
  const std::vector<double> points = decimal_points(60);
  const string map = folder.write("utm.csv", text_of(points));
  const string search =
      " search --device cpu --leave-one-out -k 3 --train - --read format=csv --out-distance - < " + map;
  const Result rounded = shell("cat " + map + " | $kith" + search.substr(0, search.find(" <")));
  CHECK(contains(rounded.err,
                 "; a pipe is read once, so the values are rounded, and --prepare "
                 "arithmetic=f64 keeps them\n"));
  const Result kept =
      shell("cat " + map + " | $kith" + search.substr(0, search.find(" <")) + " --prepare arithmetic=f64");
  CHECK(without_header(kept.out) == lines_of(others_of(points, 3).distance64, 3));
}

TEST_CASE("doubles: queries keep their digits, and --radius is a double") {
  const Folder folder;
  const std::vector<double> points = decimal_points(60);
  const string map = folder.write("utm.csv", text_of(points));
  char query[96];
  std::snprintf(query, sizeof query, "%.3f,%.3f,%.3f", points[3], points[4], points[5]);
  const double radius = others_of(points, 1).distance64[1];
  const auto rows_within = [&](const string& within) {
    const string out = out_of("search --device cpu --prepare arithmetic=f64 --json --train " + map +
                              " --query " + query + " --radius " + within);
    std::size_t count = 0;
    for (std::size_t at = out.find("\"row\""); at != string::npos; at = out.find("\"row\"", at + 1)) ++count;
    return count;
  };
  CHECK(rows_within("0") == 1);  // the row itself, at distance 0
  CHECK(rows_within(shortest(radius)) == 2);
  CHECK(rows_within(shortest(std::nextafter(radius, 0.0))) == 1);
  const string json = out_of("search --device cpu --prepare arithmetic=f64 --json --train " + map +
                             " --query " + query + " --radius 0.1");
  CHECK(contains(json, "\"radius\": 0.1,"));
  const string from_file = out_of("search --device cpu -k 1 --train " + map + " --queries " +
                                  folder.write("q.npy", npy_of(points)) + " --out-distance -");
  CHECK(without_header(from_file) == [] {
    string zeros;
    for (int i = 0; i < 60; ++i) zeros += "0\n";
    return zeros;
  }());
}

TEST_CASE("doubles: an index file keeps them, for every command that opens it") {
  const Folder folder;
  const std::vector<double> points = decimal_points(600), first(points.begin(), points.begin() + 1200),
                            more(points.begin() + 1200, points.end());
  const kith::Neighbors right = others_of(points, 3);
  const string index = folder / "i.kidx", queries = folder.write("q.csv", text_of(points));
  for (const bool grown : {false, true}) {
    CAPTURE(grown);
    const Result built = run("index build --device cpu --train " +
                             folder.write("t.csv", text_of(grown ? first : points)) + " --out " + index);
    CHECK(contains(built.err, chosen));
    if (grown)
      CHECK(run("index add " + index + " --device cpu --train " + folder.write("m.npy", npy_of(more))).code ==
            0);
    check_found(folder, "search --device cpu -k 3 --leave-one-out --index " + index, right);
    const Result graph =
        run("graph --device cpu -k 3 --index " + index + " --out-distance " + (folder / "g.npy"));
    CHECK_MESSAGE(graph.code == 0, graph.err);
    CHECK(folder.read("g.npy").substr(128) == bytes_of(right.distance64));
    const string four =
        out_of("search --device cpu -k 4 --out-index - --index " + index + " --queries " + queries);
    for (const char* residence : {"stream", "automatic", "quantized"})
      CHECK(out_of("search --device cpu -k 4 --out-index - --index " + index + " --queries " + queries +
                   " --place residence=" + residence) == four);
  }
  const string info = out_of("index info " + index);
  CHECK(contains(info, "it computes in double precision: distances are float64\n"));
  CHECK(contains(out_of("index info " + index + " --json"), "\"arithmetic\": \"f64\""));
  const string base = "groundtruth --device cpu -k 3 --queries " + queries + " --out ";
  out_of(base + (folder / "a.ibin") + " --index " + index);
  out_of(base + (folder / "b.ibin") + " --train " + queries);
  CHECK(folder.read("a.ibin") == folder.read("b.ibin"));
  check_refused(
      "search --device cpu -k 1 --leave-one-out --index " + index + " --out-distance " + (folder / "d.fbin"),
      2,
      "invalid_argument: search: " + index + " is searched in double precision, but --out-distance " +
          (folder / "d.fbin") + " holds float32 alone; choose .npy, .csv, .tsv or .txt");
  check_refused("index add " + index + " --prepare arithmetic=f32 --train " + queries, 2,
                "invalid_argument: index add: --prepare arithmetic means nothing to it; leave it out");
}

TEST_CASE("doubles: labels, values and accuracies are those of doubles") {
  const Folder folder;
  const string train =
      folder.write("t.csv", "t,kind,v\n1700000000,a,1\n1700000030,b,2\n1700000060,c,4\n1700000090,a,8\n");
  const string rows = " --device cpu --label kind --drop v --train " + train;
  CHECK(out_of("classify -k 1 --query 1700000059 --query 1700000001" + rows) ==
        "1700000059: c\nrank  row  distance  label\n   1    2         1  c\n\n"
        "1700000001: a\nrank  row  distance  label\n   1    0         1  a\n");
  CHECK(contains(run("classify -k 1 --query 1700000059" + rows).err,
                 "rows 0 and 1, which differ, become equal" + chosen));
  // The weights 1 / distance are 1/1 and 1/29.
  out_of("classify -k 2 --votes weights=distance --query 1700000059 --proba " + (folder / "p.csv") + rows);
  CHECK(folder.read("p.csv") == "a,b,c\n0," + shortest((1.0 / 29) / (1.0 + 1.0 / 29)) + "," +
                                    shortest(1.0 / (1.0 + 1.0 / 29)) + "\n");
  const string queries = folder.write("q.csv", "t,kind\n1700000001,a\n1700000031,b\n1700000059,b\n");
  CHECK(contains(out_of("classify -k 1 --expect 2 --queries " + queries + rows),
                 "accuracy 0.6667 (2 of 3), expected 2: OK\n"));
  CHECK(contains(out_of("classify --radius 1 --json --query 1700000031" + rows), "\"label\":\"b\""));
  CHECK(contains(out_of("classify -k 1 --k-sweep 1,2 --queries " + queries + rows), "0.6667"));
  CHECK(contains(out_of("evaluate --k-max 2 --explain --queries " + queries + rows),
                 "arithmetic     double precision: floats propose, doubles rank; 12 candidates ranked, 0 "
                 "queries asked again\n"));
  CHECK(contains(out_of("evaluate --k-max 2 --json" + rows), "\"arithmetic\": \"f64\""));
  CHECK(contains(out_of("evaluate --k-max 2 --json --prepare arithmetic=f32" + rows),
                 "\"arithmetic\": \"f32\""));
  CHECK(out_of("regress --device cpu -k 2 --target v --drop kind --query 1700000059 --train " + train)
            .starts_with("1700000059: 3\n"));
  const string report = folder / "r.html";
  CHECK(run("classify -k 1 --report " + report + " --queries " + queries + rows).code == 0);
  // The query that was taken for c, with its digits, and the distance and the digits of its neighbour.
  const string page = folder.read("r.html");
  CHECK(contains(page, "<td></td><td class=\"n\"><bdi>1700000059</bdi></td></tr>"));
  CHECK(contains(page, "<td class=\"n\">1</td><td class=\"n\"><bdi>1700000060</bdi></td></tr>"));
}

TEST_CASE("doubles: a model keeps them, for queries of files and of the command line") {
  const Folder folder;
  const string train =
      folder.write("t.csv", "t,kind,v\n1700000000,a,1\n1700000030,b,2\n1700000060,c,4\n1700000090,a,8\n");
  const string model = folder / "m.kith", queries = folder.write("q.csv", "t\n1700000059\n1700000031\n");
  CHECK(run("classify --device cpu -k 1 --label kind --drop v --train " + train + " --save-model " + model)
            .code == 0);
  CHECK(out_of("classify --device cpu --model " + model + " --queries " + queries) == "c\nb\n");
  CHECK(contains(out_of("classify --device cpu --json --query 1700000059.25 --model " + model),
                 "\"neighbors\":[{\"row\":2,\"distance\":0.75,\"label\":\"c\"}]"));
  CHECK(run("regress --device cpu -k 2 --target v --drop kind --train " + train + " --save-model " + model)
            .code == 0);
  CHECK(out_of("regress --device cpu --model " + model + " --queries " + queries) == "3\n3\n");
  const string exact = folder.write("e.csv", "x,kind\n0.5,a\n2,b\n");
  CHECK(run("classify --device cpu -k 1 --label kind --prepare arithmetic=f64 --train " + exact +
            " --save-model " + model)
            .code == 0);
  CHECK(contains(out_of("classify --device cpu --json --query 0.1 --model " + model),
                 "{\"row\":0,\"distance\":0.4,\"label\":\"a\"}"));
}

TEST_CASE("doubles: --explain and --certify say how they were ranked") {
  const Folder folder;
  const string map = folder.write("utm.csv", text_of(decimal_points(60)));
  const string out = out_of("search --device cpu -k 2 --leave-one-out --explain --certify --train " + map);
  const string ranked = "360 candidates ranked, 0 queries asked again\n";
  CHECK(out.starts_with("arithmetic     double precision: floats propose, doubles rank; " + ranked));
  CHECK(contains(out, "\ncertificate: floats proposed, doubles ranked; " + ranked +
                          "proven         every training row that doubles did not rank is farther than the "
                          "k-th, or than the radius, even if rounding to floats brought it nearer"));
  CHECK(!contains(out_of("search --device cpu -k 2 --leave-one-out --explain --certify --prepare "
                         "arithmetic=f32 --train " +
                         map),
                  "double precision: floats"));
}

TEST_CASE("doubles: what has none is refused, and nothing goes there by itself") {
  const Folder folder;
  const string map = folder.write("utm.csv", text_of(decimal_points(60)));
  const string search = "search --device cpu -k 1 --leave-one-out --train " + map;
  const string asked = "invalid_argument: search: --prepare arithmetic=f64 is double precision, but ";
  check_refused(search + " --prepare arithmetic=f64 --out-distance d.fvecs", 2,
                asked + "--out-distance d.fvecs holds float32 alone; choose .npy, .csv, .tsv or .txt");
  check_refused(search + " --prepare arithmetic=f64 --read element=f16", 2,
                asked + "--read element stores rows as it says; leave one of them out");
  check_refused(search + " --prepare arithmetic=double", 2,
                "invalid_argument: search: --prepare arithmetic: there is no \"double\"; choose one of f32, "
                "f64");
  const string labels = folder.write(
      "l.csv", "1\n2\n" + [] {
        string text;
        for (int i = 0; i < 58; ++i) text += "1\n";
        return text;
      }());
  const string model = folder / "m.kith";
  const string classify = "classify --device cpu --labels " + labels + " --train " + map;
  for (const char* prepared : {"missing=drop", "missing=mean", "centre=yes"})
    check_refused(
        classify + " --prepare arithmetic=f64," + prepared + " --save-model " + model, 2,
        "invalid_argument: classify: --prepare arithmetic=f64 is double precision, but --save-model "
        "keeps rows that are prepared as float32; leave one of them out");
  const Result saved = run(classify + " --prepare missing=drop --save-model " + model);
  CHECK(saved.code == 0);
  CHECK(contains(saved.err, "; --prepare centre=yes subtracts"));
  check_refused(
      "classify --device cpu --prepare arithmetic=f64 --query 1,2,3 --model " + model, 2,
      "invalid_argument: classify: --model and --prepare arithmetic are both given; a model has its "
      "training rows and what was done to them: leave --prepare arithmetic out");
}

}  // namespace command_tests::test_command_doubles
