// Tests what classification and regression read and write: numbers as float64, several label columns,
// targets, lists of different lengths.
#include "common/data_files.hpp"
#include "files/output.hpp"

using namespace kith::tests::data_files;

namespace {

template <class Write>
string written(const Folder& folder, const string& file, Write&& write) {
  AtomicFile out(folder / file);
  write(out);
  out.commit();
  return folder.read(file);
}

}  // namespace

TEST_CASE("files: values are read as float64, from text and from arrays in either order") {
  const Folder folder;
  const Values text = read_values(folder.write("v.csv", "a,b\n0.1,1e300\n+2,-5e-324\n"));
  CHECK(text.rows == 2);
  CHECK(text.cols == 2);
  CHECK(text.values == std::vector<double>{0.1, 1e300, 2, -5e-324});
  CHECK(text.column_names == Strings{"a", "b"});
  CHECK(read_values(folder.write("w.txt", "7 8 1e-999\n")).values == std::vector<double>{7, 8, 0});
  const std::vector<double> doubles{0.1, 1e300, 3, 4, 5, -6};
  written(folder, "v.npy",
          [&](AtomicFile& out) { write_rows(out, kith::MatrixView<const double>(doubles.data(), 2, 3)); });
  const Values array = read_values(folder / "v.npy");
  CHECK(array.rows == 2);
  CHECK(array.cols == 3);
  CHECK(array.values == doubles);
  string fortran = folder.read("v.npy");
  const std::size_t at = fortran.find("False");
  fortran.replace(at, 5, "True ");
  CHECK(read_values(folder.write("f.npy", fortran)).values == std::vector<double>{0.1, 3, 5, 1e300, 4, -6});
  const string bad = folder.write("bad.csv", "1\ntwo\n");
  CHECK(
      folder.error([&] { read_values(bad); }) ==
      "bad_file: bad.csv:2: column 1 holds \"two\" where a number belongs; correct it or leave the row out");
  const string huge = folder.write("huge.csv", "1\n1e999\n");
  CHECK(folder.error([&] { read_values(huge); }) ==
        "bad_file: huge.csv:2: column 1 holds \"1e999\", beyond the largest float64, 1.7e308; scale the "
        "column down");
  const string vectors = folder.write("v.ivecs", bytes<std::int32_t>({2, 16777217, -1}));
  const Values wide = read_values(vectors);
  CHECK(wide.rows == 1);
  CHECK(wide.values == std::vector<double>{16777217, -1});
}

TEST_CASE("files: a line that pandas begins with nothing, and no other, is a header without rows") {
  const Folder folder;
  const string refused = "bad_file: t.csv: holds a header and no rows; a file of data has at least one row";
  const string file = folder.write("t.csv", ",30\n");
  CHECK(folder.error([&] { read_values(file); }) == refused);
  CHECK(folder.error([&] { read_labels(file); }) == refused);
}

TEST_CASE("files: several label columns and targets are no values, and all present or none") {
  const Folder folder;
  const string text = "x,kind,y,size,price\n1,a,2,7,0.1\n3,b,4,9,1e300\n";
  ReadOptions options = label_column("size");
  options.more_label_columns = {"kind"};
  options.target_columns = {"price"};
  const Table train = folder.table("train.csv", text, options);
  CHECK(train.cols == 2);
  CHECK(train.values == Floats{1, 2, 3, 4});
  CHECK(train.labels == Labels{{7, 9}, {}});
  REQUIRE(train.more_labels.size() == 1);
  CHECK(train.more_labels[0] == Labels{{0, 1}, {"a", "b"}});
  CHECK(train.targets == std::vector<double>{0.1, 1e300});
  CHECK(train.left_out == Integers{1, 3, 4});
  CHECK(train.column_text(1) == "column 3 (y)");
  options.like = &train;
  options.label_optional = true;
  const Table queries = folder.table("q.csv", "x,kind,y,size,price\n5,b,6,7,3\n", options);
  CHECK(queries.values == Floats{5, 6});
  CHECK(queries.more_labels[0].code == Integers{1});
  CHECK(queries.targets == std::vector<double>{3});
  const Table plain = folder.table("p.csv", "x,y\n5,6\n", options);
  CHECK(plain.labels.code.empty());
  CHECK(plain.more_labels.empty());
  CHECK(plain.targets.empty());
  CHECK(folder.table_error("s.csv", "x,kind,y\n5,b,6\n", options) ==
        "invalid_argument: s.csv: has no column \"size\", but others of labels or targets; give all of them "
        "or none");
  CHECK(folder.table("u.csv", "x,kind,y,size,price\n5,c,6,7,3\n", options).more_labels[0].code ==
        Integers{2});
  ReadOptions twice = label_column("kind");
  twice.target_columns = {"2"};
  CHECK(folder.table_error("t.csv", text, twice) ==
        "invalid_argument: t.csv: column 2 (kind) is named twice as label, target or group; name it once");
  ReadOptions all = label_column("x");
  all.target_columns = {"y"};
  CHECK(
      folder.table_error("t.csv", "x,y\n1,2\n", all) ==
      "invalid_argument: t.csv: has columns of labels, targets and groups only; a table needs one column of "
      "values at least");
}

TEST_CASE("files: an unseen category may become one more") {
  const Folder folder;
  const Table train = folder.table("t.csv", "red,1\nblue,2\n");
  ReadOptions options;
  options.like = &train;
  options.unseen_is_zero = options.unseen_is_new = true;
  CHECK(folder.table("q.csv", "red,1\nblack,2\nblue,3\n", options).values == Floats{1, 1, 2, 2, 0, 3});
}

TEST_CASE("files: lists of different lengths, float64 and several labels a row as files") {
  const Folder folder;
  const Integers first{0, 2, 2, 3}, index{5, 1, 7};
  const Floats distance{0.5f, 1, inf};
  const auto lists = [&](const string& file, const auto& all) {
    return written(folder, file,
                   [&](AtomicFile& out) { write_lists(out, first, std::span(all.data(), all.size())); });
  };
  CHECK(lists("i.csv", index) == "5,1\n\n7\n");
  CHECK(lists("i.txt", index) == "5 1\n\n7\n");
  CHECK(lists("i.ivecs", index) == bytes<std::int32_t>({2, 5, 1, 0, 1, 7}));
  CHECK(lists("d.csv", distance) == "0.5,1\n\ninf\n");
  AtomicFile npy(folder / "i.npy");
  CHECK_THROWS_WITH_AS(write_lists(npy, first, std::span<const std::int64_t>(index)),
                       ((folder / "i.npy") +
                        ": rows are of different lengths, which .npy does not hold; write .csv, .tsv or .txt")
                           .c_str(),
                       kith::Error);
  const std::vector<double> values{0.1, 1e300, std::numeric_limits<double>::quiet_NaN(), -0.0};
  CHECK(written(folder, "v.csv", [&](AtomicFile& out) {
          write_rows(out, kith::MatrixView<const double>(values.data(), 2, 2));
        }) == "0.1,1e+300\nnan,-0\n");
  const Integers numbers{7, 9}, codes{1, 0};
  const Strings names{"a", "b, c"};
  const std::array<LabelColumn, 2> both{{{numbers, {}}, {codes, names}}}, plain{{{numbers, {}}, {codes, {}}}};
  CHECK(written(folder, "l.csv", [&](AtomicFile& out) { write_labels(out, both); }) == "7,\"b, c\"\n9,a\n");
  const string array = written(folder, "l.npy", [&](AtomicFile& out) { write_labels(out, plain); });
  CHECK(array.substr(10, 58) == "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), ");
  CHECK(array.substr(128) == bytes<std::int64_t>({7, 1, 9, 0}));
}

TEST_CASE("files: numbers that kith wrote are rows, whatever they are, and names above them are a header") {
  const Folder folder;
  using Doubles = std::vector<double>;
  const auto values = [&](const string& file, const string& content) {
    return read_values(folder.write(file, content)).values;
  };
  CHECK(values("v.txt", "0 1 2\n1 0 2\n2 0 1\n") == Doubles{0, 1, 2, 1, 0, 2, 2, 0, 1});
  CHECK(values("v.csv", "neighbor_1,neighbor_2\n0,1\n1,0\n") == Doubles{0, 1, 1, 0});
}
