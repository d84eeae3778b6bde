// Tests that columns and lines that do not count are not read, learned or stored, and that queries need not
// have them. All cases run on the CPU.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests::test_command_left_out {
namespace {

using nlohmann::json;

const string answer_lines = "accuracy 1.0000 (2 of 2)\n";

/// Writes a table with a column of customer numbers, and new rows without labels, whose numbers are not in
/// the table.
struct Customers {
  Folder folder;
  string train =
      folder.write("train.csv",
                   "customer_id,age,city,plan,segment\nC1,20,Rome,a,x\nC2,60,Oslo,b,y\nC3,25,Rome,a,x\n"
                   "C4,55,Oslo,b,y\n");
  string fresh = folder.write("new.csv", "customer_id,age,city,plan\nC90,22,Rome,a\nC91,58,Oslo,b\n");
  string without = folder.write("without.csv", "age,city,plan\n22,Rome,a\n58,Oslo,b\n");

  string learn(const string& more) const {
    return "classify --device cpu -k 1 --prepare categories=one-hot --scale standardize --label segment "
           "--train " +
           train + " " + more;
  }
  string labels(const string& arguments) const {
    const Result result = kith(arguments + " --out " + (folder / "labels.txt"));
    CHECK(result.code == 0);
    CHECK(result.err.find("error") == string::npos);
    return folder.read("labels.txt");
  }
};

}  // namespace

TEST_CASE(
    "left out: a column that does not count is not asked of queries, by whichever option it is left out") {
  const Customers has;
  const Result noted = kith(has.learn("--leave-one-out"));
  CHECK(contains(noted.err,
                 "column 1 (customer_id) holds another text in each row, as \"C1\", yet counts as a feature; "
                 "--drop 1 leaves it out"));
  for (const string& choice : {string("--drop 1"), string("--drop customer_id"), string("--features 2-4"),
                               string("--features age,city,plan"), string("--drop -5")}) {
    CAPTURE(choice);
    for (const string& queries : {has.fresh, has.without}) {
      CHECK(has.labels(has.learn(choice + " --queries " + queries)) == "x\ny\n");
      CHECK(has.labels(has.learn(choice + " --query 22,Rome,a --query C90,58,Oslo,b")) == "x\ny\n");
    }
    const string model = has.folder / "m.kith";
    CHECK(kith(has.learn(choice + " --save-model " + model)).code == 0);
    for (const string& queries : {has.fresh, has.without})
      CHECK(has.labels("classify --device cpu --model " + model + " --queries " + queries) == "x\ny\n");
    CHECK(has.labels("classify --device cpu --model " + model + " --query 22,Rome,a") == "x\n");
    check_refused("classify --device cpu --model " + model + " --query 22,Rome", 2,
                  "invalid_argument: --query 1: 2 values but " + model +
                      " has 3 columns beside the labels and those that are left out; give a value for each, "
                      "with commas between them");
  }
}

TEST_CASE("left out: nothing of such a column is in a model, and its size is that of a table without it") {
  const Customers has;
  const string cut = has.folder.write("cut.csv",
                                      "age,city,plan,segment\n20,Rome,a,x\n60,Oslo,b,y\n25,Rome,a,x\n"
                                      "55,Oslo,b,y\n");
  const string model = has.folder / "m.kith", plain = has.folder / "plain.kith";
  CHECK(kith(has.learn("--drop 1 --save-model " + model)).code == 0);
  CHECK(kith("classify --device cpu -k 1 --prepare categories=one-hot --scale standardize --label segment "
             "--train " +
             cut + " --save-model " + plain)
            .code == 0);
  CHECK(has.folder.read("m.kith").find("C1") == string::npos);
  // The section `unread`, which each model has, holds one place, and one name with its length.
  CHECK(fs::file_size(model) == fs::file_size(plain) + 8 + 8 + string("customer_id").size());
  const json report = json::parse(kith(has.learn("--drop 1 --leave-one-out --json")).out);
  CHECK(report["dims"] == 5);  // age, two cities, two plans
}

TEST_CASE("left out: cells that nobody asks for may hold anything") {
  const Folder folder;
  const string train = folder.write("t.csv", "a,b,kind,note\n1,2,x,$9\n4,5,y,\n1.5,2,x,nan\n");
  const string search = "search --device cpu --label kind --leave-one-out -k 1 --train ";
  const string rows =
      "nearest training rows of each query, from 0 (and their distance)\n"
      "query            #1\n    0       2 (0.5)\n    1  2 (3.905125)\n    2       0 (0.5)\n";
  const Result named = kith(search + train + " --features a,b");
  CHECK(named.out == rows);
  CHECK(named.err.empty());
  // The files have separators at line ends, and lines without a value.
  for (const string& text : {string("a,b,kind,\n1,2,x,\n4,5,y,\n1.5,2,x,\n"),
                             string("a,b,kind,\n1,2,x,\n,,,\n4,5,y,\n1.5,2,x,\n,,,\n")})
    for (const char* more : {"", " --features a,b", " --prepare missing=drop", " --prepare missing=mean"}) {
      CAPTURE_ALL(text, more);
      const string file = folder.write("u.csv", text);
      const Result result = kith(search + file + more);
      CHECK(result.out == rows);
      const bool empty_lines = contains(text, ",,,");
      CHECK(result.err ==
            (empty_lines ? "kith: note: " + file + ": leaves out 2 lines without any value\n" : ""));
    }
  const string nameless = folder.write("v.csv", "a,b,kind,\n1,2,x,\n4,5,y,7\n1.5,2,x,\n");
  check_refused(search + nameless, 3,
                "bad_file: " + nameless +
                    ":2: column 4 is empty; every cell needs a value: fill it in or leave the row out; "
                    "--prepare missing= fills such cells in, drops their rows, or leaves them out");
  // Queries have such separators, and a value where the training rows have none.
  const string plain = folder.write("p.csv", "a,b,kind\n1,2,x\n4,5,y\n");
  const string asked = "classify --device cpu --label kind -k 1 --train " + plain + " --queries ";
  CHECK(kith(asked + folder.write("q.csv", "a,b,kind,\n1,2,x,\n4,5,y,\n")).out == answer_lines);
  const string more = folder.write("r.csv", "a,b,kind,\n1,2,x,\n4,5,y,6\n");
  check_refused(asked + more, 2,
                "invalid_argument: " + more + ": has 3 columns but " + plain +
                    " has 2; queries need the columns of the training rows; a column with the true answers "
                    "is named by --label COLUMN (or --target)");
}

TEST_CASE("left out: the answer of a query is found by its name") {
  const Folder folder;
  const string train = folder.write("t.csv", "a,b,kind\n1,2,x\n8,9,y\n");
  for (const char* label : {"kind", "3", "-1"}) {
    CAPTURE(label);
    const string asked = "classify --device cpu -k 1 --train " + train + " --label " + label + " --queries ";
    CHECK(kith(asked + folder.write("q.csv", "kind,a,b\nx,1,2\ny,8,9\n")).out == answer_lines);
    CHECK(kith(asked + folder.write("q.csv", "a,b\n1,2\n8,9\n")).out == "x\ny\n");
    const string extra = folder.write("e.csv", "a,b,extra\n1,2,9\n");
    check_refused(asked + extra, 2,
                  "invalid_argument: " + extra + ": has 3 columns but " + train +
                      " has 2; queries need the columns of the training rows; a column with the true answers "
                      "is named by --label extra (or --target); what else they have is left out, with "
                      "--model or --index by --drop extra");
  }
  // Without names, a column is given by its place.
  const string bare = folder.write("bare.csv", "1,2,x\n8,9,y\n");
  const string asked =
      "classify --device cpu -k 1 --csv header=no --label -1 --train " + bare + " --queries ";
  CHECK(kith(asked + bare).out == answer_lines);
  CHECK(kith(asked + folder.write("q.csv", "1,2\n")).code == 0);
}

TEST_CASE("left out: further columns of queries are named, and lines with nothing that counts are no rows") {
  const Customers has;
  const string model = has.folder / "m.kith";
  CHECK(kith(has.learn("--drop 1 --prepare missing=median --save-model " + model)).code == 0);
  const string wide =
      has.folder.write("wide.csv", "customer_id,age,city,plan,email,note\nC7,22,Rome,a,x@y,1\n");
  const string ask = "classify --device cpu --model " + model + " --queries ";
  check_refused(ask + wide, 2,
                "invalid_argument: " + wide + ": has 5 columns but " + model +
                    " has 3; queries need the columns of the training rows; what else they have is left out, "
                    "with --model or --index by --drop email,note");
  CHECK(has.labels(ask + wide + " --drop email,note") == "x\n");
  const string total =
      has.folder.write("total.csv", "customer_id,age,city,plan\nC7,22,Rome,a\nTotal: 1,,,\n");
  CHECK(has.labels(ask + total) == "x\n");
  CHECK(contains(kith(ask + total).err, "leaves out 1 line without any value"));
  const string unseen = has.folder.write("unseen.csv", "age,city,plan\n22,Rom,a\n");
  CHECK(contains(kith(ask + unseen + " --prepare unseen=zero").err,
                 "1 cell with a text that does not occur in " + model + " counts as no category"));
}

TEST_CASE("left out: rows without a label or a target, where rows may miss a value") {
  const Folder folder;
  const string train = folder.write("t.csv", "a,kind,price\n1,x,10\n2,,20\n3,y,\n8,y,40\n,x,50\n");
  const string classify = "classify --device cpu --label kind --features a -k 1 --train " + train;
  check_refused(
      classify + " --query 8", 3,
      "bad_file: " + train +
          ":3: column 2 (kind) holds no label; every row needs one: fill it in or leave the row out");
  const Result labels = kith(classify + " --prepare missing=drop --query 2.1 --query 8");
  CHECK(contains(labels.err,
                 train + ": 2 of 5 rows left out, since a value is missing; the others keep their numbers"));
  CHECK(contains(labels.out, "2.1: y\n"));
  CHECK(contains(labels.out, "   1    2 "));  // line 4 of the file
  const Result values = kith(
      "regress --device cpu --target price --features a -k 1 --prepare missing=drop --query 2.9 --train " +
      train);
  CHECK(contains(values.err, "2 of 5 rows left out"));
  CHECK(contains(values.out, "2.9: 20\n"));
}

TEST_CASE("left out: columns of binary files, and of queries of a model or an index") {
  const Folder folder;
  // A .fbin has the numbers of rows and columns, then the rows.
  const auto fbin = [&](const string& name, std::uint32_t cols, const std::vector<float>& values) {
    const std::uint32_t rows = static_cast<std::uint32_t>(values.size()) / cols;
    string text(reinterpret_cast<const char*>(&rows), 4);
    text.append(reinterpret_cast<const char*>(&cols), 4);
    return folder.write(name, text.append(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
  };
  const string train = fbin("t.fbin", 3, {1, 900, 1, /**/ 5, 100, 5, /**/ 9, 500, 9});
  const string wide = fbin("w.fbin", 3, {5, 0, 5}), narrow = fbin("n.fbin", 2, {5, 5});
  const string found =
      "nearest training rows of each query, from 0 (and their distance)\nquery     #1\n    0  1 (0)\n";
  for (const char* choice : {"--drop 1", "--features 0,2"})
    for (const string& queries : {wide, narrow})
      CHECK(kith(string("search --device cpu -k 1 --train ") + train + " " + choice + " --queries " + queries)
                .out == found);
  const string index = folder / "i.kidx";
  CHECK(kith("index build --device cpu --train " + narrow + " --out " + index).code == 0);
  CHECK(kith("search --device cpu -k 1 --index " + index + " --drop 1 --queries " + wide).code == 0);
  check_refused("search --device cpu -k 1 --index " + index + " --queries " + wide, 2,
                "invalid_argument: " + wide + ": has 3 columns but " + index +
                    " has 2; queries need the columns of the training rows");
  check_refused(
      "search --device cpu -k 1 --index " + index + " --drop 1 --query 1,2", 2,
      "invalid_argument: search: --drop names columns of --queries here, which are not given; leave it out");
  const string base = "search --device cpu -k 1 --query 1 --train " + train;
  check_refused(base + " --drop 0-2", 2,
                "invalid_argument: search: --drop leaves no column of " + train + "; keep one at least");
  check_refused(
      base + " --drop 1 --features 1,2", 2,
      "invalid_argument: search: column 1 is named by both --features and --drop; take it out of one");
  check_refused(
      base + " --drop 3", 2,
      "invalid_argument: search: --drop: " + train + " has no column \"3\"; it has column 0 to column 2");
}

}  // namespace command_tests::test_command_left_out
