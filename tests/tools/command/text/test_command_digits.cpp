// Tests values with digits that float32 cannot hold, in single precision: every command that reads them
// prints a note, and --scale and --prepare centre=yes keep the digits, because they round once, at the end.
// All cases run on the CPU.
#include "tools/command/text/map_points.hpp"

namespace command_tests::test_command_digits {
namespace {

/// Returns the three nearest other rows of each row, computed in double alone, as the command writes them.
string right_rows(const std::vector<double>& points) {
  string text;
  const std::size_t n = points.size() / 3;
  for (std::size_t q = 0; q < n; ++q) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t t = 0; t < n; ++t) {
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d) sum += std::pow(points[3 * q + d] - points[3 * t + d], 2);
      if (t != q) all.emplace_back(sum, t);
    }
    std::partial_sort(all.begin(), all.begin() + 3, all.end());
    for (std::size_t j = 0; j < 3; ++j) text += std::to_string(all[j].second) + (j < 2 ? "," : "\n");
  }
  return text;
}

}  // namespace

TEST_CASE("digits: a map in metres is told, and its neighbours are those of double when it is centred") {
  const Folder folder;
  const std::vector<double> points = map_points(600, 7);
  const string right = right_rows(points), out = folder / "rows.txt";
  for (const string& file :
       {folder.write("utm.csv", text_of(points)), folder.write("utm.npy", npy_of(points))}) {
    CAPTURE(file);
    const auto found = [&](const string& more) {
      const Result result = kith("search --device cpu --leave-one-out -k 3 --train " + file + " " + more +
                                 " --out-index " + (folder / "rows.csv"));
      CHECK(result.code == 0);
      const string rows = folder.read("rows.csv");
      return std::pair(rows.substr(rows.find('\n') + 1), result.err);
    };
    const auto [plain, told] = found("--prepare arithmetic=f32");
    CHECK(plain != right);
    CHECK(contains(told, ": float32 keeps its values to 0.5, and they span 199."));
    CHECK(contains(told, "; so it is with 1 other column"));
    CHECK(contains(told, "; --prepare centre=yes subtracts each column's mean first, in double precision"));
    const auto [centred, quiet] = found("--prepare centre=yes");
    CHECK(centred == right);
    CHECK(quiet.find("float32") == string::npos);
    CHECK(found("--scale centre").first == right);
    // Scaling makes the spans nearly equal, so the order of rows stays; it would not if values
    // were rounded before.
    CHECK(found("--scale min-max").second.find("float32") == string::npos);
    CHECK(found("--prepare centre=yes --scale min-max").first == found("--scale min-max").first);
  }
}

TEST_CASE("digits: where rows cannot be centred, double precision is advised") {
  const Folder folder;
  const string search =
      "search --device cpu -k 1 --query 1,2,3 --train " + folder.write("utm.npy", npy_of(map_points(60, 7)));
  for (const string metric : {"cosine", "negative_dot"}) {
    const Result single = kith(search + " --prepare arithmetic=f32 --metric " + metric);
    CHECK(single.code == 0);
    CHECK(
        single.err.ends_with("; so it is with 1 other column; --prepare arithmetic=f64 keeps all digits\n"));
    const Result vecs = kith(search + " --metric " + metric + " --out-distance " + (folder / "d.fvecs"));
    CHECK(contains(vecs.err, "; double precision keeps all digits, but --out-distance " +
                                 (folder / "d.fvecs") +
                                 " holds float32 alone; choose .npy, .csv, .tsv or .txt\n"));
    CHECK(kith(search + " --prepare arithmetic=f64 --metric " + metric).err.empty());
  }
  CHECK(contains(kith(search + " --prepare arithmetic=f32 --metric l1").err,
                 "; --prepare centre=yes subtracts each column's mean first"));
}

TEST_CASE("digits: a centred model keeps its shift, for queries of files and of the command line") {
  const Folder folder;
  const string train = folder.write("t.csv", "t,kind\n1700000000,a\n1700000030,b\n1700000060,c\n");
  const string base = "classify --device cpu --label kind -k 1 --train " + train;
  const Result told = kith(base + " --query 1700000059");
  CHECK(contains(told.err, "rows 0 and 1, which differ, become equal"));
  CHECK(contains(kith(base + " --prepare centre=yes --query 1700000059").out, "1700000059: c\n"));
  const string model = folder / "m.kith", queries = folder.write("q.csv", "t\n1700000029\n1700000001\n");
  CHECK(kith(base + " --prepare centre=yes --save-model " + model).code == 0);
  CHECK(kith("classify --device cpu --model " + model + " --queries " + queries).out == "b\na\n");
  CHECK(contains(kith("classify --device cpu --model " + model + " --query 1700000044").out, ": b\n"));
  check_refused("classify --device cpu --prepare centre=yes --model " + model + " --query 1", 2,
                "invalid_argument: classify: --model and --prepare centre are both given; a model has its "
                "training rows and what was done to them: leave --prepare centre out");
  check_refused(base + " --prepare centre=yes --metric cosine --query 1", 2,
                "invalid_argument: classify: --prepare centre=yes is for differences of values, and cosine "
                "is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
}

TEST_CASE("digits: an index file keeps the centre, for queries and for rows that are added") {
  const Folder folder;
  const std::vector<double> points = map_points(600, 7);
  const string index = folder / "i.kidx", rows = folder / "rows.csv", right = right_rows(points);
  const std::vector<double> first(points.begin(), points.begin() + 1200),
      more(points.begin() + 1200, points.end());
  // The centre is learned from all rows at once, or from those with which the file begins.
  for (const bool grown : {false, true}) {
    const string train = folder.write("utm.npy", npy_of(grown ? first : points));
    REQUIRE(kith("index build --device cpu --prepare centre=yes --train " + train + " --out " + index).code ==
            0);
    if (grown) {
      const Result added =
          kith("index add " + index + " --device cpu --train " + folder.write("m.csv", text_of(more)));
      CHECK(added.code == 0);
      CHECK(added.err.find("float32") == string::npos);
    }
    const auto found = [&](const string& command) {
      const Result result = kith(command + " --device cpu --index " + index + " --out-index " + rows);
      CHECK_MESSAGE(result.code == 0, result.err);
      const string text = folder.read("rows.csv");
      return text.substr(text.find('\n') + 1);
    };
    CHECK(found("search -k 3 --leave-one-out") == right);
    CHECK(found("search -k 3 --leave-one-out --place residence=stream") == right);
    for (const string& queries :
         {folder.write("q.csv", text_of(points)), folder.write("q.npy", npy_of(points))}) {
      const string four = found("search -k 4 --queries " + queries);
      CHECK(found("search -k 4 --place residence=stream --queries " + queries) == four);
      CHECK(found("search -k 4 --place residence=quantized --queries " + queries) == four);
      if (!grown)
        CHECK(found("search -k 4 --queries " + queries) == [&] {
          kith("search --device cpu --prepare centre=yes -k 4 --train " + train + " --queries " + queries +
               " --out-index " + rows);
          const string text = folder.read("rows.csv");
          return text.substr(text.find('\n') + 1);
        }());
    }
    const Result info = kith("index info " + index);
    CHECK(contains(info.out, "it has a centre, which is subtracted from rows and queries\n"));
    CHECK(contains(info.out, "centre"));
    CHECK(contains(kith("index info " + index + " --json").out, "\"centred\": true"));
  }
  const string asked = folder.write("q.csv", text_of(points));
  CHECK(kith("graph --device cpu -k 3 --index " + index + " --out " + (folder / "g.npy")).code == 0);
  CHECK(kith("groundtruth --device cpu -k 3 --index " + index + " --queries " + asked + " --out " +
             (folder / "g.ibin"))
            .code == 0);
  check_refused("index build --prepare centre=yes --metric cosine --train " + asked + " --out " + index, 2,
                "invalid_argument: index build: --prepare centre=yes is for differences of values, and "
                "cosine is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
  check_refused("index add " + index + " --prepare centre=yes --train " + asked, 2,
                "invalid_argument: index add: --prepare centre means nothing to it; leave it out");
  check_refused("search -k 1 --prepare centre=yes --index " + index + " --queries " + asked, 2,
                "invalid_argument: search: --index and --prepare are both given, but an index has its rows, "
                "their columns and their metric; leave --prepare out");
}

TEST_CASE("digits: what is advised can be done where it is said") {
  const Folder folder;
  const string file = folder.write("utm.csv", text_of(map_points(60, 7)));
  const string build = "index build --device cpu --train " + file + " --out " + (folder / "i.kidx");
  CHECK(contains(kith(build + " --prepare arithmetic=f32").err,
                 "; --prepare centre=yes subtracts each column's mean first, in double precision"));
  CHECK(kith(build + " --prepare centre=yes").err.find("float32") == string::npos);
  const string truth = "groundtruth --device cpu -k 1 --train " + file + " --queries " + file + " --out " +
                       (folder / "g.ibin") + " --prepare arithmetic=";
  CHECK(contains(kith(truth + "f32").err, "; --prepare arithmetic=f64 keeps all digits\n"));
  CHECK(kith(truth + "f64").err.find("float32") == string::npos);
  for (const char* command : {"search", "graph"}) {
    const string asked = string(command) + " --device cpu -k 1 " +
                         (command[0] == 's' ? "--leave-one-out " : "--out " + (folder / "g.npy")) +
                         " --train " + file;
    CHECK(contains(kith(asked + " --prepare arithmetic=f32").err, "; --prepare centre=yes subtracts"));
    CHECK(kith(asked + " --prepare centre=yes").code == 0);
  }
}

TEST_CASE("digits: missing values are filled in double") {
  const Folder folder;
  const string train = folder.write("t.csv", "t\n1700000000\n1700000060\n\n");
  const string rows = folder.write("m.csv", "t,z\n1700000000,1\n1700000060,1\n,1\n");
  const Result filled =
      kith("search --device cpu --prepare centre=yes,missing=mean -k 3 --query 1700000030,1 --train " + rows);
  CHECK(contains(filled.out, "2 (0)"));
  CHECK(contains(filled.out, "0 (30)"));
}

}  // namespace command_tests::test_command_digits
