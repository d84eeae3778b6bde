// Tests rows, labels and values as users have them: labels of any form, .svm files, missing values.
#include "common/shell.hpp"

namespace command_tests::test_command_rows {
namespace {

/// Four points lie in two groups.
const string points = "x,y\n1,1\n1,2\n8,8\n9,8\n";

/// Returns everything that a command prints.
string said(const string& arguments) {
  const Result result = kith(arguments);
  CAPTURE_ALL(arguments, result.err);
  CHECK(result.code == 0);
  return result.out + result.err;
}

}  // namespace

TEST_CASE("labels: a file as pandas writes it, with an index, or one column of several") {
  const Folder folder;
  const string asked =
      "classify --device cpu -k 1 --train " + folder.write("x.csv", points) + " --query 8,9 --labels ";
  const string answer = "8,9: far\nrank  row  distance  label\n   1    2";
  for (const auto& [content, more] : std::initializer_list<std::pair<string, string>>{
           {"kind\nnear\nnear\nfar\nfar\n", ""},
           {"kind\nnear\nnear\nfar\nfar\n", " --csv header=yes"},
           {",kind\n7,near\n0,near\n3,far\n2,far\n", ""},
           {"id,kind\na,near\nb,near\nc,far\nd,far\n", " --label-column kind"},
           {"id,kind\na,near\nb,near\nc,far\nd,far\n", " --label 2"}})
    CHECK(contains(said(asked + folder.write("y.csv", content) + more), answer));
  check_refused(asked + folder.write("y.csv", "id,kind\na,near\nb,near\nc,far\nd,far\n"), 2,
                "invalid_argument: " + (folder / "y.csv") +
                    ": has 2 columns and begins with \"id\", \"kind\"; labels are one a line, or say which "
                    "column they are: --label-column");
  check_refused(asked + folder.write("y.csv", "near\nnear\nfar\n"), 2,
                "invalid_argument: classify: " + (folder / "y.csv") + " holds 3 labels but " +
                    (folder / "x.csv") + " 4 rows; give one a row");
  // Queries may have a column with the name that --label gives to the file of labels: it is their truth.
  CHECK(said("classify --device cpu -k 1 --train " + (folder / "x.csv") + " --labels " +
             folder.write("y.csv", "kind\nnear\nnear\nfar\nfar\n") + " --label kind --queries " +
             folder.write("q.csv", "x,y,kind\n1,1,near\n9,9,near\n")) == "accuracy 0.5000 (1 of 2)\n");
  CHECK(contains(said("classify --device cpu -k 1 --train " + folder.write("t.csv", "x,kind\n1,5\n2,6\n") +
                      " --labels " + folder.write("y.csv", "kind\na\nb\n") + " --label kind --query 1,5"),
                 "t.csv: has a column \"kind\", too, which is a feature, since answers come from "));
}

TEST_CASE("side files: truth, weights, values, costs and filters have headers and indices, too") {
  const Folder folder;
  const string train = folder.write("t.csv", "x,y,kind\n1,1,a\n1,2,a\n8,8,b\n9,8,b\n");
  const string base = "classify --device cpu -k 1 --train " + train + " --label kind --queries " +
                      folder.write("q.csv", "x,y\n1,1\n9,9\n");
  CHECK(contains(said(base + " --truth " + folder.write("z.csv", "kind\na\nb\n")),
                 "accuracy 1.0000 (2 of 2)\n"));
  CHECK(contains(said(base + " --truth " + folder.write("z.csv", ",kind\n5,a\n6,b\n")),
                 "accuracy 1.0000 (2 of 2)\n"));
  CHECK(contains(said(base + " --truth " + folder.write("z.csv", "id,kind\n5,a\n6,b\n")),
                 "accuracy 1.0000 (2 of 2)\n"));
  CHECK(said(base + " --votes sample-weights=" + folder.write("w.csv", ",0\n0,1\n1,1\n2,0.5\n3,1\n")) ==
        "a\nb\nkith: note: " + (folder / "w.csv") +
            ": column 1 has no name; it is taken as the index of pandas and left out\n");
  CHECK(contains(said(base + " --votes costs=" + folder.write("c.csv", ",a,b\na,0,1\nb,1,0\n")), "a\nb\n"));
  CHECK(said(base + " --filter " + folder.write("f.csv", "neighbor_1,neighbor_2\n2,3\n3,2\n")) == "b\nb\n");
  CHECK(said(base + " --filter " + folder.write("f.csv", "row\n2\n")) == "b\nb\n");
  check_refused(base + " --filter " + folder.write("f.csv", "2,3\n"), 2,
                "invalid_argument: classify: " + (folder / "f.csv") +
                    " holds 2 columns; a filter is the numbers of rows, from 0, one a line");
  check_refused(base + " --filter " + folder.write("f.csv", "-1\n"), 2,
                "invalid_argument: classify: " + (folder / "f.csv") + " names row -1 but " + train +
                    " holds rows 0 to 3; correct it");

  const string regress =
      "regress --device cpu -k 1 --train " + folder.write("x.csv", points) + " --query 9,9 --values ";
  CHECK(contains(said(regress + folder.write("v.csv", ",price\n0,1.5\n1,2\n2,3\n3,4.5\n")), "9,9: 4.5\n"));
  CHECK(contains(said(regress + folder.write("v.csv", "price,age\n1,7\n2,7\n3,7\n4,8\n") + " --target age"),
                 "9,9: 8\n"));
  CHECK(contains(said(regress + folder.write("v.csv", "0\n1.5\n2\n3\n4.5\n")), "9,9: 4.5\n"));
}

TEST_CASE("labels: -1 and +1, wherever they are, and what stands for no answer") {
  const Folder folder;
  const string train = folder.write("t.csv", "x,y,kind\n1,1,+1\n1,2,1\n8,8,-1\n9,8,-10\n");
  const string base = "classify --device cpu --train " + train + " --label kind --queries " +
                      folder.write("q.csv", "1,1\n8,9\n9,7\n");
  CHECK(said(base + " --quiet -k 1 --out " + (folder / "o.csv")).empty());
  const string written = folder.read("o.csv");
  CHECK(written.ends_with("1\n-1\n-10\n"));
  // -10 < -1, so it wins a tie as the smallest label.
  CHECK(said("classify --device cpu -k 2 --train " + train + " --label kind --queries " +
             folder.write("tie.csv", "8.5,8\n")) == "-10\n");
  CHECK(said("classify --device cpu -k 2 --votes tie=abstain --train " + train + " --label kind --queries " +
             (folder / "tie.csv")) == "?\n");
  CHECK(said(base + " --quiet -k 1 --out " + (folder / "o.npy")).empty());
  CHECK(folder.read("o.npy").substr(128) ==
        string("\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xf6\xff\xff\xff\xff\xff\xff\xff", 24));
  // A model votes in the same way, also with labels of two digits.
  CHECK(said("classify --quiet --device cpu -k 2 --train " + train + " --label kind --save-model " +
             (folder / "m.kith"))
            .empty());
  CHECK(said("classify --device cpu --model " + (folder / "m.kith") + " --queries " + (folder / "tie.csv")) ==
        "-10\n");
  CHECK(said("classify --device cpu -k 1 --train " + folder.write("x.csv", points) + " --labels " +
             folder.write("y.csv", "-1\n-1\n1\n1\n") + " --queries " + (folder / "q.csv")) == "-1\n1\n1\n");
  // A missing answer is never right, even if the true label looks like the mark of a missing answer.
  CHECK(contains(said("classify --device cpu -k 2 --votes tie=abstain --train " +
                      folder.write("n.csv", "1,0\n3,1\n") + " --label 2 --queries " +
                      folder.write("one.csv", "2\n") + " --truth " + folder.write("minus.csv", "-1\n")),
                 "accuracy 0.0000 (0 of 1)\n"));
}

TEST_CASE("labels: numbers to be predicted are told apart from classes") {
  const Folder folder;
  string rows = "size,price\n", classes = "size,kind\n";
  for (int i = 0; i < 40; ++i) {
    rows += std::to_string(i) + "," + std::to_string(1000 + i * 37) + "\n";
    classes += std::to_string(i) + "," + std::to_string(i % 8) + "\n";
  }
  const string note =
      "kith: note: 40 rows have 40 different labels, all of them numbers; did you mean `kith regress "
      "--target price`?\n";
  for (const string& command :
       {string("classify -k 1 --leave-one-out"), string("evaluate"), string("structure")})
    CHECK(
        contains(said(command + " --device cpu --label price --train " + folder.write("p.csv", rows)), note));
  CHECK(said("classify -k 1 --leave-one-out --device cpu --label kind --train " +
             folder.write("k.csv", classes))
            .starts_with("accuracy"));
  CHECK(!contains(
      said("classify -k 1 --leave-one-out --device cpu --label kind --train " + (folder / "k.csv")), "note"));
}

TEST_CASE("truth: classes that training lacks count as wrong, and are told") {
  const Folder folder;
  const string train = folder.write("t.csv", "x,kind\n1,dos\n9,normal\n");
  const string test = folder.write("q.csv", "x,kind\n1,dos\n2,worm\n9,?\n9,normal\n");
  const string note = ": 2 rows have a label that no training row has (?, worm), which counts as wrong\n";
  const string asked = " --device cpu --train " + train + " --label kind --queries " + test;
  const string classified = said("classify -k 1" + asked + " --report " + (folder / "r.html"));
  CHECK(contains(classified, "accuracy 0.5000 (2 of 4)\n"));
  CHECK(contains(classified, note));
  CHECK(contains(folder.read("r.html"), "worm"));
  const string evaluated = said("evaluate --k-max 1" + asked + " --json");
  CHECK(contains(evaluated, "\"worm\""));
  CHECK(contains(evaluated, "\"accuracy\": 0.5"));
  CHECK(contains(evaluated, note));
  CHECK(contains(said("classify -k 1 --device cpu --train " + train + " --label kind --queries " +
                      folder.write("bare.csv", "x\n1\n2\n9\n9\n") + " --truth " +
                      folder.write("z.csv", "kind\ndos\nworm\n?\nnormal\n")),
                 note));
  // `?`, too, stands for no answer, which is never right.
  CHECK(contains(said("classify -k 2 --votes tie=abstain" + asked), "accuracy 0.0000 (0 of 4)\n"));
}

TEST_CASE(".svm: labels without an option, values, either base, and wider queries") {
  const Folder folder;
  const string train = folder.write("t.svm", "1 0:1 2:3\n-1 1:1\n1 0:2 2:3\n"),
               base = " --device cpu -k 1 --train ";
  const string told =
      "kith: note: " + train + ": the index 0 occurs, so indices begin at 0; --csv base= says otherwise\n";
  CHECK(said("classify" + base + train + " --queries " + train) == "accuracy 1.0000 (3 of 3)\n" + told);
  CHECK(said("classify" + base + train + " --csv base=0 --queries " + train) == "accuracy 1.0000 (3 of 3)\n");
  check_refused(
      "classify" + base + train + " --label nonsense --query 1,2,3", 2,
      "invalid_argument: " + train +
          ": has no column \"nonsense\"; the labels of such a file begin its lines: leave that option out");
  CHECK(contains(said("regress" + base + folder.write("v.svm", "1.5 1:1\n-2.25 1:9\n") + " --query 8"),
                 "8: -2.25\n"));
  CHECK(contains(said("regress" + base + (folder / "v.svm") + " --queries " + (folder / "v.svm")),
                 "target    0     0    1        2"));
  CHECK(contains(said("structure --device cpu --train " + (folder / "t.svm")), "Q ="));
  // Columns that only queries have are 0 in training rows, and count in every distance.
  const string found = said("search --metric l2" + base + folder.write("n.svm", "1 1:1\n2 1:5\n") +
                            " --queries " + folder.write("w.svm", "1 1:1 3:2\n"));
  CHECK(contains(found, "    0  0 (2)\n"));
}

TEST_CASE("missing: refused with the way out, dropped, or filled in") {
  const Folder folder;
  const string train = folder.write("t.csv", "a,b,kind\n1,1,x\n,2,y\n5,5,y\n7,NA,y\n1,3,x\n");
  const string base = " --device cpu -k 1 --label kind --train " + train;
  check_refused("classify" + base + " --leave-one-out", 3,
                "bad_file: " + train +
                    ":3: column 1 (a) is empty; every cell needs a value: fill it in or leave the row out; "
                    "--prepare missing= fills such cells in, drops their rows, or leaves them out");
  const string dropped = "kith: note: " + train +
                         ": 2 of 5 rows left out, since a value is missing; the others keep their numbers\n";
  // Row numbers are those of the file, also in accompanying files.
  const string drop = base + " --prepare missing=drop";
  CHECK(said("search --metric l2" + drop + " --query 6,6") ==
        "nearest training rows of each query, from 0 (and their distance)\nquery             #1\n    0  2 "
        "(1.4142135)\n" +
            dropped);
  CHECK(contains(said("search" + drop + " --query 6,6 --filter " + folder.write("f.csv", "0\n3\n4\n")),
                 "    0  4 ("));
  CHECK(contains(said("classify" + drop +
                      " --query 1,4 --votes sample-weights=" + folder.write("w.csv", "1\n9\n1\n9\n0\n")),
                 "1    4"));
  CHECK(contains(said("classify --device cpu -k 1 --prepare missing=drop --train " +
                      folder.write("x.csv", "a,b\n1,1\n,2\n5,5\n7,NA\n1,3\n") + " --query 1,4 --labels " +
                      folder.write("y.csv", "x\ny\ny\ny\nz\n")),
                 "1,4: z\n"));
  // Queries are never dropped.
  const string queries = folder.write("q.csv", "a,b,kind\n1,1,x\nNA,1,x\n5,6,y\n");
  const string asked = said("classify" + drop + " --queries " + queries + " --out " + (folder / "o.csv"));
  CHECK(contains(asked, "accuracy 0.6667 (2 of 3)\n"));
  CHECK(contains(asked, queries + ": 1 of 3 rows without an answer, since a value is missing; --prepare "
                                  "missing=mean would fill it in\n"));
  CHECK(folder.read("o.csv").ends_with("x\n?\ny\n"));
  CHECK(contains(said("evaluate --device cpu --k-max 1 --label kind --prepare missing=drop --train " + train +
                      " --queries " + queries),
                 "1    0.6667        2"));
  CHECK(contains(said("search" + drop + " --queries " + queries + " --out-index " + (folder / "i.csv")),
                 "fill it in\n"));
  CHECK(folder.read("i.csv").ends_with("0\n-1\n2\n"));
  CHECK(contains(said("search --device cpu --label kind --prepare missing=drop --train " + train +
                      " --radius 3 --queries " + queries),
                 "    1     0"));
  for (const string& asked_for : {string("classify"), string("search")})
    CHECK(contains(said(asked_for + drop + " --leave-one-out"),
                   train + ": 2 of 5 rows without an answer, since a value is missing"));
  CHECK(said("classify" + drop + " --leave-one-out --out " + (folder / "o.csv"))
            .starts_with("accuracy 0.4000 (2 of 5)\n"));
  CHECK(folder.read("o.csv").ends_with("x\n?\nx\n?\nx\n"));
  CHECK(contains(said("evaluate --device cpu --k-max 1 --label kind --prepare missing=drop --train " + train),
                 "(3 rows)"));
  CHECK(contains(
      said("evaluate --device cpu --k-max 1 --folds 2 --label kind --prepare missing=drop --train " + train),
      "(3 rows)"));
  CHECK(said("structure --device cpu --label kind --prepare missing=drop --train " + train + " --errors " +
             (folder / "e.csv"))
            .starts_with(train + ": 3 rows"));
  CHECK(folder.read("e.csv").ends_with("2,4\n"));
  check_refused("classify" + drop + " -k 4 --query 1,1", 2,
                "invalid_argument: classify: -k is given more than once; see `kith classify --help`");
  // Only --prepare missing=mean or median answers this query. The mean of b is 2.75, the median of a is 3.
  CHECK(contains(said("search" + base + " --metric l1 --prepare missing=mean --query 1,NA"), "0  4 (0.25)"));
  CHECK(contains(said("search" + base + " --metric l1 --prepare missing=median --query ?,2"), "0  1 (0)"));
  CHECK(contains(
      said("select-features --device cpu --label kind --prepare missing=most-frequent --train " + train),
      "best"));
  CHECK(contains(
      said("regress --device cpu -k 1 --prepare missing=drop --target b --train " +
           folder.write("r.csv", "a,b\n1,2\n,3\n4,9\n") + " --leave-one-out --out " + (folder / "o.csv")),
      "(1 query has no value: no row within the radius, or none of weight above 0, or a cell is missing)"));
  CHECK(folder.read("o.csv").ends_with("9\nnan\n2\n"));
}

TEST_CASE("labels: a blank line, and a name that stands for a label, are no silent shift") {
  const Folder folder;
  const string train = folder.write("x.csv", "1,1\n2,2\n8,8\n9,9\n");
  const string base = "classify --device cpu -k 1 --leave-one-out --train " + train + " --labels ";
  CHECK(contains(
      kith(base + folder.write("blank.csv", "kind\na\n\nb\nb\n")).err,
      "blank.csv:3: is blank, which is an empty cell in a file of one column; fill it in or take it out"));
  CHECK(contains(said(base + folder.write("short.csv", "kind\nb\nb\nb\n")),
                 "short.csv: the first line (kind) is taken as a label, and no other line has it"));
  CHECK(!contains(said(base + folder.write("good.csv", "kind\na\na\nb\nb\n\n")), "taken as a label"));
}

TEST_CASE(".svm: training rows from 1 and queries from 0 are refused") {
  const Folder folder;
  const string one = folder.write("one.svm", "1 1:1 2:1\n2 1:8 2:8\n"),
               zero = folder.write("zero.svm", "1 0:1 1:1\n2 0:8 1:8\n");
  CHECK(
      contains(kith("classify --device cpu -k 1 --train " + one + " --queries " + zero).err,
               "one.svm: has no index 0, but the queries have; write both files alike, or say --csv base=0"));
  CHECK(contains(said("classify --device cpu -k 1 --train " + zero + " --queries " + zero),
                 "accuracy 1.0000 (2 of 2)"));
}

}  // namespace command_tests::test_command_rows
