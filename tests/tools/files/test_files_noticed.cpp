// Text files that are not what they seem: numbers, days and times within text, columns that are called by
// numbers, cells that are missing between tabs. A wrong answer is refused or told.
#include <doctest/doctest.h>

#include "common/data_files.hpp"
#include "files/columns/dates.hpp"

using namespace kith::tests::data_files;

namespace {

string repeated(const string& text, int times) {
  string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("files: numbers of India, of typesetters and of Fortran are refused with what they are") {
  const Folder folder;
  const auto refused = [&](const string& a, const string& b, const string& advice) {
    const string cell = a[0] == '"' ? a.substr(1, a.size() - 2) : a;
    CHECK(folder.table_error("t.csv", "a,b\n" + a + ",1\n" + b + ",2\n" + a + ",3\n") ==
          "bad_file: t.csv:2: column 1 (a) holds \"" + cell +
              "\", which is not read as a number, and nearly all of its cells are like that; " + advice +
              ", or say --categorical 1 if they are names");
  };
  refused("\"12,34,567\"", "\"1,23,456.5\"", "take the separators of thousands out");
  refused(
      "\xE2\x88\x92"
      "5",
      "\xE2\x88\x92"
      "12.5",
      "its sign is U+2212: write the minus of the keyboard");
  refused("1.5D3", "2d-05", "write E in place of D");
  CHECK(folder.table("t.csv", "a,b\n\"1,2,3\",1\nx,2\n\"1,2,3\",2\n").categories.size() == 1);
  CHECK(folder.table("t.csv", "a,b\n4dr,1\n2dr,2\n4dr,2\n").categories.size() == 1);
}

TEST_CASE("files: days and times, in digits and in words") {
  for (const char* day : {"2024-01-31", "31.1.2024", "1/31/24", "2024-01-31T10:00:00Z", "2024-01", "1/2024",
                          "31-Jan-24", "Jan 31, 2024", "MARCH 2024", "3 sep 2024"})
    CHECK_MESSAGE(kith::files::looks_like_date(day), day);
  for (const char* other : {"", "-", "1/2", "2024-13", "12-2024-1", "row 3", "may", "1.2", "Jane 5", "1-2-3",
                            "2024-01-31-5", "5-10", "Jan Feb"})
    CHECK_MESSAGE(!kith::files::looks_like_date(other), other);
  for (const char* time : {"9:05", "12:30:15", "123:00", "0:00:01.25"})
    CHECK_MESSAGE(kith::files::looks_like_time(time), time);
  for (const char* other : {"", ":", "9:5", "9:", "a:05", "1:2:3:4", "9.05", "9:05.", "1234:05"})
    CHECK_MESSAGE(!kith::files::looks_like_time(other), other);
  const Folder folder;
  const string as_texts = ", which are read as texts in alphabetical order; make them numbers\n";
  CHECK(told(folder, "t.csv", "a,b\n31-Jan-24,1\n1-Feb-24,2\n31-Jan-24,3\n").notes ==
        "t.csv: column 1 (a) holds dates, as \"31-Jan-24\"" + as_texts);
  CHECK(told(folder, "t.csv", "a,b\n9:05,1\n10:00,2\n9:05,3\n").notes ==
        "t.csv: column 1 (a) holds times, as \"9:05\"" + as_texts);
}

TEST_CASE("files: texts whose numbers have another order are told") {
  const Folder folder;
  const auto notes = [&](const string& a, const string& b, const string& c) {
    return told(folder, "t.csv", "v,a\n1," + a + "\n2," + b + "\n3," + c + "\n4," + a + "\n").notes;
  };
  CHECK(notes("1-5", "6-10", "11-15") ==
        "t.csv: column 2 (a) holds texts with numbers in them, which are in alphabetical order, \"11-15\" "
        "before \"6-10\"; make them numbers, or say --categorical 2 if their order is of no meaning\n");
  CHECK(notes("#5", "#10", "#2") != "");
  CHECK(notes("=5", "=10", "=7") != "");
  for (const auto& texts : std::vector<std::array<string, 3>>{{"1-5", "5-9", "6-8"},
                                                              {"Q1", "Q2", "Q3"},
                                                              {"v1.25", "v1.3", "v2"},
                                                              {"A12", "B2", "C1"},
                                                              {"low", "high", "medium"}})
    CHECK_MESSAGE(notes(texts[0], texts[1], texts[2]) == "", texts[0]);
  ReadOptions categorical;
  categorical.categorical = {"a"};
  CHECK(told(folder, "t.csv", "v,a\n1,#5\n2,#10\n3,#5\n", categorical).notes == "");
}

TEST_CASE("files: columns that are called by numbers, and one by a name") {
  const Folder folder;
  const string yes = "t.csv: takes its first line as a header, ",
               no = "t.csv: takes its first line as a row, ", say_no = "; say --header no if it is a row\n",
               say_yes = "; say --header yes if they are names\n";
  // pandas: DataFrame(values), and a column of names beside it
  const Told frame =
      told(folder, "t.csv", "0,1,2,3,species\n" + repeated("5.1,3.5,1.4,0.2,a\n4,3,2,1,b\n", 9));
  CHECK(frame.table.rows == 18);
  CHECK(frame.table.column_names == Strings{"0", "1", "2", "3", "species"});
  CHECK(frame.notes == yes + "for its texts do not occur below, and its numbers are others" + say_no);
  CHECK(told(folder, "t.csv", "2010,2020,kind\n" + repeated("5,3,a\n4,2,b\n", 9)).table.rows == 18);
  const Told unsure = told(folder, "t.csv", "10,20,kind\n5,3,a\n4,2,a\n");
  CHECK(unsure.table.rows == 3);
  CHECK(unsure.notes == no + "though its texts do not occur below, and its numbers are others" + say_yes);
  CHECK(told(folder, "t.csv", "5,3,c\n" + repeated("5,3,a\n4,2,b\n", 9)).notes == "");
  // --proba of kith, DataFrame(values)
  const Told shares = told(folder, "t.csv", "0,1,2\n" + repeated("0.5,0.5,0\n0,0.25,0.75\n", 9));
  CHECK(shares.table.rows == 18);
  CHECK(shares.notes == yes + "for its numbers 0 to 2 count columns" + say_no);
  const Told few = told(folder, "t.csv", "0,1,2\n0.5,0.5,0\n0,0.25,0.75\n1,0,0\n");
  CHECK(few.table.rows == 4);
  CHECK(few.notes == no + "though its numbers 0 to 2 ascend and those below are others" + say_yes);
  // years, wavelengths
  for (const char* years : {"2010,2020,2030\n", "2021,2020,2019\n"})
    CHECK(told(folder, "t.csv", years + repeated("1,2,0\n3,4,1\n", 3))
              .notes.starts_with(yes + "for its numbers 20"));
  const Told far = told(folder, "t.csv", "400.5,410,30\n0.1,0.2,1\n0.3,0.1,0\n0.2,0.2,1\n");
  CHECK(far.table.rows == 4);
  CHECK(far.notes == no + "though its numbers 400.5 to 30 are far from those below" + say_yes);
  CHECK(told(folder, "t.csv", "9,1\n1,2\n2,3\n3,4\n4,5\n").notes == "");
}

TEST_CASE("files: a cell that is missing between tabs, and tabs that align") {
  const Folder folder;
  CHECK(folder.table_error("t.txt", "1\t\t3\n\t2\t4\n1\t\t7\n") ==
        "bad_file: t.txt:2: column 1 is empty; every cell needs a value: fill it in or leave the row out; "
        "--missing fills such cells in, or drops their rows");
  ReadOptions missing;
  missing.missing = true;
  const Told read = told(folder, "t.txt", "1\t\t3\n\t2\t4\n1\t\t7\n", missing);
  CHECK(read.table.cols == 3);
  CHECK(read.notes ==
        "t.txt: its cells are separated by tabs (a .txt file has spaces); say --delimiter to decide\n");
  const Told aligned = told(folder, "t.txt", "1\t\t3\n2\t\t4\n");
  CHECK(aligned.table.values == Floats{1, 3, 2, 4});
  CHECK(aligned.notes == "");
}

TEST_CASE("files: a first line for Excel says what separates cells") {
  const Folder folder;
  for (const char* line : {"sep=;\n", "\"sep=;\"\r\n", "\xEF\xBB\xBFsep=;\n"}) {
    const Told read = told(folder, "t.csv", line + "a;b\n1;2\n3;4\n"s);
    CHECK(read.table.column_names == Strings{"a", "b"});
    CHECK(read.table.values == Floats{1, 2, 3, 4});
    CHECK(read.notes == "t.csv: leaves out its first line, \"sep=;\"\n");
  }
  const Told fed = told(folder, "t.csv", "sep=\f\n1\f2\n3\f4\n");
  CHECK(fed.notes == "t.csv: leaves out its first line, \"sep=\\x0c\"\n");
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
          "1700000000, "
          "1.5 off; rows 0 and 1, which differ, become equal; --drop leaves out a column that only "
          "numbers the rows");
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
      "rows; column 1 has no name and may be the index of pandas: leave it out, as to_csv(index=False) "
      "does");
}
