// Tests --groups-column, a column that names the group of each row: docs/howto/many-small-searches.md.
#include "common/shell.hpp"

namespace command_tests::test_command_groups {
namespace {

/// A folder with rows of users a and b.
struct OfUsers : Folder {
  const string train = write("train.csv", "user,x\na,0\na,1\nb,5\nb,5\nb,6\n");
  const string search = "search --device cpu --metric l1 --groups-column user --train " + train;

  string rows_of(const string& queries, const string& more) const {
    const string asked = queries.empty() ? " --leave-one-out" : " --queries " + write("q.csv", queries);
    const Result made =
        kith(search + asked + more + " --write header=no --out-index " + (*this / "found.csv"));
    CAPTURE(made.err);
    CHECK(made.code == 0);
    return read("found.csv");
  }
  void check_queries_refused(const string& queries, const string& message) const {
    const string path = write("asked.csv", queries);
    check_refused(search + " --queries " + path, 2, "invalid_argument: " + path + ": " + message);
  }
};

}  // namespace

TEST_CASE("groups column: a query asks the rows of its group") {
  const OfUsers folder;
  CHECK(folder.rows_of("", " -k 2") == "1,-1\n0,-1\n3,4\n2,4\n2,3\n");
  CHECK(folder.rows_of("user,x\na,0.9\nb,5.1\nb,7\n", " -k 2") == "1,0\n2,3\n4,2\n");
  CHECK(folder.rows_of("user,x\nb,0\n", " -k 3") == "2,3,4\n");
  CHECK(folder.rows_of("user,x\na,0.9\nb,9\n", " -k 2 --radius 1") == "1,0\n-1,-1\n");
  const string counted = "count --device cpu --groups-column user --leave-one-out --radius 1,9 --train ";
  CHECK(kith(counted + folder.train + " --quiet --out - --write format=csv,header=no").out ==
        "1,1\n1,1\n2,2\n2,2\n2,2\n");
  const string edges = folder / "edges.tsv";
  const Result graph = kith("graph --device cpu -k 1 --groups-column user --train " + folder.train +
                            " --out-edges " + edges + " --write header=no");
  CHECK(graph.code == 0);
  CHECK(folder.read("edges.tsv") == "0\t1\t1\n1\t0\t1\n2\t3\t0\n3\t2\t0\n4\t2\t1\n");
}

TEST_CASE("groups column: rows without a value belong to no group") {
  const OfUsers folder;
  const string train = folder.write("gaps.csv", "user,x\na,0\na,\nb,5\nb,6\n");
  const Result made =
      kith("search --device cpu --groups-column user --prepare missing=drop -k 1 --train " + train +
           " --leave-one-out --write header=no --out-index " + (folder / "found.csv"));
  CAPTURE(made.err);
  CHECK(made.code == 0);
  CHECK(folder.read("found.csv") == "-1\n-1\n3\n2\n");
}

TEST_CASE(
    "groups column: the neighbours of a query's group vote for it, whether the queries have labels or not") {
  const Folder folder;
  const string train = folder.write("train.csv",
                                    "user,x,kind,price\na,0,new,1\na,4,old,2\nb,5,old,3\nb,9,new,5\n"),
               rows = " --device cpu --metric l1 --groups-column user -k 1 --quiet --train " + train,
               x = folder.write("x.csv", "user,x\na,9\nb,0\nb,8\n");
  const auto answers = [&](const string& asked) {
    const Result made = kith(asked + rows + " --write header=no --out " + (folder / "out.csv"));
    CAPTURE(made.err);
    CHECK(made.code == 0);
    return folder.read("out.csv");
  };
  const string classify = "classify --drop price --label kind",
               regress = "regress --drop kind --target price";
  CHECK(answers(classify + " --queries " + x) == "old\nold\nnew\n");
  CHECK(answers(classify + " --leave-one-out") == "old\nnew\nnew\nold\n");
  CHECK(answers(regress + " --queries " + x) == "2\n3\n5\n");
  CHECK(answers(regress + " --leave-one-out") == "2\n1\n5\n3\n");
  const string known = folder.write("known.csv", "user,x,kind\na,9,old\nb,0,old\nb,8,old\n");
  const Result told = kith(classify + " --queries " + known + rows);
  CAPTURE(told.err);
  CHECK(contains(told.out, "accuracy 0.6667 (2 of 3)"));
  const string unnamed = folder.write("unnamed.csv", "a,0,0\na,4,1\nb,5,1\nb,9,0\n");
  CHECK(kith("classify --device cpu --metric l1 --groups-column 1 --label 3 -k 1 --quiet --train " + unnamed +
             " --queries " + folder.write("unnamed_x.csv", "a,9\nb,0\nb,8\n") + " --out -")
            .out == "label\n1\n1\n0\n");
}

TEST_CASE("groups column: accuracies are those within groups") {
  const Folder folder;
  const string train = folder.write("train.csv", "user,x,kind\na,0,0\na,1,0\na,9,1\nb,0,1\nb,1,1\nb,9,0\n"),
               evaluate =
                   "evaluate --device cpu --groups-column user --label kind --k-max 1 --train " + train;
  const auto accuracy = [&](const string& more) {
    const Result made = kith(evaluate + more);
    CAPTURE(made.err);
    CHECK(made.code == 0);
    return made.out;
  };
  CHECK(contains(accuracy(""),
                 "by all the others of its group (6 rows)\nk  accuracy  correct\n1    0.6667        4\n"));
  const string asked = folder.write("q.csv", "user,x,kind\na,2,0\nb,2,1\nb,8,0\n");
  CHECK(contains(accuracy(" --queries " + asked), "1    1.0000        3\n"));
  CHECK(contains(accuracy(" --folds 2"), "each row by those of its group"));
}

TEST_CASE("groups column: what is refused, and what to do") {
  const OfUsers folder;
  const string binary("\1\0\0\0\0\0\0\0", 8),  // a row of one column
      search_of_one = folder.search + " --query 3";
  folder.check_queries_refused("user,x\nb,1\na,1\n", "group a stands behind others that follow it in " +
                                                         folder.train + "; sort both files by user");
  folder.check_queries_refused("user,x\nz,1\n", "group z has no training rows; leave its queries out");
  folder.check_queries_refused("x\n1\n",
                               "has no column user, which names groups; give files with this column");
  const string mixed = folder.write("mixed.csv", "user,x\na,0\nb,1\na,2\n");
  check_refused(
      "search --leave-one-out --groups-column user --train " + mixed, 2,
      "invalid_argument: " + mixed +
          ": row 2, counted from 0, is of group a again, behind rows of others; sort the file by user");
  check_refused("search --leave-one-out --groups-column user --train " + folder.write("rows.fvecs", binary),
                2,
                "invalid_argument: " + (folder / "rows.fvecs") +
                    ": has no group column \"user\", being no text; write the rows as .csv");
  for (const string option : {"--save-model m.kith", "--model m.kith"})
    CHECK(contains(kith("classify --query 1 --groups-column user " + option +
                        (option[2] == 's' ? " --label kind --train " + mixed : ""))
                       .err,
                   "--groups-column"));
  check_refused(
      search_of_one, 2,
      "invalid_argument: --query: a query has no column user, which names groups; give the queries as "
      "a file with this column");
  check_refused("search --leave-one-out --groups-column user --label-column user --train " + mixed, 2,
                "invalid_argument: " + mixed +
                    ": column 1 (user) is named twice as label, target or group; name it once");
}

}  // namespace command_tests::test_command_groups
