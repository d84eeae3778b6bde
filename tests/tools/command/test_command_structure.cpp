// Runs kith structure and kith select-features as users do; the numbers were worked out by hand.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests::test_command_structure {

using nlohmann::json;

namespace {

/// Two classes lie on a line. The first point of b is nearer to the second of a than to its own class.
const char* const line = "x,kind\n0,a\n1,a\n2,b\n6,b\n";
/// x separates the classes, y does not, z is constant.
const char* const columns = "x,y,z,kind\n0,3,1,a\n1,9,1,a\n10,4,1,b\n11,8,1,b\n";

}  // namespace

TEST_CASE("structure: sizes, class matrix, Q and nearest errors of four points") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const string asked = "structure --device cpu --label-column kind --train " + train;
  const Result text = kith(asked);
  CHECK(text.code == 0);
  CHECK(text.err.empty());
  CHECK(
      text.out ==
      train +
          ": 4 rows, 1 column, 2 classes, squared_l2, cpu\n\n"
          "class  rows  inside  nearest class  to it  nearest row of another\n"
          "a         2       1  b               16.5                       0\n"
          "b         2      16  a               16.5                       1\n"
          "\n"
          "mean distance between classes; within a class on the diagonal\n"
          "class     a     b\n"
          "a         1  16.5\n"
          "b      16.5    16\n"
          "\n"
          "Q = 1.94118, mean distance between classes / within classes (squared for l2, doubled for cosine)\n"
          "1 of 4 rows have a nearest other row of another class\n"
          "  b -> a: 1\n");
  const Result out = kith(asked + " --json");
  REQUIRE(out.code == 0);
  const json found = json::parse(out.out);
  CHECK(found["classes"] == json::parse(R"([{"label": "a", "rows": 2}, {"label": "b", "rows": 2}])"));
  CHECK(found["class_matrix"] == json::parse("[[1.0, 16.5], [16.5, 16.0]]"));
  CHECK(found["informativeness"] == 33.0 / 17.0);
  CHECK(found["nearest_of_another_class"] == 1);
  CHECK(found["nearest_classes"] == json::parse("[[2, 0], [1, 1]]"));
  CHECK(found["rows"] == 4);
  CHECK(found["columns"] == 1);
}

TEST_CASE("structure: metrics with parameters sum what is under the root") {
  const Folder folder;
  const string asked = "structure --device cpu --label-column kind --json --train " +
                       folder.write("line.csv", line) + " --metric ";
  const auto matrix_of = [&](const string& metric) {
    const Result out = kith(asked + metric);
    CAPTURE(out.err);
    REQUIRE(out.code == 0);
    return json::parse(out.out)["class_matrix"];
  };
  CHECK(matrix_of("minkowski --metric-params '{\"p\": 3}'") == json::parse("[[1.0, 87.5], [87.5, 64.0]]"));
  CHECK(matrix_of("l1 --metric-params '{\"w\": [2]}'") == json::parse("[[2.0, 7.0], [7.0, 8.0]]"));
  CHECK(matrix_of("matching") == json::parse("[[1.0, 1.0], [1.0, 1.0]]"));
  CHECK(contains(kith(asked + "minkowski").err, "minkowski"));
}

TEST_CASE("structure: every file that is asked for, and no other") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const Result all = kith("structure --device cpu --label-column kind --train " + train + " --errors " +
                          (folder / "errors.csv") + " --sample-classes " + (folder / "samples.csv") +
                          " --distances " + (folder / "distances.tsv") + " --table " +
                          (folder / "pairs.csv") + " --quiet --report " + (folder / "page.html"));
  CHECK(all.code == 0);
  CHECK(all.err.empty());
  CHECK(folder.read("errors.csv") == "row,nearest\n2,1\n");
  CHECK(folder.read("samples.csv") ==
        "smallest a,smallest b,mean a,mean b\n0,4,0.5,20\n0,1,0.5,13\n1,0,2.5,8\n25,0,30.5,8\n");
  CHECK(folder.read("distances.tsv") ==
        "row_0\trow_1\trow_2\trow_3\n0\t1\t4\t36\n1\t0\t1\t25\n4\t1\t0\t16\n36\t25\t16\t0\n");
  CHECK(folder.read("pairs.csv") ==
        "class,other,rows,mean_distance,nearest_of_other\r\na,a,2,1.0,2\r\na,b,2,16.5,0\r\n"
        "b,a,2,16.5,1\r\nb,b,2,16.0,1\r\n");
  const string page = folder.read("page.html");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  for (const char* part :
       {"<h1>1.941 <small>informativeness Q</small>", "aria-label=\"Mean distances of classes\"",
        "a to b: 16.5", "b in itself: 16", "line.csv", "kith structure --device cpu"})
    CHECK_MESSAGE(contains(page, part), part);
  CHECK(!contains(page, "<script"));
  CHECK(folder.files() == 6);
}

TEST_CASE("structure: features, scales and metrics count") {
  const Folder folder;
  const string train = folder.write("columns.csv", columns);
  const auto asked = [&](const string& more) {
    const Result result =
        kith("structure --device cpu --json --label-column kind --train " + train + " " + more);
    CHECK(result.code == 0);
    return json::parse(result.out);
  };
  CHECK(asked("--features x")["class_matrix"] == json::parse("[[1.0, 100.5], [100.5, 1.0]]"));
  CHECK(asked("--features y,z")["class_matrix"] == json::parse("[[36.0, 13.0], [13.0, 16.0]]"));
  CHECK(asked("--features y,z")["columns"] == 2);
  CHECK(asked("--features z")["informativeness"].is_null());
  CHECK(asked("--features x --metric l1")["class_matrix"] == json::parse("[[1.0, 10.0], [10.0, 1.0]]"));
  // 0, 1, 10, 11 become 0, 1/11, 10/11, 1.
  CHECK(asked("--features x --scale min-max")["class_matrix"][0][1].get<double>() ==
        doctest::Approx(100.5 / 121));
  const string one = folder.write("one.csv", "x,kind\n1,a\n2,a\n4,a\n");
  const string alone = out_of("structure --device cpu --label-column kind --train " + one);
  CHECK(contains(alone, "a         3  4.66667              -      -                       0\n"));
  CHECK(contains(alone, "\nQ = -, "));
}

TEST_CASE("structure: what cannot be done is said in one line") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const string asked = "structure --device cpu --train " + train;
  check_refused(asked, 2,
                "invalid_argument: structure: there are no labels; give --labels FILE, or --label-column "
                "COLUMN of the training file");
  check_refused(asked + " --label-column kind --table a --report a", 2,
                "invalid_argument: structure: --table and --report are the same file; give two names");
  check_refused(asked + " --label-column kind --errors a.html", 2,
                "invalid_argument: a.html: its name ends in no format in which kith writes indices; there "
                "are .npy .ivecs .ibin .csv .tsv .txt");
  check_refused(asked + " --label-column kind --distances " + (folder / "no/d.npy"), 3,
                "bad_file: " + (folder / "no/d.npy") +
                    ": cannot be written: No such file or directory; make the folder first");
  CHECK(kith(asked + " --label-column kind --metric negative_dot --report " + (folder / "page.html")).code ==
        6);
  CHECK(folder.files() == 1);
}

TEST_CASE("select-features: forward, backward and floating find the column that matters") {
  const Folder folder;
  const string train = folder.write("columns.csv", columns);
  const auto asked = [&](const string& more) {
    const Result result =
        kith("select-features --device cpu --json --label-column kind --train " + train + " " + more);
    CHECK(result.err.empty());
    REQUIRE(result.code == 0);
    return json::parse(result.out);
  };
  const double all = 227.0 / 54;
  for (const char* method : {"forward", "floating"}) {
    CAPTURE(method);
    const json found = asked("--method " + string(method));
    REQUIRE(found["steps"].size() >= 3);
    CHECK(found["steps"][0]["column"] == "x");
    CHECK(found["steps"][0]["score"] == 100.5);
    CHECK(found["steps"][1]["columns"] == json::parse(R"(["x", "z"])"));
    CHECK(found["best"] == json::parse(R"(["x"])"));
    CHECK(found["best_score"] == 100.5);
    CHECK(found["all_score"] == all);
    CHECK(found["features"] == "1");
    CHECK(found["columns"] == json::parse(R"(["x", "y", "z"])"));
  }
  const json backward = asked("--method backward");
  REQUIRE(backward["steps"].size() == 2);
  CHECK(backward["steps"][0]["added"] == false);
  CHECK(backward["steps"][0]["column"] == "y");
  CHECK(backward["steps"][1]["column"] == "z");
  CHECK(backward["best"] == json::parse(R"(["x"])"));
  const json voted = asked("--criterion leave-one-out --most 2");
  CHECK(voted["criterion"] == "leave_one_out");
  CHECK(voted["steps"].size() == 2);
  CHECK(voted["best"] == json::parse(R"(["x"])"));
  CHECK(voted["best_score"] == 1.0);
  // Without x, y has Q = 1/2 and z has none.
  const json fewer = asked("--features z,y");
  CHECK(fewer["columns"] == json::parse(R"(["y", "z"])"));
  CHECK(fewer["best"] == json::parse(R"(["y"])"));
  CHECK(fewer["best_score"] == 0.5);
  CHECK(fewer["features"] == "2");
}

TEST_CASE("select-features: names of columns without a header, of categories, and of labels in front") {
  const Folder folder;
  const string train = folder.write("plain.csv", "a,0,red,3\na,1,red,9\nb,10,blue,4\nb,11,blue,8\n");
  const auto asked = [&](const string& more) {
    const Result result =
        kith("select-features --device cpu --json --label-column 1 --train " + train + " " + more);
    REQUIRE(result.code == 0);
    return json::parse(result.out);
  };
  const json plain = asked("");
  CHECK(plain["columns"] == json::parse(R"(["column 2", "column 3", "column 4"])"));
  const json coded = asked("--prepare categories=one-hot");
  CHECK(coded["columns"] == json::parse(R"(["column 2", "column 3 = blue", "column 3 = red", "column 4"])"));
  CHECK(coded["features"] == "");
  const json scaled = asked("--scale standardize --features 2,4");
  CHECK(scaled["best"] == json::parse(R"(["column 2"])"));
  CHECK(scaled["features"] == "2");
}

TEST_CASE("select-features: table, lines and page say the same") {
  const Folder folder;
  const string train = folder.write("columns.csv", columns);
  const Result result =
      kith("select-features --device cpu --label-column kind --train " + train + " --table " +
           (folder / "steps.csv") + " --quiet --report " + (folder / "page.html"));
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(contains(result.out,
                 "step  columns  change  informativeness Q\n"
                 "   1        1  add x            100.5000  best\n"
                 "   2        2  add z            100.5000\n"
                 "   3        3  add y              4.2037\n"
                 "\n"
                 "all 3 columns: 4.2037\n"
                 "best, 1 column: 100.5000\n"
                 "  x\n"
                 "for other commands: --features 1\n"
                 "6 sets tried in "));
  CHECK(
      folder.read("steps.csv")
          .starts_with(
              "step,change,column,columns,score\r\n1,add,x,1,100.5\r\n2,add,z,2,100.5\r\n3,add,y,3,4.2037"));
  const string page = folder.read("page.html");
  for (const char* part : {"<h1>1 <small>of 3 columns</small>", "+ <bdi>x</bdi>", "--features 1",
                           "all columns", "100.5", "kith select-features --device cpu"})
    CHECK_MESSAGE(contains(page, part), part);
  CHECK(folder.files() == 3);
}

TEST_CASE("select-features: what cannot be meant is said in one line") {
  const Folder folder;
  const string train = folder.write("columns.csv", columns);
  const string asked = "select-features --device cpu --label-column kind --train " + train;
  check_refused(asked + " -k 3", 2,
                "invalid_argument: select-features: -k does not go with --criterion q; there are no votes; "
                "give --criterion leave-one-out, or leave it out");
  check_refused(asked + " --least 2", 2,
                "invalid_argument: select-features: --least does not go with --method forward; it begins "
                "with none; give --most, or leave it out");
  check_refused(asked + " --method backward --most 2", 2,
                "invalid_argument: select-features: --most does not go with --method backward; it begins "
                "with all; give --least, or leave it out");
  check_refused(asked + " --most 4", 2,
                "invalid_argument: select-features: --most = 4 but there are 3 columns to choose from; give "
                "3 or fewer");
  check_refused(asked + " --criterion leave-one-out -k 4", 2,
                "invalid_argument: select-features: k = 4 but each row of " + train +
                    " has 3 others; choose k from 1 to 3");
  check_refused(asked + " --criterion entropy", 2,
                "invalid_argument: select-features: --criterion: there is no \"entropy\"; choose one of q, "
                "leave-one-out");
  check_refused(asked + " --table a --report a", 2,
                "invalid_argument: select-features: --table and --report are the same file; give two names");
  CHECK(folder.files() == 1);
}

}  // namespace command_tests::test_command_structure
