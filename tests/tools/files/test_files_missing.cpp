// Tests files with missing values, files that accompany the rows of another file, and .svm files whose
// indices start at 0 or 1.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

namespace {

ReadOptions with_missing() {
  ReadOptions options;
  options.missing = true;
  return options;
}

/// Returns values with -99 in place of NaN.
Floats marked(Floats values) {
  for (float& value : values)
    if (std::isnan(value)) value = -99;
  return values;
}

/// Returns `options` with a callback that appends each note to `told` as a line without the folder.
template <class Options>
Options telling(string& told, Options options = {}) {
  options.note = [&told](const string& text) { told += text.substr(text.rfind('/') + 1) + "\n"; };
  return options;
}

}  // namespace

TEST_CASE("files: missing values in text become NaN where that is asked for") {
  const Folder folder;
  Table table = folder.table(
      "t.csv", "a,b,kind\n,x,1\n2,NA,1\nNaN,y,1\n?,-,1\n5,null,1\nN/A,None,1\nnan,NULL,1\n", with_missing());
  CHECK(marked(table.values) ==
        Floats{-99, 0, 1, 2, -99, 1, -99, 1, 1, -99, -99, 1, 5, -99, 1, -99, -99, 1, -99, -99, 1});
  CHECK(table.categories == std::vector<Categories>{{1, {"x", "y"}}});
  ReadOptions like = with_missing();
  like.like = &table;
  CHECK(marked(folder.table("q.csv", "?,y,3\n4,,NA\n", like).values) == Floats{-99, 1, 3, 4, -99, -99});
  CHECK(folder.table_error("t.csv", "a,b\n1,\n2,NA\n", with_missing()) ==
        "bad_file: t.csv: column 2 (b) holds no value in any row; take the column out of the file");
  ReadOptions categorical = with_missing();
  categorical.categorical = {"b"};
  CHECK(folder.table_error("t.csv", "a,b\n1,\n2,NA\n", categorical) ==
        "bad_file: t.csv: column 2 (b) holds no value in any row; take the column out of the file");
  CHECK(folder.table_error("t.csv", "a,b\n1,2\n2,inf\n", with_missing()) ==
        "bad_file: t.csv:3: column 2 (b) holds an infinity; make every value finite, or leave the row out");
  string told;
  folder.table("t.csv", "a,b\n1,x\n2,?\n3,y\n4,x\n", telling<ReadOptions>(told));
  CHECK(told ==
        "t.csv: column 2 (b) holds \"?\", which is taken as a category; --prepare missing= takes it as a "
        "missing value\n");
}

TEST_CASE("files: missing values in binary files are NaN") {
  const Folder folder;
  const float nan = std::nanf("");
  CHECK(marked(folder.table("t.npy", npy("<f4", "(2, 2)", bytes<float>({1, nan, 3, 4})), with_missing())
                   .values) == Floats{1, -99, 3, 4});
  CHECK(marked(folder.table("t.npy", npy("<f8", "(2, 1)", bytes<double>({std::nan(""), 4})), with_missing())
                   .values) == Floats{-99, 4});
  CHECK(marked(folder.table("t.fvecs", fvecs({{1, nan}}), with_missing()).values) == Floats{1, -99});
  CHECK(folder.table_error("t.npy", npy("<f4", "(1,)", bytes<float>({inf})), with_missing()) ==
        "bad_file: t.npy: row 0, column 0 holds an infinity; make every value finite, or leave the row out");
  CHECK(marked(folder.table("t.svm", "1 1:nan 2:3\n", with_missing()).values) == Floats{-99, 3});
}

TEST_CASE("files: labels with a header, an index, or several columns") {
  const Folder folder;
  string told;
  LabelOptions options = telling<LabelOptions>(told);
  options.rows = 2;
  const auto labels = [&](const string& content) {
    told.clear();
    return folder.labels("l.csv", content, options);
  };
  const Labels cats{{0, 1}, {"cat", "dog"}};
  CHECK(labels("species\ncat\ndog\n") == cats);
  CHECK(told ==
        "l.csv: the first line (species) is taken as a header, since 2 lines are wanted and so many follow; "
        "--csv header= says otherwise\n");
  CHECK(labels("cat\ndog\n") == cats);
  CHECK(told.empty());
  CHECK(labels("0\ncat\ndog\n") == cats);
  CHECK(labels("0\n1\n-1\n") == Labels{{1, 0}, {"-1", "1"}});
  CHECK(labels("7\n1\n1\n") == Labels{{7, 1, 1}, {}});  // the caller reports that there are too many
  CHECK(labels("kind\n3\n4\n") == Labels{{3, 4}, {}});
  CHECK(told.empty());
  CHECK(labels(",species\n97,cat\n3,dog\n") == cats);
  CHECK(told == "l.csv: column 1 has no name; it is taken as the index of pandas and left out\n");
  CHECK(labels(",0\n97,4\n3,5\n") == Labels{{4, 5}, {}});
  CHECK(labels("Unnamed: 0,n\n97,4\n3,5\n") == Labels{{4, 5}, {}});
  CHECK(folder.labels_error("l.csv", "id,kind\na,cat\nb,dog\n", options) ==
        "invalid_argument: l.csv: has 2 columns and begins with \"id\", \"kind\"; labels are one a line, or "
        "say which column they are: --label-column");
  CHECK(folder.labels_error("l.csv", "3\ncat\ndog\nowl\n", options) ==
        "bad_file: l.csv:1: column 1 holds the label \"3\", a number, but the labels below are text such as "
        "\"cat\"; labels are all text or all numbers");
  options.column = "kind";
  CHECK(labels("id,kind\na,cat\nb,dog\n") == cats);
  options.column = "2";
  CHECK(labels("id,kind\na,cat\nb,dog\n") == cats);
  options.column = "kind";
  CHECK(folder.labels_error("l.csv", "cat\ndog\n", options) ==
        "invalid_argument: l.csv: has no column \"kind\"; it has column 1 only and no header, for its line 1 "
        "begins with \"cat\"; say --csv header=yes if that is a name");
  options.column_optional = true;
  CHECK(labels("cat\ndog\n") == cats);
}

TEST_CASE("files: values with a header, an index, or columns by name") {
  const Folder folder;
  string told;
  ValueOptions options = telling<ValueOptions>(told);
  options.rows = 2;
  const auto values = [&](const string& content) {
    told.clear();
    return read_values(folder.write("v.csv", content), options).values;
  };
  using Doubles = std::vector<double>;
  CHECK(values("price\n1.5\n2\n") == Doubles{1.5, 2});
  CHECK(told.empty());
  CHECK(values("0\n1.5\n2\n") == Doubles{1.5, 2});
  CHECK(told ==
        "v.csv: the first line (0) is taken as a header, since 2 lines are wanted and so many follow; --csv "
        "header= says otherwise\n");
  CHECK(values("3\n1.5\n2\n") == Doubles{3, 1.5, 2});
  CHECK(values(",price,age\n7,1.5,3\n9,2,4\n") == Doubles{1.5, 3, 2, 4});
  CHECK(told == "v.csv: column 1 has no name; it is taken as the index of pandas and left out\n");
  CHECK(values(",0\n7,1.5\n9,2\n") == Doubles{1.5, 2});
  options.columns = {"age", "1"};
  CHECK(values("price,age\n1.5,3\n2,4\n") == Doubles{3, 1.5, 4, 2});
  CHECK(folder.error([&] {
    read_values(folder.write("v.npy", npy("<f4", "(1,)", bytes<float>({1}))), options);
  }) == "invalid_argument: v.npy: has no column \"age\", being no text; leave that option out");
  CHECK(read_values(folder.write("v.svm", "1.5 1:3\n-2 2:1\n")).values == Doubles{1.5, -2});
}

TEST_CASE("files: .svm from 0 or from 1, labels by name, values to predict") {
  const Folder folder;
  string told;
  const ReadOptions plain = telling<ReadOptions>(told);
  const Table zero = folder.table("z.svm", "1 0:5 2:6\n2 1:7\n", plain);
  CHECK(zero.first_index == 0);
  CHECK(zero.values == Floats{5, 0, 6, 0, 7, 0});
  CHECK(told == "z.svm: the index 0 occurs, so indices begin at 0; --csv base= says otherwise\n");
  told.clear();
  ReadOptions options = plain;
  options.first_index = 0;
  CHECK(folder.table("o.svm", "1 1:5\n", options).values == Floats{0, 5});
  options.first_index = 1;
  CHECK(folder.table_error("z.svm", "1 0:5\n", options) ==
        "bad_file: z.svm:1: has the index 0, but --csv base=1 says that they begin at 1; leave it out, or "
        "say base=0");
  options = plain;
  options.like = &zero;
  CHECK(folder.table("q.svm", "1 1:9\n", options).values == Floats{0, 9, 0});
  const Table one = folder.table("o.svm", "1 1:5 2:6\n", plain);
  options.like = &one;
  CHECK(folder.table_error("z.svm", "1 1:1\n1 0:5\n", options) ==
        "bad_file: z.svm:2: has the index 0, but those of o.svm begin at 1; write both files alike, or read "
        "both with --csv base=0");
  CHECK(folder.table_error("q.svm", "1 3:5\n", options) ==
        "invalid_argument: q.svm:1: has the index 3 but o.svm has 2 columns; queries need the columns of the "
        "training rows: leave higher indices out");
  CHECK(told.empty());

  ReadOptions wide = plain;
  wide.also = read_svm_width(folder.write("q.svm", "1 5:1 7:2\n\n2 1:1\n"));
  CHECK(wide.also.largest == 7);
  CHECK(folder.table("o.svm", "1 1:5 2:6\n", wide).values == Floats{5, 6, 0, 0, 0, 0, 0});
  wide.also.zero = true;
  CHECK(folder.table("o.svm", "1 0:5 1:6\n", wide).values == Floats{5, 6, 0, 0, 0, 0, 0, 0});
  CHECK(folder.table_error("o.svm", "1 1:5\n", wide) ==
        "invalid_argument: o.svm: has no index 0, but the queries have; write both files alike, or say --csv "
        "base=0 if these begin at 0, too");

  CHECK(folder.table_error("o.svm", "1 1:5\n", label_column("kind")) ==
        "invalid_argument: o.svm: has no column \"kind\"; the labels of such a file begin its lines: leave "
        "that option out");
  CHECK(folder.table("o.svm", "3 1:5\n", label_column("label")).labels == Labels{{3}, {}});
  ReadOptions target;
  target.target_columns = {"target"};
  CHECK(folder.table("o.svm", "-3.25 1:5\n4 1:6\n", target).targets == std::vector<double>{-3.25, 4});
  CHECK(folder.table_error("o.svm", "x 1:5\n", target) ==
        "bad_file: o.svm:1: begins with \"x\", which is no number to be predicted; correct it");
}
