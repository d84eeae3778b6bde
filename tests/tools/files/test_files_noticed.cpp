// Tests text files that are not what they seem: missing cells between tabs, lost digits, classes whose names
// usually mean a missing value. Each is refused, or a note tells the user.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: a cell that is missing between tabs") {
  const Folder folder;
  ReadOptions tabs;
  tabs.separator = '\t';
  CHECK(folder.table_error("t.txt", "1\t\t3\n\t2\t4\n1\t\t7\n", tabs) ==
        "bad_file: t.txt:2: column 1 is empty; every cell needs a value: fill it in or leave the row out; "
        "--prepare missing= fills such cells in, drops their rows, or leaves them out");
  tabs.missing = true;
  CHECK(folder.table("t.txt", "1\t\t3\n\t2\t4\n1\t\t7\n", tabs).cols == 3);
}

TEST_CASE("files: a first line for Excel says what separates cells") {
  const Folder folder;
  for (const char* line : {"sep=;\n", "\"sep=;\"\r\n", "\xEF\xBB\xBFsep=;\n"}) {
    const Told read = told(folder, "t.csv", line + "a;b\n1;2\n3;4\n"s);
    CHECK(read.table.column_names == Strings{"a", "b"});
    CHECK(read.table.values == Floats{1, 2, 3, 4});
    CHECK(read.notes.empty());
  }
  CHECK(folder.table_error("t.csv", "sep=,\n1,2\n3,x\n") ==
        "bad_file: t.csv:3: column 2 holds \"x\" where a number belongs; correct it or leave the row out");
}

TEST_CASE("files: fractions whose whole part is lost are told where that matters") {
  const Folder folder;
  CHECK(describe_lost_digits(told(folder, "t.csv", "1700000000.5,1\n1700000001.5,2\n16777216.25,3\n").table)
            .empty());
  CHECK(
      describe_lost_digits(told(folder, "t.csv", "1700000000.5,1\n1700000001.5,1\n16777216.25,3\n").table) ==
      folder / "t.csv" +
          ": column 1: float32 keeps its values to 128, and they span 1683222785: 1700000001.5 becomes "
          "1700000000, 1.5 off; rows 0 and 1, which differ, become equal; --drop leaves out a column that "
          "only numbers the rows");
  CHECK(describe_lost_digits(folder.table("t.csv", "0.1,1\n1e30,2\n")).empty());
}

TEST_CASE("files: a class that is called as a missing value is told") {
  const Folder folder;
  ReadOptions options;
  options.label_column = "k";
  CHECK(told(folder, "t.csv", "a,k\n1,x\n2,NA\n3,y\n", options).notes ==
        "t.csv: column 2 (k): the label \"NA\" is taken as a class; fill it in or leave its rows out if it "
        "stands for none\n");
  ReadOptions missing;
  missing.missing = true;
  CHECK(folder.table("t.csv", "a,b\n1,x\n#N/A,y\n<NA>,x\n", missing).values[2] !=
        folder.table("t.csv", "a,b\n1,x\n2,y\n3,x\n").values[2]);
}

TEST_CASE("files: queries with an index of pandas that the training rows lack") {
  const Folder folder;
  const Table train = folder.table("train.csv", "a,b\n1,2\n3,4\n");
  ReadOptions like;
  like.like = &train;
  CHECK(
      folder.table_error("q.csv", ",a,b\n0,5,6\n1,7,8\n", like) ==
      "invalid_argument: q.csv: has 3 columns but train.csv has 2; queries need the columns of the training "
      "rows; column 1 has no name and may be the index of pandas: leave it out, as to_csv(index=False) does");
}
