// Tests --prepare missing=pairwise with metrics of rows that miss values: docs/contract.md, sections 1 and 3.
#include "common/shell.hpp"

namespace command_tests::test_command_gaps {
namespace {

const string gaps = " --device cpu --metric nan_euclidean ";

/// A folder with rows of which values are missing, in every spelling.
struct WithGaps : Folder {
  const string train = write("train.csv", "x,y,kind\n1,NA,a\n2,4,a\n,8,b\n?,nan,b\n6,4,b\n");
  const string queries = write("asked.csv", "x,y\n1,\nnull,8\nNA,?\n");
};

}  // namespace

TEST_CASE("gaps: the command compares what both rows have") {
  const WithGaps folder;
  const Result found = kith("search" + gaps + "--features x,y -k 4 --train " + folder.train + " --queries " +
                            folder.queries + " --write header=no --out-index " + (folder / "rows.csv") +
                            " --out-distance " + (folder / "far.csv"));
  CAPTURE(found.err);
  CHECK(found.code == 0);
  CHECK(folder.read("rows.csv") == "0,1,4,-1\n2,1,4,-1\n-1,-1,-1,-1\n");
  CHECK(folder.read("far.csv") == "0,1.4142135,7.071068,inf\n0,5.656854,5.656854,inf\ninf,inf,inf,inf\n");
}

TEST_CASE("gaps: votes, scaled by what is there, and by a model") {
  const WithGaps folder;
  const string model = folder / "gaps.kith", asked = " --queries " + folder.queries;
  const string scaled = "classify" + gaps + "--scale standardize -k 1 --label kind --train " + folder.train;
  const string voted = kith(scaled + asked + " --quiet --write header=no --out -").out;
  CHECK(voted == "a\nb\n?\n");
  CHECK(kith(scaled + " --save-model " + model).code == 0);
  CHECK(kith("classify --device cpu --model " + model + asked + " --quiet --write header=no --out -").out ==
        voted);
}

TEST_CASE("gaps: a query without neighbours is shown without any, and index files take gaps") {
  const WithGaps folder;
  const string ask =
      "classify" + gaps + "-k 2 --label kind --train " + folder.train + " --query NA,NA --quiet";
  CHECK(kith(ask).out ==
        "NA,NA: ?\nno neighbours: no row has a value in a column of this, or none is within the radius\n");
  CHECK(contains(kith(ask + " --json").out, "\"neighbors\":[]"));
  CHECK(contains(kith("regress" + gaps + "-k 2 --target y --train " +
                      folder.write("n.csv", "x,y\n1,2\n3,4\n") + " --query NA --json")
                     .out,
                 "\"value\":null"));
  const string file = folder / "gaps.kidx", rows = "--drop kind --train " + folder.train;
  CHECK(kith("index build --metric nan_euclidean --device cpu --out " + file + " " + rows).code == 0);
  CHECK(kith("search --device cpu -k 2 --index " + file + " --query 1,NA --write header=no --out-index -")
            .out == kith("search" + gaps + "-k 2 --features x,y --train " + folder.train +
                         " --query 1,NA --write header=no --out-index -")
                        .out);
  const string array = folder / "n.npy", numbers = folder.write("numbers.csv", "x,y\n1,2\n2,4\n6,4\n");
  CHECK(
      kith("search --device cpu -k 2 --train " + numbers + " --leave-one-out --out-distance " + array).code ==
      0);
  const string streamed =
      "search" + gaps + "-k 1 --place residence=stream --train " + array + " --query 0,NA";
  CHECK(kith(streamed + " --write header=no --out-index -").code == 0);
  CHECK(kith("search" + gaps + "-k 1 --features x,y --prepare missing=refuse --leave-one-out --train " +
             folder.train)
            .code == 3);
}

TEST_CASE("gaps: columns of numbers and of texts, by sums of differences and by categories") {
  const Folder folder;
  const string train = folder.write("pets.csv", "age,kind\n1,cat\nNA,dog\n5,\n?,NA\n"),
               queries = folder.write("asked.csv", "age,kind\n2,dog\nNA,cat\n");
  const string rows = " --device cpu -k 3 --train " + train, out = " --quiet --write header=no --out-index -",
               asked = " --queries " + queries + out,
               how = R"( --metric nan_gower --metric-params '{"categorical": [1]}')";
  CHECK(kith("search" + how + rows + asked).out == "1,0,2\n0,1,-1\n");
  CHECK(kith("search --metric nan_gower" + rows + " --features age --query 4" + out).out == "2,0,-1\n");
  CHECK(kith("search --metric nan_manhattan" + rows + " --features age --query 4" + out).out == "2,0,-1\n");
  const string model = folder / "pets.kith",
               named = folder.write("named.csv", "age,kind,label\n1,cat,a\n,dog,b\n5,,a\n?,NA,a\n"),
               one = " --device cpu -k 1 --quiet --write header=no --out - --queries " + queries;
  const string vote = "classify" + how + " --label label --train " + named;
  CHECK(kith(vote + one).out == "b\na\n");
  CHECK(kith(vote + " -k 1 --device cpu --save-model " + model).code == 0);
  CHECK(kith("classify --model " + model + one).out == "b\na\n");
}

TEST_CASE("gaps: what does not go together is refused, with what to do") {
  const WithGaps folder;
  const string rows = " --device cpu -k 1 --features x,y --train " + folder.train + " --leave-one-out";
  check_refused(
      "search --prepare missing=pairwise" + rows, 2,
      "invalid_argument: search: --prepare missing=pairwise leaves values out, which l2 does not take; "
      "choose --metric nan_euclidean, nan_manhattan or nan_gower, or fill them in by missing=median");
  check_refused("search --metric nan_euclidean --prepare missing=pairwise --scale l2" + rows, 2,
                "invalid_argument: preparation: l2_rows divides by the norm of a whole row, of which "
                "missing=pairwise leaves values out; drop one of them");
}

}  // namespace command_tests::test_command_gaps
