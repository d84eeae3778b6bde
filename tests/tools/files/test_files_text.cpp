// Text files as people have them: other delimiters, decimal commas, headers that look like rows, numbers that
// look like text, columns that number rows. What is guessed is told.
#include <doctest/doctest.h>

#include "common/data_files.hpp"
#include "files/text/layout.hpp"

using namespace kith::tests::data_files;

namespace {

string notes(const Folder& folder, const string& file, const string& content,
             const ReadOptions& options = {}) {
  return told(folder, file, content, options).notes;
}

string separated(const string& file, const string& by, const string& ending, const string& own) {
  return file + ": its cells are separated by " + by + " (a " + ending + " file has " + own +
         "); say --delimiter to decide\n";
}

}  // namespace

TEST_CASE("files: plain tables say nothing") {
  const Folder folder;
  for (const string& text :
       {"1,2\n3,4\n"s, "a,b\n1,2\n3,4\n"s, "5.1,3.5,setosa\n4.9,3,setosa\n6,2,other\n"s, "1,2,3\n4,5,6\n"s,
        "1,2,3\n1,1,1\n9,9,9\n"s, "0,1,2,3,4\n5,6,7,8,9\n10,11,12,13,14\n"s, "a,b\nx;y,1\nz;w,2\n"s,
        "a,\"b;c\",d\n1,2,3\n"s, "red,S\nred,L\nblue,S\n"s, "a\tb,c\n1,2\n"s,
        "name,v\nNew York,1\nNew York,2\n"s, "id,v\n7,1\n7,2\n9,3\n"s, "x\n0\n1\n2\n3\n"s,
        "2024,1\n2025,2\n2026,3\n"s})
    CHECK_MESSAGE(notes(folder, "t.csv", text).empty(), text);
  CHECK(notes(folder, "t.tsv", "a\tb\n1,2\t3\n4,5\t6\n", with_header(Header::yes)) ==
        "t.tsv: reads \"1,2\" as a number with a decimal comma; say --decimal to decide\n");
  CHECK(notes(folder, "t.txt", "1 2\n3\t4\n").empty());
  CHECK(notes(folder, "t.txt", "a b\n1 2\n").empty());
}

TEST_CASE("files: other delimiters are found from several lines, quotes respected, and told") {
  const Folder folder;
  const Floats expected{1, 2, 3, 4, 5, 6};
  const auto check = [&](const string& file, const string& text, const string& by, const string& own) {
    CAPTURE(text);
    const Told read = told(folder, file, text);
    CHECK(read.table.values == expected);
    CHECK(read.notes == separated(file, by, file.substr(1), own));
  };
  for (const string& header : {""s, "a;b\n"s}) check("t.csv", header + "1;2\n3;4\n5;6\n", "\";\"", "\",\"");
  check("t.csv", "a\tb\n1\t2\n3\t4\n5\t6\n", "tabs", "\",\"");
  check("t.csv", "1|2\n3|4\n5|6\n", "\"|\"", "\",\"");
  check("t.csv", "a b\n1  2\n3 4\n5 6\n", "spaces", "\",\"");
  check("t.data", "1 2 3\n4 5 6\n", "spaces", "\",\"");
  check("t.tsv", "a,b\n1,2\n3,4\n5,6\n", "\",\"", "tabs");
  check("t.txt", "1, 2, 3\n4, 5, 6\n", "\",\"", "spaces");
  check("t.txt", "a;b\n1;2\n3;4\n5;6\n", "\";\"", "spaces");
  // A first line with commas in it, a quoted cell with the other sign, a line too few: several lines decide.
  CHECK(told(folder, "t.csv", "length, cm;width\n1;2\n3;4\n").table.column_names ==
        Strings{"length, cm", "width"});
  CHECK(told(folder, "t.csv", "a;b\n\"x;y,z\";1\n\"x\";2\n").table.categories[0].names ==
        Strings{"x", "x;y,z"});
  CHECK(folder.table_error("t.csv", "1;2\n3;4\n5\n6;7\n")
            .starts_with("bad_file: t.csv:1: column 1 holds \"1;2\"") == false);
  CHECK(folder.table_error("t.csv", "1;2;3\n3;4\n5;6;7\n") ==
        "bad_file: t.csv:2: 2 cells but the rows before have 3; every row needs as many cells");
  // Towns of two words between tabs.
  const Told towns = told(folder, "t.txt", "New York\t5\nLos Angeles\t6\nNew York\t7\n");
  CHECK(towns.table.values == Floats{1, 5, 0, 6, 1, 7});
  CHECK(towns.notes == separated("t.txt", "tabs", ".txt", "spaces"));
  // As ambiguous as can be.
  CHECK(folder.table_error("t.csv", "x,y;z\nu,v;w\nx,v;z\n") ==
        "bad_file: t.csv: its cells may be separated by \",\" (2 cells a line) or by \";\" (2 cells a line); "
        "say which by --delimiter");
  ReadOptions options;
  options.delimiter = ';';
  CHECK(folder.table("t.csv", "x,y;z\nu,v;w\nx,v;z\n", options).categories[0].names ==
        Strings{"u,v", "x,v", "x,y"});
  CHECK(notes(folder, "t.csv", "1;2\n3;4\n", options).empty());
  options.delimiter = ',';
  CHECK(folder.table("t.csv", "1;2\n3;4\n3;4\n", options).cols == 1);
}

TEST_CASE("files: queries are laid out for themselves, but must fit") {
  const Folder folder;
  const Table train = folder.table("train.csv", "x,y;z\nu,v;w\nx,y;w\n", [] {
    ReadOptions options;
    options.delimiter = ';';
    return options;
  }());
  ReadOptions like;
  like.like = &train;
  CHECK(folder.table("q.csv", "u,v;z\n", like).values == Floats{0, 1});  // ambiguous alone
  const Table numbers = folder.table("train.csv", "a,b\n1,2\n3,4\n");
  like.like = &numbers;
  CHECK(folder.table("q.csv", "5;6\n7;8\n", like).values == Floats{5, 6, 7, 8});
  CHECK(
      folder.table_error("q.csv", "5;6;7\n", like) ==
      "invalid_argument: q.csv: has 3 columns but train.csv has 2; queries need the columns of the training "
      "rows; a column with the true answers is named by --label COLUMN (or --target)");
  const Table commas = folder.table("train.csv", "a;b\n1,5;2\n2,25;4\n");
  like.like = &commas;
  CHECK(folder.table("q.csv", "1,250;6\n", like).values == Floats{1.25f, 6});
}

TEST_CASE("files: decimal commas are read where they can be nothing else") {
  const Folder folder;
  const string note = "t.tsv: reads \"1,5\" as a number with a decimal comma; say --decimal to decide\n";
  const Told tabs = told(folder, "t.tsv", "a\tb\n1,5\t2\n-2,25e1\t3\n");
  CHECK(tabs.table.values == Floats{1.5f, 2, -22.5f, 3});
  CHECK(tabs.table.categories.empty());
  CHECK(tabs.notes == note);
  CHECK(told(folder, "t.csv", "1,5;2,5\n3,5;4,5\n").table.values == Floats{1.5f, 2.5f, 3.5f, 4.5f});
  CHECK(told(folder, "t.csv", "a;b;k\n1;2,5;x\n2,5;2;y\n3,5;3;x\n").table.values ==
        Floats{1, 2.5f, 0, 2.5f, 2, 1, 3.5f, 3, 0});
  // A group of thousands, or a decimal? With points beside it: neither.
  CHECK(folder.table_error("t.tsv", "a\tb\n1,500\t2\n2,250\t3\n") ==
        "bad_file: t.tsv:2: column 1 (a) holds \"1,500\", which is not read as a number, and nearly all of "
        "its cells are like that; say --decimal comma if the comma is a decimal sign, or take the separators "
        "of thousands out, or say --categorical 1 if they are names");
  CHECK(folder.table_error("t.tsv", "a\tb\n1,5\t2.5\n2,25\t3\n") ==
        "bad_file: t.tsv:2: column 1 (a) holds \"1,5\", which is not read as a number, and nearly all of its "
        "cells are like that; say --decimal comma if the comma is a decimal sign, or say --categorical 1 if "
        "they are names");
  ReadOptions comma;
  comma.decimal = ',';
  CHECK(folder.table("t.tsv", "a\tb\n1,500\t2\n2,250\t3\n", comma).values == Floats{1.5f, 2, 2.25f, 3});
  CHECK(folder.table_error("t.tsv", "a\n1,5\n2.5\n", comma) ==
        "bad_file: t.tsv:3: column 1 (a) holds \"2.5\" where a number belongs; say --decimal point if the "
        "point is a decimal sign");
  CHECK(folder.table_error("t.tsv", "a\tb\n7\t1\n1,5\t2\n3.5\t3\n") ==
        "bad_file: t.tsv:3: column 1 (a) holds \"1,5\" where a number belongs; say --decimal comma if the "
        "comma is a decimal sign");
  const string values = folder.write("v.csv", "a;b\n0,1;1\n2,5;-3,75\n");
  CHECK(read_values(values).values == std::vector<double>{0.1, 1, 2.5, -3.75});
}

TEST_CASE("files: decorated numbers are refused, unless they are categories on purpose") {
  const Folder folder;
  const auto error = [&](const string& a, const string& b) {
    return folder.table_error("t.csv", "a,b\n" + a + ",1\n" + b + ",2\n" + a + ",3\n");
  };
  const auto message = [](const string& cell, const string& advice) {
    return "bad_file: t.csv:2: column 1 (a) holds \"" + cell +
           "\", which is not read as a number, and nearly all of its cells are like that; " + advice +
           ", or say --categorical 1 if they are names";
  };
  const string thousands = "take the separators of thousands out";
  CHECK(error("$9", "$10") == message("$9", "take the \"$\" off"));
  CHECK(error("-$9.5", "$10") == message("-$9.5", "take the \"$\" off"));
  CHECK(error("10%", "9 %") == message("10%", "take the \"%\" off"));
  CHECK(error("€5", "€6") == message("€5", "take the \"€\" off"));
  CHECK(error("5 EUR", "6 EUR") == message("5 EUR", "take the \"EUR\" off"));
  CHECK(error("(5)", "(6)") == message("(5)", "take the \"()\" off"));
  CHECK(error("\"1,234.5\"", "\"2,000.0\"") == message("1,234.5", thousands));
  CHECK(error("1 234", "12 345") == message("1 234", thousands));
  CHECK(error("1.234.567", "2.000.000") == message("1.234.567", thousands));
  CHECK(error("1'234", "?") == message("1'234", thousands));
  ReadOptions categorical;
  categorical.categorical = {"a"};
  CHECK(folder.table("t.csv", "a,b\n$9,1\n$10,2\n", categorical).categories[0].names == Strings{"$10", "$9"});
  // Texts that begin or end with digits are texts.
  for (const string& text :
       {"row001"s, "A12"s, "1.2.3"s, "10-20"s, ">50K"s, "12:30"s, "0x1F"s, "5+"s, "T-800"s})
    CHECK_MESSAGE(folder.table("t.csv", "a,b\n" + text + ",1\nx,2\n" + text + ",3\n").categories.size() == 1,
                  text);
  CHECK(notes(folder, "t.csv", "a,b\n5 kg,1\n12 kg,2\n5 kg,3\n") ==
        "t.csv: column 1 (a) holds numbers with \"kg\", as \"5 kg\", which are read as texts in alphabetical "
        "order; take \"kg\" off them\n");
  CHECK(
      notes(folder, "t.csv", "a,b\n1.2.2024,1\n11.3.2024,2\n1.2.2024,3\n") ==
      "t.csv: column 1 (a) holds dates, as \"1.2.2024\", which are read as texts in alphabetical order; make "
      "them numbers\n");
  // In a column of numbers the message says so, too.
  CHECK(folder.table_error("t.csv", "1,2\n3,4%\n") ==
        "bad_file: t.csv:2: column 2 holds \"4%\" where a number belongs; take the \"%\" off");
}

TEST_CASE("files: headers over texts and headers of numbers") {
  const Folder folder;
  const string yes = "t.csv: takes its first line as a header, ",
               no = "t.csv: takes its first line as a row, ";
  const Told texts = told(folder, "t.csv", "color,size,kind\nred,S,a\nblue,L,b\nred,L,a\ngreen,S,b\n");
  CHECK(texts.table.header);
  CHECK(texts.table.rows == 4);
  CHECK(texts.notes == yes + "for none of its texts occurs below; say --header no if it is a row\n");
  const Told unsure = told(folder, "t.csv", "a,b\nc,d\n");
  CHECK(unsure.table.rows == 2);
  CHECK(unsure.notes == no + "though none of its texts occurs below; say --header yes if they are names\n");
  CHECK(notes(folder, "t.csv", "a,b\nc,d\n", with_header(Header::no)).empty());
  const Told row = told(folder, "t.csv", "red,S\nblue,L\nred,L\ngreen,S\n");
  CHECK(row.table.rows == 4);
  CHECK(row.notes.empty());

  const Told asked = told(folder, "t.csv", "size,kind\nL,a\nS,b\n", label_column("kind"));
  CHECK(asked.table.labels.names == Strings{"a", "b"});
  CHECK(asked.notes == yes + "for it holds \"kind\"; say --header no if it is a row\n");
  CHECK(folder.table_error("t.csv", "x,species\n", label_column("species")) ==
        "bad_file: t.csv: holds a header and no rows; a file of data has at least one row");
  CHECK(
      folder.table_error("t.csv", "x,species\n") ==
      "bad_file: t.csv: holds one line of names, such as \"x\", and no rows; say --header no if that line is "
      "a row");
  CHECK(folder.table("t.csv", "x,species\n", with_header(Header::no)).rows == 1);
  CHECK(
      folder.table_error("t.csv", "1,2\n3,4\n", label_column("kind")) ==
      "invalid_argument: t.csv: has no column \"kind\"; it has columns 1 to 2 and no header, for its line 1 "
      "begins with \"1\"; say --header yes if that is a name");

  const Told years = told(folder, "t.csv", "2019,2020,2021\n1,2,0\n3,4,1\n2,2,0\n");
  CHECK(years.table.column_names == Strings{"2019", "2020", "2021"});
  CHECK(years.notes == yes + "for its numbers 2019 to 2021 count columns; say --header no if it is a row\n");
  const Told positions = told(folder, "t.csv", "0,1,2,3,4\n5,3,1,0,x\n4,3,1,0,y\n5,3,1,1,x\n");
  CHECK(positions.table.rows == 3);
  CHECK(positions.notes == yes + "for its numbers 0 to 4 count columns; say --header no if it is a row\n");
  const Told numbers = told(folder, "t.csv", "10,11,12\n1,2,0\n3,4,1\n2,2,0\n");
  CHECK(numbers.table.rows == 4);
  CHECK(numbers.notes == no + "though its numbers 10 to 12 ascend and those below are others; say --header "
                              "yes if they are names\n");
  // Labels in a file of their own.
  LabelOptions labels;
  string said;
  labels.note = [&](const string& text) { said = text.substr(text.find("l.csv")); };
  CHECK(folder
            .labels(
                "l.csv",
                "kind\n" +
                    [] {
                      string text;
                      for (int i = 0; i < 20; ++i) text += i % 2 ? "cat\n" : "dog\n";
                      return text;
                    }(),
                labels)
            .code.size() == 20);
  CHECK(said ==
        "l.csv: takes its first line as a header, for its text does not occur below; say --header no if "
        "it is a row");
}

TEST_CASE("files: columns that number the rows are told") {
  const Folder folder;
  const string pandas = ",a,b,kind\n0,5,2,x\n1,3,4,y\n2,5,1,x\n";
  const Told index = told(folder, "t.csv", pandas, label_column("kind"));
  CHECK(index.table.cols == 3);  // told, not left out
  CHECK(index.notes ==
        "t.csv: column 1 has no name and counts the rows, yet counts as a feature; --drop 1 leaves it out\n");
  ReadOptions chosen = label_column("kind");
  chosen.features_chosen = true;
  CHECK(notes(folder, "t.csv", pandas, chosen).empty());
  CHECK(
      notes(folder, "t.csv", ",a,b\n17,5,2\n4,3,4\n9,5,1\n") ==
      "t.csv: column 1 has no name and numbers the rows, yet counts as a feature; --drop 1 leaves it out\n");
  CHECK(folder.table("t.csv", ",color\n0,red\n1,blue\n").header);
  CHECK(notes(folder, "t.csv", "a,PassengerId,b\n1,892,4\n2,893,4\n1,895,3\n") ==
        "t.csv: column 2 (PassengerId) numbers the rows, yet counts as a feature; --drop 2 leaves it out\n");
  CHECK(notes(folder, "t.csv", "id,a\nrow001,1\nrow002,2\nrow003,1\n") ==
        "t.csv: column 1 (id) holds another text in each row, as \"row001\", yet counts as a feature; "
        "--drop 1 leaves it out\n");
  CHECK(notes(folder, "t.csv", "a,day\n1,2024-01-01\n2,2024-01-02\n1,2024-01-03\n") ==
        "t.csv: column 2 (day) holds another text in each row, as \"2024-01-01\", yet counts as a feature; "
        "--drop 2 leaves it out\n");
  ReadOptions categorical;
  categorical.categorical = {"id"};
  CHECK(notes(folder, "t.csv", "id,a\nrow001,1\nrow002,2\nrow003,1\n", categorical).empty());
  string glass;
  for (int i = 1; i <= 30; ++i) glass += std::to_string(i) + "," + std::to_string(i * i % 7) + "\n";
  CHECK(notes(folder, "t.data", glass) ==
        "t.data: column 1 counts the rows, yet counts as a feature; --drop 1 leaves it out\n");
  // Queries are not told again.
  ReadOptions like;
  like.like = &index.table;
  CHECK(notes(folder, "t.csv", ",a,b\n0,5,2\n1,3,4\n2,5,1\n", like).empty());
}

TEST_CASE("files: labels with zeros in front are numbers, which is told") {
  const Folder folder;
  const Told read = told(folder, "t.csv", "a,k\n1,7\n2,007\n3,000\n", label_column("k"));
  CHECK(read.table.labels == Labels{{7, 7, 0}, {}});
  CHECK(read.notes ==
        "t.csv: column 2 (k): labels such as \"007\" are read as numbers, so that is 7; --labels-are text "
        "keeps their zeros\n");
  CHECK(notes(folder, "t.csv", "a,k\n1,0\n2,0.0\n3,10\n", label_column("k")).empty());
  LabelOptions options;
  string said;
  options.note = [&](const string& text) { said += text.substr(text.find("l.txt")) + "\n"; };
  CHECK(folder.labels("l.txt", "00\n1\n", options).code == Integers{0, 1});
  CHECK(said ==
        "l.txt: labels such as \"00\" are read as numbers, so that is 0; --labels-are text keeps their "
        "zeros\n");
}

TEST_CASE("files: comments at the top, and line ends of old Macintoshes") {
  const Folder folder;
  const Told comments = told(folder, "t.csv", "# made by \"me\n# a,b\n1,2\n3,4\n");
  CHECK(comments.table.column_names == Strings{"a", "b"});
  CHECK(comments.table.values == Floats{1, 2, 3, 4});
  CHECK(comments.notes ==
        "t.csv: leaves out 2 lines at its top that begin with \"#\" and takes the names of columns from "
        "there\n");
  const Told plain = told(folder, "t.csv", "# made by me\na,b\n1,2\n");
  CHECK(plain.table.column_names == Strings{"a", "b"});
  CHECK(plain.notes == "t.csv: leaves out 1 line at its top that begins with \"#\"\n");
  CHECK(folder.table("t.txt", "# x y\n1 2\n3 4\n").column_names == Strings{"x", "y"});
  CHECK(folder.table("t.txt", "# x y\n1 2\n3 4\n", with_header(Header::no)).values == Floats{1, 2, 3, 4});
  CHECK(folder.table("t.csv", "#1,5\n#2,6\n").rows == 2);  // no comments: there is nothing else
  CHECK(folder.table("t.csv", "#1,5\nx,6\n").rows == 2);   // a row
  CHECK(folder.table_error("t.csv", "1,2\n# a comment\n3,4\n") ==
        "bad_file: t.csv:2: 1 cell but the rows before have 2; take comments out of the file");
  const Told old = told(folder, "t.csv", "a,b\r1,2\r3,4\r");
  CHECK(old.table.values == Floats{1, 2, 3, 4});
  CHECK(old.notes.empty());
  CHECK(
      folder.table_error("t.csv", "a,b\r1,2\r3,x") ==
      "bad_file: t.csv:3: column 2 (b) holds \"x\" where a number belongs; correct it or leave the row out");
}

TEST_CASE("files: delimiters and decimal signs by name") {
  CHECK(delimiter_named("tab") == '\t');
  CHECK(delimiter_named(";") == ';');
  for (const char* none : {"", "ab", "5", "\"", ".", "x"})
    CHECK_THROWS_AS(delimiter_named(none), kith::Error);
  CHECK_THROWS_AS(decimal_named(";"), kith::Error);
}
