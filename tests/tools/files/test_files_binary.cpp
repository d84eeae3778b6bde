// Tests binary files: every format is written by hand, every message is compared word for word.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: .npy, every type, order and version") {
  const Folder folder;
  const Floats expected{1, 2, 3, 4, 5, 6};
  const auto check = [&](const string& content) {
    const Table table = folder.table("t.npy", content);
    CHECK(table.rows == 2);
    CHECK(table.cols == 3);
    CHECK(table.values == expected);
    CHECK(table.rounded.empty());
    CHECK_FALSE(table.text);
  };
  for (const bool big : {false, true}) {
    CAPTURE(big);
    const string order = big ? ">" : "<";
    check(npy(order + "f4", "(2, 3)", bytes<float>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "f8", "(2, 3)", bytes<double>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "f2", "(2, 3)",
              bytes<std::uint16_t>({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}, big)));
    check(npy(order + "i2", "(2, 3)", bytes<std::int16_t>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "u2", "(2, 3)", bytes<std::uint16_t>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "i4", "(2, 3)", bytes<std::int32_t>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "u4", "(2, 3)", bytes<std::uint32_t>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "i8", "(2, 3)", bytes<std::int64_t>({1, 2, 3, 4, 5, 6}, big)));
    check(npy(order + "u8", "(2, 3)", bytes<std::uint64_t>({1, 2, 3, 4, 5, 6}, big)));
  }
  const string u1 = bytes<std::uint8_t>({1, 2, 3, 4, 5, 6});
  check(npy("|u1", "(2, 3)", u1, false, 1));
  check(npy("|u1", "(2, 3)", u1, false, 2));
  check(npy("|u1", "(2L, 3L)", u1, false, 3));
  check(npy("|i1", "(2,3,)", u1));
  check(npy("|u1", "(2, 3)", bytes<std::uint8_t>({1, 4, 2, 5, 3, 6}), true));
  check(npy_header("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"|u1\"}") + u1);
  CHECK(folder.table("t.npy", npy("|b1", "(1, 2)", "\1\0"s)).values == Floats{1, 0});
  CHECK(folder.table("t.npy", npy("<i2", "(1, 2)", bytes<std::int16_t>({-1, -32768}))).values ==
        Floats{-1, -32768});
  CHECK(folder.table("t.npy", npy("<f2", "(1, 3)", bytes<std::uint16_t>({0x8001, 0x7bff, 0x8000}))).values ==
        Floats{-0x1p-24f, 65504, -0.0f});
  CHECK(folder.table("t.npy.gz", gzip(npy("|u1", "(2, 3)", u1))).values == expected);

  const Table column = folder.table("t.npy", npy("|u1", "(6,)", u1));
  CHECK(column.rows == 6);
  CHECK(column.cols == 1);
  const Table images = folder.table("t.npy", npy("|u1", "(1, 2, 3)", u1));
  CHECK(images.cols == 6);
  CHECK(images.image_shape == Integers{2, 3});
  // Element [r, a, b] of this Fortran array is at r + 2 (a + 1 b); its column is a * 3 + b.
  CHECK(
      folder.table("t.npy", npy("|u1", "(1, 2, 3)", bytes<std::uint8_t>({1, 4, 2, 5, 3, 6}), true)).values ==
      expected);
  CHECK(folder.labels("l.npy", npy("<i8", "(3,)", bytes<std::int64_t>({5, 0, 7}))) == Labels{{5, 0, 7}, {}});
  CHECK(folder.labels("l.npy", npy("<f4", "(2, 1)", bytes<float>({5, 3}))) == Labels{{5, 3}, {}});
}

TEST_CASE("files: what does not fit float32 is rounded to nearest") {
  const Folder folder;
  const Table f8 =
      folder.table("t.npy", npy("<f8", "(3, 3)", bytes<double>({1, 0.1, 2, 3, 0.1, 0x1.000001p0, 0, 4, 1})));
  CHECK(f8.values == Floats{1, 0.1f, 2, 3, 0.1f, 1, 0, 4, 1});  // 1 + 2^-24 is a tie and rounds to even
  CHECK(f8.rounded.size() == 2);
  CHECK(f8.rounded[0] == RoundedColumn{1, 0x1p-21, 3.9, 0.1, static_cast<double>(0.1f)});
  CHECK(describe_lost_digits(f8).empty());  // the lost digits do not matter
  CHECK(folder.table("t.npy", npy("<f4", "(1, 1)", bytes<float>({1}))).rounded.empty());
  const Table i4 =
      folder.table("t.npy", npy("<i4", "(1, 4)", bytes<std::int32_t>({16777217, INT32_MAX, INT32_MIN, -3})));
  CHECK(i4.values == Floats{16777216, 0x1p31f, -0x1p31f, -3});
  const Table i8 =
      folder.table("t.npy", npy("<i8", "(3, 1)", bytes<std::int64_t>({INT64_MAX, INT64_MIN, 1LL << 40})));
  CHECK(i8.values == Floats{0x1p63f, -0x1p63f, 0x1p40f});
  const Table fortran =
      folder.table("t.npy", npy("<u8", "(2, 2)", bytes<std::uint64_t>({1, 2, 3, UINT64_MAX}), true));
  CHECK(fortran.values == Floats{1, 3, 2, 0x1p64f});
}

TEST_CASE(
    "files: values and rows that float32 does not tell apart are told, with the value that loses most") {
  const Folder folder;
  const string lost =
      ": column 1: float32 keeps its values to 0.5, and they span 207.5: 5411111.207 becomes 5411111, 0.207 "
      "off";
  const string remedy = "; --prepare centre=yes subtracts each column's mean first, in double precision";
  const std::vector<double> metres{1, 5411000, /**/ 2, 5411111.207, /**/ 3, 5411207.5};
  for (const bool fortran : {false, true}) {
    std::vector<double> values = metres;
    if (fortran) values = {1, 2, 3, 5411000, 5411111.207, 5411207.5};
    string data;
    for (const double value : values) data += bytes<double>({value});
    CHECK(describe_lost_digits(folder.table("t.npy", npy("<f8", "(3, 2)", data, fortran))) ==
          folder / "t.npy" + lost + remedy);
  }
  CHECK(describe_lost_digits(folder.table("t.csv", "1,5411000\n2,5411111.207\n3,5411207.5\n")) ==
        folder / "t.csv" + ": column 2: " + lost.substr(string(": column 1: ").size()) + remedy);
  // These seconds become equal: they are 60 apart, but float32 keeps steps of 128.
  const string equal = "; rows 0 and 1, which differ, become equal" + remedy;
  const string seconds =
      ": column 0: float32 keeps its values to 128, and they span 10000000: 1700000059 becomes 1700000000, "
      "59 off";
  CHECK(describe_lost_digits(folder.table(
            "t.npy", npy("<i8", "(3, 1)", bytes<std::int64_t>({1700000000, 1700000059, 1710000000})))) ==
        folder / "t.npy" + seconds + equal);
  CHECK(describe_lost_digits(folder.table("t.svm", "1 1:1700000000\n1 1:1700000059\n2 1:1710000000\n")) ==
        folder / "t.svm" + seconds + equal);
  // A constant column loses nothing, and must not hide another one. A column of row numbers too large for
  // float32 is not helped by subtracting its mean.
  CHECK(describe_lost_digits(folder.table("t.csv", "0.1,5411000\n0.1,5411111.207\n0.1,5411207.5\n")) ==
        folder / "t.csv" + ": column 2: " + lost.substr(string(": column 1: ").size()) + remedy);
  CHECK(describe_lost_digits(folder.table("t.csv", "0,7\n40000000,7\n40000001,7\n"))
            .ends_with("; rows 1 and 2, which differ, become equal; --drop leaves out a column that only "
                       "numbers the rows"));
  // An equal row is no loss, however its numbers are written.
  CHECK(describe_lost_digits(folder.table("t.csv", "0.1,900000\n0.1000,900000\n1e-1,900000\n7,1\n")).empty());
  // Tables that keep doubles have lost nothing yet.
  ReadOptions wide;
  wide.doubles = true;
  const Table kept = folder.table("t.csv", "1,5411000\n2,5411111.207\n3,5411207.5\n", wide);
  CHECK(kept.doubles == metres);
  CHECK(describe_lost_digits(kept).empty());
  CHECK(folder.table("t.npy", npy("<f4", "(1, 1)", bytes<float>({0.1f})), wide).doubles.empty());
  CHECK(folder.table("t.npy", npy("<f8", "(2, 2)", bytes<double>({1, 0.1, 2, 0.3}), true), wide).doubles ==
        std::vector<double>{1, 2, 0.1, 0.3});
  CHECK(folder.table("t.svm", "1 2:0.1\n2 1:5411111.207\n", wide).doubles ==
        std::vector<double>{0, 0.1, 5411111.207, 0});
}

TEST_CASE("files: doubles may be beyond float32, where that is asked for") {
  const Folder folder;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  ReadOptions options;
  options.doubles = options.wide = true;
  const std::vector<double> numbers = {1e300, -2.5e99, 1e-310, 3};
  const std::vector<float> rounded = {infinity, -infinity, 0, 3};
  for (const auto& file :
       {std::pair<string, string>("t.csv", "1e300,-2.5e99\n1e-310,3\n"),
        std::pair<string, string>("t.npy", npy("<f8", "(2, 2)", bytes<double>({1e300, -2.5e99, 1e-310, 3}))),
        std::pair<string, string>("t.svm", "1 1:1e300 2:-2.5e99\n1 1:1e-310 2:3\n")}) {
    const string &name = file.first, &content = file.second;
    CAPTURE(name);
    const Table table = folder.table(name, content, options);
    CHECK(table.doubles == numbers);
    CHECK(table.values == rounded);
  }
  CHECK(folder
            .table("t.csv", "1e99;2,5e99\n1;2\n",
                   [&] {
                     ReadOptions comma = options;
                     comma.separator = ';', comma.decimal = ',';
                     return comma;
                   }())
            .doubles == std::vector<double>{1e99, 2.5e99, 1, 2});
  const auto refused = [&](const string& name, const string& content) {
    try {
      folder.table(name, content, options);
    } catch (const kith::Error& error) {
      return string(error.what());
    }
    return string();
  };
  CHECK(refused("t.csv", "1e309\n")
            .ends_with("holds \"1e309\", beyond the largest float64, 1.7e308; scale "
                       "the column down"));
  CHECK(refused("t.npy", npy("<f8", "(1, 1)", bytes<double>({std::numeric_limits<double>::infinity()})))
            .ends_with("holds an infinity; make every value finite, or leave the row out"));
  options.wide = false;
  CHECK(refused("t.npy", npy("<f8", "(1, 1)", bytes<double>({1e300})))
            .ends_with("holds 1e+300, beyond the largest float32, 3.4e38; scale the column down"));
}

TEST_CASE("files: wrong .npy, word for word") {
  const Folder folder;
  const auto header = [](const string& text) {
    return "has the header \"" + text +
           "\", which is not of the form {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}; save it "
           "again with numpy.save";
  };
  const string one = bytes<float>({1});
  const std::vector<std::pair<string, string>> cases{
      {"x", "ends after 1 byte, within its header; it is truncated: copy or download it again"},
      {"PK\3\4 and so on",
       "does not begin as .npy files do; save it with numpy.save, or name it by the format it has"},
      {npy("<f4", "(1, 1)", one, false, 4),
       "is of .npy version 4.0; kith reads 1.0, 2.0 and 3.0: save it again with numpy.save"},
      {"\x93NUMPY\2\0\xff\xff\xff\x7f"s,
       "announces a header of 2147483647 bytes, that of numbers has about 128; it is damaged: save it again "
       "with numpy.save"},
      {npy_header("").substr(0, 9),
       "ends after 9 bytes, within its header; it is truncated: copy or download it again"},
      {npy("|O", "(1, 1)", one),
       "holds elements of type \"|O\", which are Python objects; numbers become an array by a.astype('f8'), "
       "texts a file by numpy.savetxt('new.csv', a, fmt='%s', delimiter=',')"},
      {npy("<U5", "(1, 1)", one),
       "holds elements of type \"<U5\", which are texts; write them as text: numpy.savetxt('new.csv', a, "
       "fmt='%s', delimiter=',')"},
      {npy("<c8", "(1, 1)", one),
       "holds elements of type \"<c8\", which are complex numbers; save real ones of them, such as "
       "numpy.abs(a)"},
      {npy("", "(1, 1)", one),
       "holds elements of type \"\", which are no numbers that kith reads; save f2, f4, f8, i1 ... i8, u1 "
       "... u8 or bool"},
      {npy_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}") + one,
       "holds records with fields; save one plain array of numbers, such as a['field'], or write all of it "
       "as text: pandas.DataFrame(a).to_csv('new.csv', index=False)"},
      {npy_header("nothing"), header("nothing")},
      {npy_header("{'descr': '<f4'}"), header("{'descr': '<f4'}")},
      {npy_header("{'descr': '<f4', 'descr': '<f4'}"), header("{'descr': '<f4', 'descr': '<f4'}")},
      {npy("<f4", "(1)", one), header("{'descr': '<f4', 'fortran_order': False,...")},
      {npy("<f4", "(-1,)", one), header("{'descr': '<f4', 'fortran_order': False,...")},
      {npy("<f4", "(1 1)", one), header("{'descr': '<f4', 'fortran_order': False,...")},
      {npy("<f4", "()", one), "holds a single number; a table has rows along its first axis"},
      {npy("<f4", "(0, 3)", ""),
       "holds an array of shape (0, 3): no values; a table has at least one row and one column"},
      {npy("<f4", "(2,)", one),
       "its header announces an array of shape (2,), 8 bytes, but 4 bytes follow; it is truncated or no such "
       "file: copy or download it again"},
      {npy("<f4", "(4294967296, 4294967296)", one),
       "its header announces an array of shape (4294967296, 4294967296), more than 2^64 bytes, but 4 bytes "
       "follow; it is truncated or no such file: copy or download it again"},
      {npy("<f4", "(1,)", one + "x"),
       "goes on after byte 75, where its header says it ends; it is damaged or no such file: copy or "
       "download it again"},
      {npy("<f4", "(2, 2)", bytes<float>({1, 2, std::nanf(""), 4})),
       "row 1, column 0 holds NaN; make every value finite, or leave the row out; --prepare missing= fills "
       "such cells in, drops their rows, or leaves them out"},
      {npy("<f4", "(2, 2)", bytes<float>({1, 2, inf, 4}), true),
       "row 0, column 1 holds an infinity; make every value finite, or leave the row out"},
      {npy("<f8", "(1, 2)", bytes<double>({1, -1e39})),
       "row 0, column 1 holds -1e+39, beyond the largest float32, 3.4e38; scale the column down"},
      {npy("<f2", "(1,)", bytes<std::uint16_t>({0x7c00})),
       "row 0, column 0 holds an infinity; make every value finite, or leave the row out"},
  };
  for (const auto& [content, message] : cases)
    CHECK(folder.table_error("t.npy", content) == "bad_file: t.npy: " + message);
  const string big = npy("|u1", "(100000000,)", "");
  CHECK(folder.table_error("t.npy.gz", gzip(big)) ==
        "bad_file: t.npy.gz: its header announces an array of shape (100000000,), 100000000 bytes, but so "
        "small a .gz cannot hold them; it is truncated or no such file: copy or download it again");
  CHECK(folder.table_error("t.npy.gz", gzip(npy("|u1", "(1000,)", string(999, 'x')))) ==
        "bad_file: t.npy.gz: ends after 1073 bytes, within an array of shape (1000,); it is truncated: copy "
        "or download it again");
}

TEST_CASE("files: idx") {
  const Folder folder;
  const string u1 = bytes<std::uint8_t>({1, 2, 3, 4, 5, 6});
  const Table images = folder.table("train-images-idx3-ubyte", idx(8, {1, 2, 3}, u1));
  CHECK(images.rows == 1);
  CHECK(images.cols == 6);
  CHECK(images.values == Floats{1, 2, 3, 4, 5, 6});
  CHECK(images.image_shape == Integers{2, 3});
  CHECK(folder.table("t.idx", idx(9, {2}, "\xff\x05")).values == Floats{-1, 5});
  CHECK(folder.table("t.idx", idx(11, {1, 2}, bytes<std::int16_t>({-2, 300}, true))).values ==
        Floats{-2, 300});
  CHECK(folder.table("t.idx", idx(12, {1, 1}, bytes<std::int32_t>({70000}, true))).values == Floats{70000});
  CHECK(folder.table("t.idx", idx(13, {1, 1}, bytes<float>({0.5f}, true))).values == Floats{0.5f});
  CHECK(folder.table("t.idx.gz", gzip(idx(14, {1, 1}, bytes<double>({0.25}, true)))).values == Floats{0.25f});
  CHECK(folder.labels("l-idx1-ubyte.gz", gzip(idx(8, {3}, "\1\0\2"s))) == Labels{{1, 0, 2}, {}});

  CHECK(folder.table_error("t.idx", "abcd") ==
        "bad_file: t.idx: does not begin with two zero bytes, as idx files do; name it by the format it has");
  CHECK(folder.table_error("t.idx", idx(7, {1}, "x")) ==
        "bad_file: t.idx: has type 7, which idx does not define; it has 8 (u8), 9 (i8), 11 (i16), 12 (i32), "
        "13 (f32) and 14 (f64)");
  CHECK(
      folder.table_error("t.idx", idx(8, {1, 2, 3}, u1).substr(0, 10)) ==
      "bad_file: t.idx: ends after 10 bytes, within its header; it is truncated: copy or download it again");
  CHECK(folder.table_error("t.idx", idx(8, {2, 2, 3}, u1)) ==
        "bad_file: t.idx: its header announces an array of shape (2, 2, 3), 12 bytes, but 6 bytes follow; it "
        "is truncated or no such file: copy or download it again");
  CHECK(folder.table_error("t.idx", idx(8, {0xffffffff, 0xffffffff, 0xffffffff}, u1)) ==
        "bad_file: t.idx: its header announces an array of shape (4294967295, 4294967295, 4294967295), more "
        "than 2^64 bytes, but 6 bytes follow; it is truncated or no such file: copy or download it again");
  CHECK(folder.table_error("t.idx", idx(8, {}, u1)) ==
        "bad_file: t.idx: holds a single number; a table has rows along its first axis");
}

TEST_CASE("files: .fvecs, .ivecs, .bvecs") {
  const Folder folder;
  const Table f = folder.table("t.fvecs", fvecs({{1, 2.5f}, {3, 4}}));
  CHECK(f.rows == 2);
  CHECK(f.values == Floats{1, 2.5f, 3, 4});
  CHECK(folder.table("t.ivecs", bytes<std::int32_t>({2, -7, 16777217})).values == Floats{-7, 16777216});
  CHECK(folder.table("t.bvecs.gz", gzip(bytes<std::int32_t>({2}) + "\1\xff")).values == Floats{1, 255});
  CHECK(folder.labels("l.ivecs", bytes<std::int32_t>({1, 5, 1, 6})) == Labels{{5, 6}, {}});

  CHECK(folder.table_error("t.fvecs", fvecs({{1, 2}, {3}})) ==
        "bad_file: t.fvecs: row 1 has 1 element but the rows before have 2; every row needs as many");
  CHECK(folder.table_error("t.fvecs", fvecs({{1, 2}, {3, 4}}).substr(0, 22)) ==
        "bad_file: t.fvecs: ends after 22 bytes, within row 1; it is truncated: copy or download it again");
  CHECK(folder.table_error("t.fvecs", fvecs({{1, 2}}) + "ab") ==
        "bad_file: t.fvecs: ends within the length of row 1; it is truncated: copy or download it again");
  CHECK(
      folder.table_error("t.fvecs", bytes<std::int32_t>({0})) ==
      "bad_file: t.fvecs: row 0 announces 0 elements; a row has at least 1: is its name that of its format?");
  CHECK(folder.table_error("t.fvecs", bytes<std::int32_t>({-5, 0})) ==
        "bad_file: t.fvecs: row 0 announces -5 elements; a row has at least 1: is its name that of its "
        "format?");
  CHECK(folder.table_error("t.fvecs", bytes<std::int32_t>({INT32_MAX, 0})) ==
        "bad_file: t.fvecs: its header announces a row of 2147483647 elements, 8589934588 bytes, but 4 bytes "
        "follow; it is truncated or no such file: copy or download it again");
  CHECK(folder.table_error("t.fvecs", fvecs({{1, 2}, {3, std::nanf("")}})) ==
        "bad_file: t.fvecs: row 1, column 1 holds NaN; make every value finite, or leave the row out; "
        "--prepare missing= fills such cells in, drops their rows, or leaves them out");
  CHECK(folder.labels_error("l.ivecs", bytes<std::int32_t>({2, 5, 1})) ==
        "bad_file: l.ivecs: has rows of 2 elements; labels are one a row");
}

namespace {

/// Returns a file of two numbers, then the rows.
string bin(std::uint32_t rows, std::uint32_t cols, const string& data) {
  return bytes<std::uint32_t>({rows, cols}) + data;
}

}  // namespace

TEST_CASE("files: .fbin, .u8bin, .i8bin, .f16bin, .ibin") {
  const Folder folder;
  const Table f = folder.table("t.fbin", bin(2, 3, bytes<float>({1, 2.5f, -0.0f, 4, 5, 6})));
  CHECK(f.rows == 2);
  CHECK(f.cols == 3);
  CHECK(f.values == Floats{1, 2.5f, -0.0f, 4, 5, 6});
  CHECK(std::signbit(f.values[2]));
  CHECK(folder.table("t.u8bin", bin(1, 3, "\1\x80\xff")).values == Floats{1, 128, 255});
  CHECK(folder.table("t.i8bin", bin(3, 1, "\1\x80\xff")).values == Floats{1, -128, -1});
  CHECK(folder.table("t.f16bin", bin(1, 2, bytes<std::uint16_t>({0x3c00, 0x8001}))).values ==
        Floats{1, -0x1p-24f});
  const Table i = folder.table("t.ibin", bin(1, 2, bytes<std::int32_t>({-7, 16777217})));
  CHECK(i.values == Floats{-7, 16777216});
  CHECK(i.rounded.size() == 1);
  CHECK(folder.table("t.u8bin.gz", gzip(bin(1, 2, "\1\2"))).values == Floats{1, 2});
  CHECK(folder.labels("l.ibin", bin(2, 1, bytes<std::int32_t>({5, 6}))) == Labels{{5, 6}, {}});
  CHECK(read_values(folder.write("v.fbin", bin(2, 1, bytes<float>({5, 0.5f})))).values ==
        std::vector<double>{5, 0.5});
  ReadOptions said;
  said.format = "u8bin";
  CHECK(folder.table("base.u8bin.crop_nb_2", bin(2, 1, "\1\2"), said).values == Floats{1, 2});

  const string again = "copy or download it again";
  const std::vector<std::pair<string, string>> cases{
      {"1234567", "ends after 7 bytes, within its header; it is truncated: " + again},
      {bin(2, 3, "12345"),
       "its header announces 2 rows of 3 columns, 6 bytes, but 5 bytes follow; it is truncated or no such "
       "file: " +
           again},
      {bin(2, 3, "1234567"),
       "its header announces 2 rows of 3 columns, 6 bytes, but 7 follow; it is damaged or no such file: " +
           again},
      {bin(4294967295, 4294967295, "1"),
       "its header announces 4294967295 rows of 4294967295 columns, 18446744065119617025 bytes, but 1 byte "
       "follows; it is truncated or no such file: " +
           again},
      {bin(0, 3, ""),
       "holds an array of shape (0, 3): no values; a table has at least one row and one column"},
      {bin(1, 0, ""),
       "holds an array of shape (1, 0): no values; a table has at least one row and one column"},
  };
  for (const auto& [content, message] : cases)
    CHECK(folder.table_error("t.u8bin", content) == "bad_file: t.u8bin: " + message);
  CHECK(folder.table_error("t.fbin", bin(4294967295, 4294967295, "1")) ==
        "bad_file: t.fbin: its header announces 4294967295 rows of 4294967295 columns, more than 2^64 bytes, "
        "but 1 byte follows; it is truncated or no such file: " +
            again);
  CHECK(folder.table_error("t.u8bin.gz", gzip(bin(1, 2, "123"))) ==
        "bad_file: t.u8bin.gz: goes on after byte 10, where its header says it ends; it is damaged or no "
        "such file: " +
            again);
  CHECK(folder.table_error("t.fbin", bin(1, 2, bytes<float>({1, inf}))) ==
        "bad_file: t.fbin: row 0, column 1 holds an infinity; make every value finite, or leave the row out");
  CHECK(folder.labels_error("l.ibin", bin(1, 2, bytes<std::int32_t>({5, 6}))) ==
        "bad_file: l.ibin: holds an array of shape (1, 2); labels are one a row: shape (1,)");
}
