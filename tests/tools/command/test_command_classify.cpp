// Runs kith classify as users do: votes, models, radius, several label columns. All cases run on the CPU.
#include "common/shell.hpp"

namespace command_tests::test_command_classify {
namespace {

const char* const flowers =
    "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n6.4,3.2,versicolor\n6.3,3.3,"
    "virginica\n";
const char* const points = "x,y,kind\n1,1,a\n2,1,a\n1,3,a\n6,6,b\n7,5,b\n";
/// By distance from 0 the labels are b, a, a, b, b.
const char* const line = "x,kind\n1,b\n2,a\n3,a\n5,b\n8,b\n";

/// Returns the labels that are written to a file, without the neighbours.
string labels_of(const Folder& folder, const string& arguments) {
  const Result result =
      kith("classify --device cpu " + arguments + " --quiet --out " + (folder / "labels.txt"));
  CHECK(result.err == "");
  CHECK(result.code == 0);
  return folder.read("labels.txt");
}

}  // namespace

TEST_CASE("classify: labels in a column, in a file, and the truth") {
  const Folder folder;
  const string train = folder.write("flowers.csv", flowers);
  const string column = "classify --train " + train + " --label-column kind --device cpu ";
  check_refused(column + "-k 1 --query 5", 2,
                "invalid_argument: --query 1: 1 values but " + train +
                    " has 2 columns beside the labels; give a value for each, with commas between them");
  const string all = column + "--queries " + train + " ";
  CHECK(kith(all + "-k 1").out == "accuracy 1.0000 (5 of 5)\n");
  CHECK(kith(all + "-k 1 --expect 5").out == "accuracy 1.0000 (5 of 5), expected 5: OK\n");
  const Result different = kith(all + "-k 1 --expect 4");
  CHECK(different.code == 1);
  CHECK(different.out == "accuracy 1.0000 (5 of 5), expected 4: DIFFERENT\n");
  CHECK(kith(all + "-k 1 --k-sweep 5,1").out ==
        "k  accuracy  correct\n1    1.0000        5\n5    0.4000        2\n\naccuracy 1.0000 (5 of 5)\n");
  const string labels = folder.write("labels.csv", "7\n9\n");
  const string rows = folder.write("rows.csv", "0\n10\n");
  const string own =
      "classify --train " + rows + " --labels " + labels + " -k 1 --device cpu --csv header=no ";
  CHECK(kith(own + "--queries " + rows + " --truth " + labels).out == "accuracy 1.0000 (2 of 2)\n");
  const string unlabelled = folder.write("unlabelled.csv", "4\n6\n");
  CHECK(kith(own + "--queries " + unlabelled).out == "7\n9\n");
  const Result out = kith(own + "--queries " + rows + " --out " + (folder / "out.csv"));
  CHECK(out.code == 0);
  CHECK(out.out.empty());
  CHECK(folder.read("out.csv") == "label\n7\n9\n");
  check_refused(own + "--query 4 --expect 1", 2,
                "invalid_argument: classify: --expect needs the true labels of the queries; give --truth "
                "FILE, or queries with the label column");
}

TEST_CASE("classify: a one-point question shows its answer and the neighbours") {
  const Folder folder;
  const string train = folder.write("points.csv", points);
  const string base = "classify --train " + train + " --label kind --device cpu -k 3 ";
  CHECK(kith(base + "--query 1,2").out ==
        "1,2: a\n"
        "rank  row   distance  label\n"
        "   1    0          1  a\n"
        "   2    2          1  a\n"
        "   3    1  1.4142135  a\n");
  CHECK(kith(base + "--metric l1 --query 6,5 --query 3,4").out ==
        "6,5: b\n"
        "rank  row  distance  label\n"
        "   1    3         1  b\n"
        "   2    4         1  b\n"
        "   3    2         7  a\n"
        "\n"
        "3,4: a\n"
        "rank  row  distance  label\n"
        "   1    2         3  a\n"
        "   2    1         4  a\n"
        "   3    0         5  a\n");
}

TEST_CASE("classify: what votes weigh, and who wins a tie") {
  const Folder folder;
  const string base = "--metric l1 --label kind --query 0 --train " + folder.write("line.csv", line) + " ";
  CHECK(labels_of(folder, base + "-k 3") == "a\n");                           // a has 2 votes, b 1
  CHECK(labels_of(folder, base + "-k 3 --votes weights=distance") == "b\n");  // b has 1/1, a 1/2 + 1/3
  CHECK(labels_of(folder, base + "-k 3 --votes weights=rank,rank-weights=5,2,2") ==
        "b\n");  // b has 5, a 2 + 2
  CHECK(labels_of(folder, base + "-k 3 --votes weights=rank,rank-weights=3,2,2,9") ==
        "a\n");  // b has 3, a 2 + 2
  CHECK(labels_of(folder, base + "-k 2") == "a\n");
  CHECK(labels_of(folder, base + "-k 2 --votes tie=nearest") == "b\n");
  CHECK(labels_of(folder, base + "-k 2 --votes tie=fewer-neighbors") == "b\n");
  CHECK(labels_of(folder, base + "-k 2 --votes tie=smallest_distance") == "b\n");
  CHECK(labels_of(folder, base + "-k 2 --votes tie=abstain") == "?\n");
  CHECK(labels_of(folder, base + "-k 2 --votes tie=abstain,no-label=unknown") == "unknown\n");
  CHECK(labels_of(folder, base + "-k 3 --votes priors=b:3") == "b\n");  // b has 3, a 2
  const string odd = "-k 3 --metric l1 --label kind --query 0 --train " +
                     folder.write("odd.csv", "x,kind\n1,b:=1\n2,a=2\n3,a=2\n");
  CHECK(labels_of(folder, odd + " --votes priors=b:=1:3 --votes priors=a=2:1") == "b:=1\n");
  const string costs = folder.write("costs.csv", "0,1\n9,0\n");  // answering b when a is right costs 9
  CHECK(labels_of(folder, base + "-k 3 --votes costs=" + costs) == "b\n");
  const string weights = folder.write("weights.csv", "3\n1\n1\n1\n1\n");
  CHECK(labels_of(folder, base + "-k 3 --votes sample-weights=" + weights) == "b\n");
  const string far = folder.write("far.csv", "0\n4\n");
  CHECK(labels_of(folder, base + "-k 2 --filter " + far) == "b\n");
}

TEST_CASE("classify: the share of each class in the score") {
  const Folder folder;
  const string base = "--metric l1 --label kind --query 0 --query 8 --train " +
                      folder.write("line.csv", line) + " --proba " + (folder / "p.csv");
  labels_of(folder, base + " -k 4");
  CHECK(folder.read("p.csv") == "a,b\n0.5,0.5\n0.5,0.5\n");
  labels_of(folder, base + " -k 4 --votes priors=a:3");
  CHECK(folder.read("p.csv") == "a,b\n0.75,0.25\n0.75,0.25\n");
  labels_of(folder, base + " -k 2 --votes weights=distance");  // a has 1/2 of 1/2 + 1; query 8 equals a row
  CHECK(folder.read("p.csv") == "a,b\n0.3333333333333333,0.6666666666666666\n0,1\n");
  labels_of(folder, base + " --radius 0.5");
  CHECK(folder.read("p.csv") == "a,b\n0,0\n0,1\n");
}

TEST_CASE("classify: all rows within a radius vote") {
  const Folder folder;
  const string base = "--metric l1 --label kind --query 0 --query 20 --train " +
                      folder.write("line.csv", line) + " --radius 3 ";
  CHECK(labels_of(folder, base) == "a\n?\n");
  CHECK(labels_of(folder, base + "--votes no-label=unknown") == "a\nunknown\n");
  CHECK(labels_of(folder, base + "--votes outlier=b") == "a\nb\n");
  CHECK(labels_of(folder, base + "--votes weights=distance") == "b\n?\n");
  const Result shown = kith("classify --device cpu " + base + "--votes no-label=unknown,outlier=far");
  CHECK(shown.out ==
        "0: a\nrank  row  distance  label\n   1    0         1  b\n   2    1         2  a\n   3    2         "
        "3  a\n\n20: far\nno row within the radius\n");
}

TEST_CASE("classify: numbers stand for no answer where labels are numbers") {
  const Folder folder;
  const string base = "--label 2 --csv header=no --query 0 -k 2 --votes tie=abstain --train " +
                      folder.write("n.csv", "1,4\n2,9\n") + " ";
  CHECK(labels_of(folder, base) == "-1\n");
  CHECK(labels_of(folder, base + "--votes no-label=77") == "77\n");
  check_refused("classify --device cpu " + base + "--votes no-label=none", 2,
                "invalid_argument: classify: --votes no-label: \"none\" is no whole number, but the labels "
                "are; give one, as -1");
}

TEST_CASE("classify: features, scale and categories") {
  const Folder folder;
  // By x alone row 0 is nearest to 0,9,red; by y alone row 1; by all columns row 1.
  const string train = folder.write("t.csv", "x,kind,y,colour\n0,a,0,red\n4,b,9,blue\n8,c,2,green\n");
  const string base = "-k 1 --metric l1 --label kind --query 0,9,red --train " + train + " ";
  CHECK(labels_of(folder, base + "--features x") == "a\n");
  CHECK(labels_of(folder, base + "--features y") == "b\n");
  CHECK(labels_of(folder, base + "--features 3") == "b\n");
  CHECK(labels_of(folder, base + "--features x-y") == "b\n");
  CHECK(labels_of(folder, base + "--features 1,-1") == "a\n");
  CHECK(labels_of(folder, base + "--features colour --prepare categories=one-hot") == "a\n");
  // Ordinal: blue is 0, green 1, red 2. One-hot: every other colour is equally far.
  const string green = "-k 2 --metric l1 --label kind --query 5,5,green --features colour --train " + train +
                       " --filter " + folder.write("rows.csv", "0\n1\n") + " ";
  CHECK(labels_of(folder, green) == "a\n");
  CHECK(labels_of(folder, green + "--prepare categories=one-hot") == "a\n");
  const string unseen =
      "-k 1 --metric l1 --label kind --query 0,0,black --features colour --prepare unseen=zero --train " +
      train + " --proba " + (folder / "p.csv") + " ";
  CHECK(labels_of(folder, unseen) == "b\n");                                   // counts as blue, which is 0
  CHECK(labels_of(folder, unseen + "--prepare categories=one-hot") == "a\n");  // equally far from all
  const string wide = folder.write("wide.csv", "x,y,kind\n0,0,a\n0,1000,b\n10,0,c\n");
  const string scaled = "-k 1 --label kind --query 9,1000 --train " + wide + " ";
  CHECK(labels_of(folder, scaled) == "b\n");
  CHECK(labels_of(folder, scaled + "--scale min-max") == "b\n");
  CHECK(labels_of(folder, scaled + "--scale min_max --query 9,400") == "b\nc\n");
  CHECK(labels_of(folder, scaled + "--query 9,400") == "b\nc\n");
}

TEST_CASE("classify: several label columns, from one search") {
  const Folder folder;
  const string train = folder.write("t.csv", "x,kind,size\n0,a,1\n1,a,1\n2,b,1\n10,b,7\n11,b,7\n12,a,7\n");
  const string queries = folder.write("q.csv", "x,kind,size\n0,a,1\n11,b,1\n");
  const string base = "classify --device cpu -k 3 --label kind,size --train " + train + " ";
  CHECK(kith(base + "--queries " + queries).out ==
        "kind: accuracy 1.0000 (2 of 2)\nsize: accuracy 0.5000 (1 of 2)\n");
  CHECK(kith(base + "--query 11").out ==
        "11: b,7\n"
        "rank  row  distance  kind  size\n"
        "   1    4         0  b        7\n"
        "   2    3         1  b        7\n"
        "   3    5         1  a        7\n");
  CHECK(labels_of(folder, "-k 3 --label kind,size --train " + train + " --query 0 --query 11") ==
        "a 1\nb 7\n");
  check_refused("classify --device cpu --label kind,size --train " + train + " --query 0 --radius 1", 2,
                "invalid_argument: classify: --radius works for one label column, but there are 2; run it "
                "once for each");
  check_refused("classify --device cpu --label kind,2 --train " + train + " --query 0", 2,
                "invalid_argument: " + train +
                    ": column 2 (kind) is named twice as label, target or group; name it once");
}

TEST_CASE("classify: each training row by all others") {
  const Folder folder;
  const string base = "classify --device cpu --label kind --leave-one-out --train " +
                      folder.write("line.csv", "x,kind\n1,b\n1,a\n2,a\n8,b\n9,b\n") + " ";
  // The nearest other row of row 0 is row 1, at the same point, and vice versa.
  const Result result = kith(base + "-k 1 --out " + (folder / "l.csv"));
  CHECK(result.out == "accuracy 0.4000 (2 of 5)\n");
  CHECK(folder.read("l.csv") == "label\na\nb\nb\nb\nb\n");
  CHECK(kith(base + "-k 1 --k-sweep 3").out ==
        "k  accuracy  correct\n1    0.4000        2\n3    0.4000        2\n\naccuracy 0.4000 (2 of 5)\n");
  check_refused(base + "-k 5", 2,
                "invalid_argument: classify: k = 5 but each row of " + (folder / "line.csv") +
                    " has 4 others; choose k from 1 to 4");
}

TEST_CASE("classify: a model is one file that answers as its training rows did") {
  const Folder folder;
  const string train =
      folder.write("t.csv", "x,colour,y,kind\n0,red,100,a\n4,blue,900,b\n8,green,200,c\n9,red,300,c\n");
  const string queries = folder.write("q.csv", "x,colour,y,kind\n1,red,150,a\n5,green,800,b\n9,blue,250,c\n");
  const string how =
      "--label kind --scale standardize,min-max --prepare categories=one-hot --metric l1 --votes "
      "weights=distance -k 3 ";
  const string model = folder / "kinds.kith";
  const string direct = labels_of(
      folder, how + "--train " + train + " --queries " + queries + " --proba " + (folder / "p.csv"));
  const string proba = folder.read("p.csv");
  const Result saved =
      kith("classify --device cpu " + how + "--train " + train + " --quiet --save-model " + model);
  CHECK(saved.code == 0);
  CHECK(saved.out + saved.err == "");
  const string use = "--model " + model + " --label kind --queries " + queries + " ";
  CHECK(labels_of(folder, use + "--proba " + (folder / "p.csv")) == direct);
  CHECK(folder.read("p.csv") == proba);
  CHECK(kith("classify --device cpu " + use).out == "accuracy 0.6667 (2 of 3)\n");
  // Options can change everything that a model decides, except about its rows.
  CHECK(labels_of(folder, use + "-k 4 --votes weights=uniform") == "c\nc\nc\n");
  const string filter = folder.write("rows.csv", "1\n");
  CHECK(labels_of(folder, use + "-k 1 --filter " + filter) == "b\nb\nb\n");
  check_refused("classify --model " + model + " --train " + train + " --query 1,red,2", 2,
                "invalid_argument: classify: --model and --train are both given; a model has its training "
                "rows and what was done to them: leave --train out");
  check_refused("classify --model " + model + " --scale l2 --query 1,red,2", 2,
                "invalid_argument: classify: --model and --scale are both given; a model has its training "
                "rows and what was done to them: leave --scale out");
  check_refused("classify --model " + model + " --query 1,red", 2,
                "invalid_argument: --query 1: 2 values but " + model +
                    " has 3 columns beside the labels; give a value for each, with commas between them");
  check_refused("classify --model " + model + " --query 1,black,2", 2,
                "invalid_argument: --query 1: column 2 (colour): \"black\" does not occur in " + model +
                    "; use one that does, or give --prepare unseen=zero");
  check_refused("classify --model " + model + " --label kind,x --queries " + queries, 2,
                "invalid_argument: classify: columns with the truth are 2 but " + model +
                    " answers 1; give a column for each, or none");
  check_refused(
      "classify --save-model " + model + " --filter " + filter + " --train " + train + " --label kind", 2,
      "invalid_argument: classify: --save-model and --filter are both given; a model holds all training "
      "rows: give --filter where it is used");
  string bytes = folder.read("kinds.kith");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const string damaged = folder.write("damaged.kith", bytes);
  check_refused("classify --model " + damaged + " --query 1,red,2", 3,
                "bad_file: model: " + damaged + ": byte " + std::to_string(bytes.size() - 8) +
                    ": the checksum does not match; the file is damaged: copy it again");
  check_refused(
      "classify --model " + train + " --query 1,red,2", 3,
      "bad_file: model: " + train + ": byte 0: this is no model of kith; name a file that save() wrote");
  check_refused(
      "regress --model " + model + " --query 1,red,2", 2,
      "invalid_argument: regress: " + model + " is a model of `kith classify`; its labels are no values");
}

}  // namespace command_tests::test_command_classify
