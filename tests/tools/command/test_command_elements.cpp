// Tests --read element= for rows of bytes, halves and bits.
#include "common/data_files.hpp"
#include "common/shell.hpp"

using command_tests::check_refused;
using command_tests::Folder;
using command_tests::Result;
using kith::tests::data_files::bytes;
using kith::tests::data_files::idx;
using kith::tests::data_files::npy;
using std::string;
using test_support::contains;

namespace {

string answered(const string& arguments) {
  const Result result = command_tests::kith(arguments + " --device cpu");
  CAPTURE_ALL(arguments, result.err);
  CHECK(result.code == 0);
  return result.out;
}

/// Writes the same nine numbers in every format that can hold them.
struct Files {
  Folder folder;
  std::vector<string> all;

  Files() {
    const string u1 = bytes<std::uint8_t>({1, 2, 30, 4, 5, 60, 7, 80, 9});
    all = {folder.write("a.csv", "1,2,30\n4,5,60\n7,80,9\n"),
           folder.write("f4.npy", npy("<f4", "(3, 3)", bytes<float>({1, 2, 30, 4, 5, 60, 7, 80, 9}))),
           folder.write("f2.npy", npy("<f2", "(3, 3)",
                                      bytes<std::uint16_t>({0x3c00, 0x4000, 0x4f80, 0x4400, 0x4500, 0x5380,
                                                            0x4700, 0x5500, 0x4880}))),
           folder.write("u1.npy", npy("|u1", "(3, 3)", u1)),
           folder.write("i1.npy", npy("|i1", "(3, 3)", u1)),
           folder.write("b.idx", idx(8, {3, 3}, u1)),
           folder.write("b.bvecs", string("\3\0\0\0\1\2\36\3\0\0\0\4\5\74\3\0\0\0\7\120\11", 21))};
  }
};

}  // namespace

TEST_CASE("elements: any file, by itself or as any element, gives the answers of float32") {
  const Files files;
  const string labels = files.folder.write("y.csv", "a\nb\na\n"),
               values = files.folder.write("v.csv", "1\n2\n4\n");
  const string plain = " --train " + files.all[0] + " --queries " + files.all[0];
  const string searched = answered("search -k 3" + plain);
  const string voted = answered("classify -k 2 --labels " + labels + plain);
  const string averaged = answered("regress -k 2 --values " + values + plain);
  const string within = answered("search --radius 61" + plain);
  for (const string& file : files.all)
    for (const char* element : {"", " --read element=f32", " --read element=f16", " --read element=bf16",
                                " --read element=u8", " --read element=i8"}) {
      const string rows = " --train " + file + " --queries " + files.all[0] + element;
      CHECK(answered("search -k 3" + rows) == searched);
      if (*element != '\0' && file != files.all[3]) continue;
      CHECK(answered("classify -k 2 --labels " + labels + rows) == voted);
      CHECK(answered("regress -k 2 --values " + values + rows) == averaged);
      CHECK(answered("search --radius 61" + rows) == within);
      const string alone = " --train " + file + " --labels " + labels + element;
      CHECK(answered("evaluate --k-max 2" + alone) ==
            answered("evaluate --k-max 2 --train " + files.all[0] + " --labels " + labels));
      CHECK(answered("search -k 2 --leave-one-out --train " + file + element) ==
            answered("search -k 2 --leave-one-out --train " + files.all[0]));
    }
  // Scaled or selected columns become float32.
  for (const char* more : {" --scale standardize", " --features 0-1", " --prepare missing=mean"})
    CHECK(answered("search -k 3 --train " + files.all[3] + " --queries " + files.all[3] + more) ==
          answered("search -k 3 --train " + files.all[1] + " --queries " + files.all[1] + more));
}

TEST_CASE("elements: a model of bytes is one of float32") {
  const Files files;
  const string labels = files.folder.write("y.csv", "a\nb\na\n"), model = files.folder / "m.kith";
  answered("classify -k 1 --labels " + labels + " --train " + files.all[3] + " --save-model " + model);
  CHECK(answered("classify --model " + model + " --queries " + files.all[4]) == "a\nb\na\n");
}

TEST_CASE("elements: the first value that an element does not have is refused, by row and column") {
  const Folder folder;
  const auto refused = [&](const string& content, const string& element, const string& where) {
    const string file = folder.write("x.csv", content);
    check_refused(
        "search -k 1 --device cpu --train " + file + " --queries " + file + " --read element=" + element, 2,
        "invalid_argument: " + file + ": row " + where + "; choose another --read element, or leave it out");
  };
  refused("x,y\n1,2\n3,256\n", "u8", "1, column 2 (y) holds 256, which u8 has not");
  refused("x,y\n1,-1\n", "u8", "0, column 2 (y) holds -1, which u8 has not");
  refused("x,y\n1,-0\n", "u8", "0, column 2 (y) holds -0, which u8 has not");
  refused("x,y\n-128,127\n1.5,0\n", "i8", "1, column 1 (x) holds 1.5, which i8 has not");
  refused("x,y\n65504,0.000000059604644775390625\n0,2049\n", "f16",
          "1, column 2 (y) holds 2049, which f16 has not");
  refused("x,y\n256,257\n", "bf16", "0, column 2 (y) holds 257, which bf16 has not");
  check_refused("search -k 1 --device cpu --train x.csv --queries x.csv --read element=f64", 2,
                "invalid_argument: search: --read element: there is no \"f64\"; choose one of f32, f16, "
                "bf16, u8, i8, bits");
}

TEST_CASE("elements: packed bits by hamming") {
  const Folder folder;
  const string train = folder.write("t.npy", npy("|u1", "(3, 2)", string("\x80\x40\x01\xBF\xFF\xC0", 6)));
  const string query = folder.write("q.npy", npy("|u1", "(1, 2)", string("\x80\x00", 2)));
  const string labels = folder.write("y.csv", "a\nb\nb\n");
  const string rows = " --train " + train + " --queries " + query + " --read element=bits --metric hamming";
  CHECK(contains(answered("search -k 3" + rows), "0 (1)  1 (9)  2 (9)"));
  CHECK(answered("classify -k 1 --labels " + labels + rows) == "a\n");
  CHECK(contains(answered("search -k 3 --train " + train + " --queries " + query +
                          " --read element=bits --metric tanimoto"),
                 "0 (0.5)  2 (0.9)  1 (1)"));
  const string asked = "search -k 1 --train " + train + " --queries " + query;
  check_refused(asked + " --metric hamming", 2,
                "invalid_argument: search: --metric hamming compares bits; give --read element=bits, too, "
                "and files of bytes, 8 columns each");
  check_refused(asked + " --read element=bits", 2,
                "invalid_argument: search: --read element=bits goes with --metric hamming, and l2 measures "
                "numbers; give --metric hamming");
  check_refused("search -k 1" + rows + " --scale l2", 2,
                "invalid_argument: search: --read element and --scale are both given, which needs float32; "
                "leave one out");
  check_refused("search -k 1" + rows + " --prepare missing=drop", 2,
                "invalid_argument: search: --read element and --prepare missing=drop are both given, and "
                "rows with missing values are float32; leave one out");
  check_refused("search -k 1" + rows + " --features 0", 2,
                "invalid_argument: search: --read element=bits and --features are both given, but hamming "
                "compares whole rows; leave --features out");
  const string text = folder.write("t.csv", "1,2\n");
  check_refused("search -k 1 --device cpu --train " + text + " --queries " + text +
                    " --read element=bits --metric hamming",
                2,
                "invalid_argument: " + text +
                    ": holds no bytes, and --read element=bits takes 8 columns a byte; give .npy of u1 "
                    "(numpy.packbits(x, axis=1)), idx of u8 or .bvecs");
}
