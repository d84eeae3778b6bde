// Tests kith regress, and the options it shares with kith search: radius, features, filter, leave-one-out.
// All cases run on the CPU.
#include "common/shell.hpp"

namespace command_tests::test_command_regress {
namespace {

const char* const houses = "size,rooms,price\n1,1,10\n2,1,20\n3,2,40\n10,4,100\n";

}  // namespace

TEST_CASE("regress: the mean of the nearest, weighted by distance or rank") {
  const Folder folder;
  const string train = folder.write("houses.csv", houses);
  const string base =
      "regress --device cpu --metric l1 --target price --features size --train " + train + " ";
  CHECK(kith(base + "-k 3 --query 2,9").out ==
        "2,9: 23.333333333333332\n"
        "rank  row  distance  price\n"
        "   1    1         0     20\n"
        "   2    0         1     10\n"
        "   3    2         1     40\n");
  const string queries = folder.write("q.csv", "size,rooms\n2.5,0\n");
  CHECK(kith(base + "-k 2 --queries " + queries).out == "30\n");
  CHECK(kith(base + "-k 3 --votes weights=rank,rank-weights=2,1,1 --queries " + queries).out == "22.5\n");
  CHECK(kith(base + "--radius 0.5 --queries " + queries).out == "30\n");
  CHECK(kith(base + "--radius 0.25 --queries " + queries).out == "nan\n");
  const string weights = folder.write("w.csv", "1\n3\n1\n1\n");
  CHECK(kith(base + "-k 2 --votes sample-weights=" + weights + " --queries " + queries).out == "25\n");
  const Result written = kith(base + "-k 2 --queries " + queries + " --quiet --out " + (folder / "v.npy"));
  CHECK(written.out + written.err == "");
  CHECK(contains(folder.read("v.npy"), "'<f8'"));
  CHECK(contains(folder.read("v.npy"), "(1, 1)"));
}

TEST_CASE("regress: errors against the truth, from a column, a file, or each row left out") {
  const Folder folder;
  const string train = folder.write("houses.csv", houses);
  const string base = "regress --device cpu -k 1 --target price --features size --train " + train + " ";
  // The answers 10 and 100 to 12 and 94 have errors 2 and 6, whose squares sum to 40; each truth is 41 from
  // their mean.
  const string queries = folder.write("q.csv", "size,rooms,price\n1,0,12\n9,0,94\n");
  const string expected =
      "value  MAE     RMSE       R^2  queries\n"
      "price    4  4.47214  0.988102        2\n";
  CHECK(kith(base + "--queries " + queries).out == expected);
  const string plain = folder.write("plain.csv", "size,rooms\n1,0\n9,0\n");
  CHECK(kith(base + "--queries " + plain + " --truth " + folder.write("t.csv", "12\n94\n")).out == expected);
  // The nearest other rows, the first among equals, give 20, 10, 20, 40. Squared errors are 4200 of 4875.
  CHECK(kith(base + "--leave-one-out").out ==
        "value  MAE     RMSE       R^2  queries\n"
        "price   25  32.4037  0.138462        4\n");
  CHECK(kith("regress --device cpu --radius 1 --target price --features size --train " + train +
             " --queries " + folder.write("far.csv", "size,rooms,price\n1,0,15\n50,0,94\n"))
            .out ==
        "value  MAE  RMSE  R^2  queries\n"
        "price    0     0    -        1\n"
        "(1 query has no value: no row within the radius, or none of weight above 0)\n");
}

TEST_CASE("regress: several values, from a file of their own, and as a model") {
  const Folder folder;
  const string train = folder.write("x.csv", "0\n1\n5\n");
  const string values = folder.write("y.csv", "low,high\n0.1,1e300\n0.2,3e300\n7,0\n");
  const string base = "regress --device cpu --train " + train + " --values " + values + " ";
  CHECK(kith(base + "-k 2 --query 0.4 --out " + (folder / "v.csv")).out == "");
  CHECK(folder.read("v.csv") == "low,high\n0.15000000000000002,2e+300\n");
  CHECK(kith(base + "-k 1 --save-model " + (folder / "m.kith")).out == "");
  CHECK(kith("regress --device cpu --model " + (folder / "m.kith") + " --query 1.2").out ==
        "1.2: 0.2,3e+300\n"
        "rank  row    distance    1       2\n"
        "   1    1  0.20000005  0.2  3e+300\n");
  const string queries = folder.write("q.csv", "low,high,x\n0.2,1e300,0\n7,0,9\n");
  CHECK(
      kith("regress --device cpu --model " + (folder / "m.kith") + " --target low,high --queries " + queries)
          .out ==
      "value   MAE       RMSE       R^2  queries\n"
      "low    0.05  0.0707107  0.999567        2\n"
      "high      0          0         1        2\n");
}

TEST_CASE("regress: what does not fit together is refused, in one line") {
  const Folder folder;
  const string train = folder.write("houses.csv", houses);
  const string values = folder.write("y.csv", "1\n2\n");
  check_refused("regress --train " + train + " --query 1", 2,
                "invalid_argument: regress: there are no values; give --values FILE, or --target COLUMN of "
                "the training file");
  check_refused("regress --target cost --values " + values + " --train " + train + " --query 1", 2,
                "invalid_argument: " + values +
                    ": has no column \"cost\"; it has column 1 only and no header, for its line 1 begins "
                    "with \"1\"; say --csv header=yes if that is a name");
  check_refused(
      "regress --values " + values + " --train " + train + " --query 1", 2,
      "invalid_argument: regress: " + values + " holds 2 values but " + train + " 4 rows; give one a row");
  check_refused("regress --target cost --train " + train + " --query 1", 2,
                "invalid_argument: " + train +
                    ": has no column \"cost\"; it has columns 1 to 3, called \"size\", \"rooms\", \"price\"; "
                    "name one of them");
  check_refused(
      "regress --target price --train " + folder.write("bad.csv", "size,price\n1,2\n1,cheap\n") +
          " --query 1",
      3,
      "bad_file: " + (folder / "bad.csv") +
          ":3: column 2 (price) holds \"cheap\" where a number belongs; correct it or leave the row out");
  check_refused(
      "regress --target price --train " + folder.write("inf.csv", "size,price\n1,2\n1,1e999\n") +
          " --query 1",
      3,
      "bad_file: " + (folder / "inf.csv") +
          ":3: column 2 (price) holds \"1e999\", beyond the largest float64, 1.7e308; scale the column down");
  check_refused("regress --target price --train " + train, 2,
                "invalid_argument: regress: there is nothing to regress; give --queries FILE, --query VALUES "
                "or --leave-one-out");
  const string truth = folder.write("t.csv", "1,2\n");
  check_refused("regress --target price --train " + train + " --query 1,1 -k 1 --truth " + truth, 2,
                "invalid_argument: regress: " + truth +
                    " holds 1 x 2 values but there are 1 queries with 1 value each; give as many");
}

TEST_CASE("search: radius, filter, features and leave-one-out") {
  const Folder folder;
  const string train = folder.write("t.csv", "0,9\n1,9\n3,0\n7,0\n");
  const string base = "search --device cpu --metric l1 --csv header=no --train " + train + " ";
  CHECK(kith(base + "-k 2 --features 1 --query 2,0").out ==
        "nearest training rows of each query, from 0 (and their distance)\n"
        "query     #1     #2\n"
        "    0  1 (1)  2 (1)\n");
  CHECK(kith(base + "-k 1 --features 1 --leave-one-out").out ==
        "nearest training rows of each query, from 0 (and their distance)\n"
        "query     #1\n"
        "    0  1 (1)\n"
        "    1  0 (1)\n"
        "    2  1 (2)\n"
        "    3  2 (4)\n");
  const string radius = base + "--radius 2 --features 1 --query 1,0 --query 50,0 --query 6,0 ";
  CHECK(kith(radius).out ==
        "nearest training rows of each query, from 0 (and their distance)\n"
        "query  rows     #1     #2     #3\n"
        "    0     3  1 (0)  0 (1)  2 (2)\n"
        "    1     0\n"
        "    2     1  3 (1)\n");
  CHECK(kith(radius + "--out-index " + (folder / "i.csv") + " --out-distance " + (folder / "d.fvecs")).code ==
        0);
  CHECK(folder.read("i.csv") == "1,0,2\n\n3\n");
  CHECK(folder.read("d.fvecs").size() == 3 * 4 + 4 * 4);
  check_refused(radius + "--out-index " + (folder / "i.npy"), 2,
                "invalid_argument: search: " + (folder / "i.npy") +
                    ": lists within --radius are of different lengths, which .npy, .ibin and .fbin do not "
                    "hold; choose .csv, .tsv, .txt or a .vecs format");
  const string filter = folder.write("f.csv", "0\n3\n");
  CHECK(kith(base + "-k 1 --features 1 --query 2,0 --filter " + filter).out ==
        "nearest training rows of each query, from 0 (and their distance)\n"
        "query     #1\n"
        "    0  0 (2)\n");
  check_refused(
      base + "-k 1 --features 0 --query 2,0", 2,
      "invalid_argument: search: --features: " + train + " has no column \"0\"; it has column 1 to column 2");
}

}  // namespace command_tests::test_command_regress
