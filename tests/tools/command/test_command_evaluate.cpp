// Runs kith evaluate as users do. All cases run on the CPU.
#include "common/shell.hpp"

namespace command_tests::test_command_evaluate {
namespace {

/// Leave-one-out by l1 gives each row and label these neighbours, in order, and these answers.
///   0 a: 1a 2b 3b 4a    k = 1 a, 2 a (tie), 3 b, 4 a (tie)
///   1 a: 0a 2b 3b 4a    the same
///   2 b: 1a 3b 0a 4a    k = 1 a, 2 a, 3 a, 4 a
///   3 b: 2b 1a 4a 0a    k = 1 b, 2 a, 3 a, 4 a
///   4 a: 3b 2b 1a 0a    k = 1 b, 2 b, 3 b, 4 a
const char* const line = "x,kind\n0,a\n1,a\n3,b\n5,b\n9,a\n";

}  // namespace

TEST_CASE("evaluate: every k by one search, each row left out") {
  const Folder folder;
  const string base =
      "evaluate --device cpu --metric l1 --label kind --train " + folder.write("line.csv", line) + " ";
  const Result result = kith(base + "--quiet --table " + (folder / "k.csv"));
  CHECK(result.err == "");
  CHECK(result.out ==
        "each row was classified by all the others (5 rows)\n"
        "k  accuracy  correct\n"
        "1    0.6000        3\n"
        "2    0.4000        2\n"
        "3    0.0000        0\n"
        "4    0.6000        3\n"
        "\n"
        "best k = 1: accuracy 0.6000 (3 of 5)\n"
        "\n"
        "true \\ predicted  a  b\n"
        "a                 2  1\n"
        "b                 1  1\n"
        "\n"
        "class  rows  precision  recall      F1\n"
        "a         3     0.6667  0.6667  0.6667\n"
        "b         2     0.5000  0.5000  0.5000\n");
  CHECK(folder.read("k.csv") == "k,accuracy,correct\n1,0.6,3\n2,0.4,2\n3,0,0\n4,0.6,3\n");
  CHECK(contains(kith(base + "--k-max 2 --votes tie=abstain").out, "2    0.0000        0\n"));
  CHECK(contains(kith(base + "--k-max 2 --votes weights=distance").out, "2    0.6000        3\n"));
}

TEST_CASE("evaluate: folds, held-out rows, JSON") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const string base = "evaluate --device cpu --metric l1 --label kind --train " + train + " ";
  const string queries = folder.write("q.csv", "x,kind\n0,a\n4,b\n4,a\n");
  const string held_out = kith(base + "--k-max 1 --json --queries " + queries).out;
  CHECK(
      contains(held_out, "\"asked\": \"the rows of " + queries + " were classified by the training rows\""));
  CHECK(contains(held_out, "\"correct_for_k\": [\n    2\n  ]"));
  CHECK(contains(held_out, "\"best_k\": 1"));
  CHECK(contains(held_out, "\"unanswered\": [\n    0,\n    0\n  ]"));
  // With as many folds as rows, each row is asked of all others, however the folds are dealt.
  const string folds = kith(base + "--folds 5 --seed 3").out;
  const string left_out = kith(base).out;
  CHECK(folds.substr(folds.find('\n')) == left_out.substr(left_out.find('\n')));
  CHECK(folds.starts_with("each of 5 folds was classified by the others (stratified, seed 3) (5 rows)\n"));
  CHECK(kith(base + "--folds 2").out == kith(base + "--folds 2 --seed 0").out);
  CHECK(contains(kith(base + "--folds 2").out, "k  accuracy  correct\n1 "));
}

TEST_CASE("evaluate: many k stand ten in a line") {
  const Folder folder;
  string rows = "x,kind\n";
  for (int r = 0; r < 30; ++r) rows += std::to_string(r) + (r < 15 ? ",a\n" : ",b\n");
  const string train = folder.write("t.csv", rows);
  const Result result = kith("evaluate --device cpu --label kind --train " + train);
  CHECK(contains(result.out, "accuracy for k, k + 1, ...\n k      +0      +1 "));
  CHECK(contains(result.out, "\n11  "));
  CHECK(!contains(result.out, "\n21  "));
  CHECK(contains(kith("evaluate --device cpu --label kind --k-max 29 --train " + train).out, "\n21  "));
}

TEST_CASE("evaluate: the report is one page that needs nothing else") {
  const Folder folder;
  const string train = folder.write("t.csv", "x,kind\n0,a<i>\n1,a<i>\n3,b\n5,b\n9,a<i>\n");
  const Result result = kith("evaluate --device cpu --label kind --votes tie=abstain --train " + train +
                             " --report " + (folder / "k.html"));
  CHECK(result.code == 0);
  const string page = folder.read("k.html");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(contains(page, "Accuracy against k"));
  CHECK(contains(page, "; each row was classified by all the others."));
  CHECK(contains(page, "a&lt;i&gt;"));
  CHECK(!contains(page, "a<i>"));
  for (const char* outside : {"http://", "https://", "<script", "<link", "@import"}) {
    CAPTURE(string(outside));
    CHECK(!contains(page, outside));
  }
}

TEST_CASE("evaluate: what does not fit together is refused, in one line") {
  const Folder folder;
  const string train = folder.write("line.csv", line);
  const string base = "evaluate --device cpu --label kind --train " + train + " ";
  const auto refused = [&](const string& arguments, const string& message) {
    check_refused(base + arguments, 2, "invalid_argument: evaluate: " + message);
  };
  refused("--k-max 5", "--k-max = 5 but only 4 rows can be asked; choose k from 1 to 4");
  refused("--folds 6", "--folds = 6 but " + train + " holds 5 rows; choose folds from 2 to 5");
  refused("--folds 1", "--folds = 1 is out of range; give a whole number of at least 2");
  refused("--seed 1", "--seed is for --folds; give both");
  refused("--queries " + train + " --folds 2",
          "--queries and --folds are both given; held-out queries need no folds: choose one");
  refused("--truth " + train, "--truth is for --queries; give both, or neither for leave-one-out");
  const string unlabelled = folder.write("u.csv", "x\n1\n2\n");
  refused("--queries " + unlabelled,
          "the true labels of " + unlabelled +
              " are not known; give --truth FILE, or queries with the label column");
  refused("--filter " + folder.write("one.csv", "2\n"),
          "no training row has another to ask; give more rows, or let more count");
  refused("--table same --report same", "--table and --report are the same file; give two names");
  const string two = folder.write("two.csv", "x,kind,size\n0,a,1\n1,a,2\n");
  check_refused("evaluate --device cpu --label kind,size --train " + two, 2,
                "invalid_argument: evaluate: there are 2 label columns; evaluate one after the other");
  check_refused("evaluate --device cpu --train " + train, 2,
                "invalid_argument: evaluate: there are no labels; give --labels FILE, or --label-column "
                "COLUMN of the training file");
}

}  // namespace command_tests::test_command_evaluate
