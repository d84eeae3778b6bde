// Tests numbers beyond the range of float32: double precision takes them, and messages say so where it does.
// All cases run on the CPU.
#include "tools/command/text/map_points.hpp"

namespace command_tests::test_command_large {

TEST_CASE("doubles: numbers beyond float32 are searched") {
  const Folder folder;
  const string csv = folder.write("wide.csv", "x,y\n1e300,0\n-1e300,1e-320\n2.5e299,1\n");
  const string svm = folder.write("wide.svm", "1 1:1e300\n1 1:-1e300 2:1e-320\n1 1:2.5e299 2:1\n");
  for (const string& file : {csv, svm}) {
    CAPTURE(file);
    const string search = "search --device cpu --metric l1 -k 3 --query 1e300,0 --train " + file;
    CHECK(contains(out_of(search + " --prepare arithmetic=f64"), "0 (0)  2 (7.5e+299)  1 (2e+300)"));
    check_refused(search + " --prepare arithmetic=f64,missing=drop --query 1e309,0", 2,
                  "invalid_argument: --query 2: " + string(file == csv ? "column 1 (x)" : "column 0") +
                      ": \"1e309\" is no finite number that fits float64; give one");
    const Result rounded = kith(search);
    const string large = "beyond the largest float32, 3.4e38; ";
    CHECK(contains(rounded.err, large + "--prepare arithmetic=f64 takes it; or scale the column down\n"));
    for (const char* prepared : {" --scale standardize", " --scale min-max --prepare arithmetic=f64"})
      CHECK(contains(kith(search + prepared).err, large +
                                                      "scale the column down; --prepare arithmetic=f64 takes "
                                                      "it if nothing else prepares values\n"));
    CHECK(contains(kith(search + " --out-distance d.fvecs").err, large + "scale the column down\n"));
    CHECK(contains(
        kith("compare --device cpu -k 1 --prepare arithmetic=f64 --train " + file + " --queries " + file).err,
        large + "scale the column down\n"));
  }
  const string npy = folder.write("wide.npy", npy_of({1e300, 0, 0, -1e300, 0, 0}));
  CHECK(contains(out_of("search --device cpu --metric linf -k 1 --leave-one-out --prepare arithmetic=f64 "
                        "--train " +
                        npy),
                 "1 (2e+300)"));
  CHECK(contains(
      kith("search --device cpu -k 1 --leave-one-out --train " + npy).err,
      "row 0, column 0 holds 1e+300, beyond the largest float32, 3.4e38; --prepare arithmetic=f64 takes "
      "it; or scale the column down\n"));
  const string small = "search --device cpu -k 1 --train " + folder.write("small.csv", "x,y\n1,0\n2,1\n");
  const string takes = "--prepare arithmetic=f64 takes it; or scale the column down";
  check_refused(
      small + " --query 1e300,0", 2,
      "invalid_argument: --query 1: column 1 (x): \"1e300\" is no finite number that fits float32; " + takes);
  CHECK(contains(kith(small + " --queries " + csv).err, takes));
  CHECK(contains(out_of(small + " --prepare arithmetic=f64 --metric l1 --query 1e300,0"), "0 (1e+300)"));
  const string holes = folder.write("holes.csv", "x,y\n1e300,0\nNA,1\n2.5e299,1\n");
  const string dropped = out_of(
      "search --device cpu --metric l1 -k 1 --leave-one-out --prepare arithmetic=f64,missing=drop "
      "--out-distance - --train " +
      holes);
  CHECK(dropped.ends_with("\n7.5e+299\nnan\n7.5e+299\n"));
  CHECK(contains(
      kith(small + " --prepare arithmetic=f64 --query 1e300,0").err,
      "(from 0) overflow to infinity, and neighbours at infinity are in the order of their rows; correct the "
      "values, or scale all columns in the file\n"));
  check_refused("search --device cpu -k 1 --leave-one-out --prepare arithmetic=f64 --train " +
                    folder.write("larger.csv", "x\n1e309\n1\n"),
                3,
                "bad_file: " + (folder / "larger.csv") +
                    ":2: column 1 (x) holds \"1e309\", beyond the largest float64, 1.7e308; scale the "
                    "column down");
}

}  // namespace command_tests::test_command_large
