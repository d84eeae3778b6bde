// Tests text files as people have them: other separators, decimal commas, headers that may be rows, numbers
// that look like text, columns that number rows. A file that can be read in two ways is refused, and the
// option that the refusal advises reads it.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

namespace {

string notes(const Folder& folder, const string& file, const string& content,
             const ReadOptions& options = {}) {
  return told(folder, file, content, options).notes;
}

ReadOptions separated(char separator, char decimal = '.') {
  ReadOptions options;
  options.separator = separator;
  options.decimal = decimal;
  return options;
}

ReadOptions categorical(const string& column) {
  ReadOptions options;
  options.categorical = {column};
  return options;
}

/// Checks that the file is refused with the advice header=, and that both values of this option read it.
void check_header_refused(const Folder& folder, const string& content, const string& cell,
                          const string& title = "") {
  CAPTURE(content);
  CHECK(folder.table_error("t.csv", content) ==
        "bad_file: t.csv:1: \"" + cell +
            "\" may be the name of a column or a value; say --csv header=yes or header=no" + title);
  for (const Header header : {Header::yes, Header::no}) {
    const string error = folder.table_error("t.csv", content, with_header(header));
    CHECK((error == "no error" || error.find("header=") == string::npos));
  }
}

}  // namespace

TEST_CASE("files: plain tables say nothing") {
  const Folder folder;
  for (const string& text :
       {"1,2\n3,4\n"s, "a,b\n1,2\n3,4\n"s, "5.1,3.5,setosa\n4.9,3,setosa\n6,2,other\n"s, "1,2,3\n4,5,6\n"s,
        "0,1,2,3,4\n5,6,7,8,9\n10,11,12,13,14\n"s, "a,b\nx;y,1\nz;w,2\nx;y,3\n"s, "a,\"b;c\",d\n1,2,3\n"s,
        "a\tb,c\n1,2\n"s, "name,v\nNew York,1\nNew York,2\n"s, "id,v\n7,1\n7,2\n9,3\n"s, "x\n0\n1\n2\n3\n"s,
        "2024,1\n2025,2\n2026,3\n"s, "9,1\n1,2\n2,3\n3,4\n4,5\n"s})
    CHECK_MESSAGE(notes(folder, "t.csv", text).empty(), text);
  CHECK(notes(folder, "t.txt", "1 2\n3\t4\n").empty());
  CHECK(notes(folder, "t.txt", "a b\n1 2\n").empty());
  CHECK(notes(folder, "t.txt", "1\t2\n3\t4\n").empty());
}

TEST_CASE("files: the one sign that cuts every line into as many cells separates them, and another is told") {
  const Folder folder;
  const Floats expected{1, 2, 3, 4, 5, 6};
  const auto check = [&](const string& file, const string& text, const string& by, const string& own) {
    CAPTURE(text);
    const Told read = told(folder, file, text);
    CHECK(read.table.values == expected);
    CHECK(read.notes == file + ": its cells are separated by " + by + ", not by " + own +
                            "; --csv sep=" + own + " says otherwise\n");
  };
  for (const string& header : {""s, "a;b\n"s})
    check("t.csv", header + "1;2\n3;4\n5;6\n", "semicolon", "comma");
  check("t.csv", "a\tb\n1\t2\n3\t4\n5\t6\n", "tab", "comma");
  check("t.csv", "1|2\n3|4\n5|6\n", "pipe", "comma");
  check("t.tsv", "a,b\n1,2\n3,4\n5,6\n", "comma", "tab");
  check("t.txt", "a;b\n1;2\n3;4\n5;6\n", "semicolon", "space");
  // The first line has commas in it, and a quoted cell has the other separator.
  CHECK(told(folder, "t.csv", "length, cm;width\n1;2\n3;4\n").table.column_names ==
        Strings{"length, cm", "width"});
  CHECK(told(folder, "t.csv", "a;b\n\"x;y,z\";1\n\"x\";2\n").table.categories[0].names ==
        Strings{"x", "x;y,z"});
  // Towns of two words stand between tabs.
  const string towns = "New York\t5\nLos Angeles\t6\nNew York\t7\n";
  CHECK(folder.table_error("t.txt", towns) ==
        "bad_file: t.txt: its cells may be separated by space (3 cells a line) or tab (2 cells a line); say "
        "which, as in --csv sep=space");
  CHECK(folder.table("t.txt", towns, separated('\t')).values == Floats{1, 5, 0, 6, 1, 7});
  CHECK(notes(folder, "t.txt", "Rome\t5\nLos Angeles\t6\nRome\t7\n") ==
        "t.txt: its cells are separated by tab, not by space; --csv sep=space says otherwise\n");
  // With the option there is no note, and it decides.
  CHECK(notes(folder, "t.csv", "1;2\n3;4\n", separated(';')).empty());
  CHECK(folder.table_error("t.csv", "1;2\n3;4\n", separated(','))
            .starts_with("bad_file: t.csv:1: column 1 holds \"1;2\", which is not read as a number; say "
                         "--csv sep= if it is several cells"));
  CHECK(folder.table("t.csv", "1 2 3\n4 5 6\n", separated(' ')).values == expected);
}

TEST_CASE("files: what two signs could separate is refused, and so is what none does") {
  const Folder folder;
  const auto refused = [&](const string& file, const string& text, const string& list, const string& first) {
    CHECK(folder.table_error(file, text) == "bad_file: " + file + ": its cells may be separated by " + list +
                                                "; say which, as in --csv sep=" + first);
  };
  refused("t.csv", "x,y;z\nu,v;w\nx,v;z\n", "comma (2 cells a line) or semicolon (2 cells a line)", "comma");
  refused("t.txt", "1, 2, 3\n4, 5, 6\n", "space (3 cells a line) or comma (3 cells a line)", "space");
  refused("t.txt", "1,5 2\n2,5 3\n", "space (2 cells a line) or comma (2 cells a line)", "space");
  refused("t.tsv", "1,5\t2\n2,5\t3\n", "tab (2 cells a line) or comma (2 cells a line)", "tab");
  refused("t.txt", "1\t\t3\n2\t\t4\n", "space (2 cells a line) or tab (3 cells a line)", "space");
  ReadOptions semicolon = separated(';');
  semicolon.header = Header::no;
  CHECK(folder.table("t.csv", "x,y;z\nu,v;w\nx,v;z\n", semicolon).categories[0].names ==
        Strings{"u,v", "x,v", "x,y"});
  CHECK(folder.table("t.txt", "1, 2, 3\n4, 5, 6\n", separated(',')).values == Floats{1, 2, 3, 4, 5, 6});
  CHECK(folder.table("t.txt", "1\t\t3\n2\t\t4\n", separated(' ')).values == Floats{1, 3, 2, 4});
  // A decimal comma separates nothing.
  CHECK(folder.table("t.tsv", "1,5\t2\n2,5\t3\n", separated('\0', ',')).values == Floats{1.5, 2, 2.5, 3});
  CHECK(folder.table("t.csv", "1,5;2\n2,5;3\n", separated('\0', ',')).values == Floats{1.5, 2, 2.5, 3});
  CHECK(folder.table("t.csv", "1,5\n2,5\n", separated('\0', ',')).values == Floats{1.5, 2.5});
  CHECK(folder.table("t.csv", "\"1,5\",2\n\"2,5\",3\n", separated(',', ',')).values ==
        Floats{1.5, 2, 2.5, 3});
  // One line has too few cells, and a file of commas has blanks.
  CHECK(folder.table_error("t.csv", "1;2\n3;4\n5\n6;7\n")
            .starts_with("bad_file: t.csv:1: column 1 holds \"1;2\""));
  CHECK(folder.table_error("t.csv", "1;2;3\n3;4\n5;6;7\n", separated(';')) ==
        "bad_file: t.csv:2: 2 cells but the rows before have 3; every row needs as many cells");
  const string blanks =
      "say --csv sep= if it is several cells, or write it as a plain number, such as -1234.5";
  CHECK(folder.table_error("t.data", "1 2 3\n4 5 6\n") ==
        "bad_file: t.data:1: column 1 holds \"1 2 3\", which is not read as a number; " + blanks +
            ", or say --prepare categorical=1 if it is a name, or --csv header=yes if it is that of the "
            "column");
  CHECK(folder.table_error("t.csv", "a b\n1  2\n3 4\n")
            .starts_with("bad_file: t.csv:2: column 1 (a b) holds \"1  2\", which is not read as a number; " +
                         blanks));
}

TEST_CASE("files: queries are laid out for themselves, but must fit") {
  const Folder folder;
  const Table numbers = folder.table("train.csv", "a,b\n1,2\n3,4\n");
  ReadOptions like;
  like.like = &numbers;
  CHECK(folder.table("q.csv", "5;6\n7;8\n", like).values == Floats{5, 6, 7, 8});
  CHECK(folder.table_error("q.csv", "5;6;7\n", like) ==
        "invalid_argument: q.csv: has 3 columns but train.csv has 2; queries need the columns of the "
        "training rows; a column with the true answers is named by --label COLUMN (or --target)");
  const Table texts = folder.table("train.csv", "c,d\nred,S\nblue,L\nred,L\n", with_header(Header::yes));
  like.like = &texts;
  CHECK(folder.table("q.csv", "c,d\nblue,S\n", like).values == Floats{0, 1});
  CHECK(folder.table("q.csv", "blue,S\nred,L\n", like).rows == 2);
  const Table three = folder.table("train.csv", "a,b,c\n1,2,0\n3,4,1\n");
  like.like = &three;
  CHECK(folder.table("q.csv", "1,2,3\n7,0,1\n", like).rows == 2);
}

TEST_CASE("files: decimal commas are read where that is said, and refused with what to say") {
  const Folder folder;
  const string say = "say --csv decimal=, if the comma is the decimal sign";
  CHECK(folder.table_error("t.tsv", "a\tb\n1,5\t2\n-2,25e1\t3\n") ==
        "bad_file: t.tsv:2: column 1 (a) holds \"1,5\", which is not read as a number; " + say +
            ", or say --prepare categorical=1 if it is a name");
  CHECK(folder.table("t.tsv", "a\tb\n1,5\t2\n-2,25e1\t3\n", separated('\0', ',')).values ==
        Floats{1.5f, 2, -22.5f, 3});
  CHECK(folder.table_error("t.csv", "a;b\n1;2\n1,5;3\n") ==
        "bad_file: t.csv:3: column 1 (a) holds \"1,5\" where a number belongs; " + say);
  CHECK(folder.table_error("t.csv", "a;b\n1,5;2\n1.5;3\n", separated(';', ',')) ==
        "bad_file: t.csv:3: column 1 (a) holds \"1.5\" where a number belongs; say --csv decimal=. if the "
        "point is the decimal sign");
  CHECK(folder
            .table("t.csv", "a;b\n1,5;2\n1.5;3\n",
                   [] {
                     ReadOptions options = categorical("a");
                     options.separator = ';', options.decimal = ',';
                     return options;
                   }())
            .categories.size() == 1);
}

TEST_CASE("files: numbers that look like text are refused with their place and what to do") {
  const Folder folder;
  const auto error = [&](const string& cell) {
    return folder.table_error("t.csv", "a,b\nx,1\n" + cell + ",2\nx,3\n");
  };
  const string plain = "write it as a plain number, such as -1234.5";
  for (const string& cell : {"$9"s,
                             "-$9.5"s,
                             "10%"s,
                             "9 %"s,
                             "\xE2\x82\xAC"
                             "5"s,
                             "\xC2\xA3 5"s,
                             "5 EUR"s,
                             "(5)"s,
                             "1 234"s,
                             "1'234"s,
                             "\xE2\x88\x92"
                             "5"s,
                             "1.5D3"s,
                             "0x1F"s,
                             "0o17"s,
                             "0b101"s,
                             "3k"s,
                             "1.5Gi"s,
                             "5 kg"s,
                             "4dr"s,
                             "1.234.567"s,
                             "12:30"s,
                             "9:05"s,
                             "2024-01-31"s,
                             "31.1.2024"s,
                             "1/31/24"s,
                             "31-Jan-24"s,
                             "2024-01-31T10:00:00Z"s,
                             "10-20"s,
                             ">50K"s,
                             "5+"s,
                             "#5"s,
                             "=5"s,
                             "1e"s}) {
    CAPTURE(cell);
    const string advice = cell == "1 234" || cell == "9 %" || cell.starts_with("5 ")
                              ? "say --csv sep= if it is several cells, or " + plain
                              : plain;
    CHECK(error(cell) == "bad_file: t.csv:3: column 1 (a) holds \"" + cell +
                             "\", which is not read as a number; " + advice +
                             ", or say --prepare categorical=1 if it is a name");
    CHECK(folder.table("t.csv", "a,b\nx,1\n" + cell + ",2\nx,3\n", categorical("a"))
              .categories[0]
              .names.size() == 2);
    CHECK(folder.table_error("t.csv", "1,2\n3," + cell + "\n") ==
          "bad_file: t.csv:2: column 2 holds \"" + cell + "\" where a number belongs; " + advice);
  }
  for (const string& cell : {"\"1,234.5\""s, "\"12,34,567\""s})
    CHECK(error(cell).find(", which is not read as a number; say --csv sep= if") != string::npos);
  CHECK(error("\"1,234\"").find("; say --csv decimal=, if the comma is the decimal sign, or") !=
        string::npos);
  // Texts that begin with a letter are texts.
  for (const string& text : {"row001"s, "A12"s, "T-800"s,
                             "\xC3\xA9"
                             "5"s,
                             "v1.25"s, "Q1"s, "-"s, "x"s})
    CHECK_MESSAGE(folder.table("t.csv", "a,b\n" + text + ",1\nx,2\n" + text + ",3\n").categories.size() == 1,
                  text);
}

TEST_CASE("files: texts with numbers in them have another order, which is told") {
  const Folder folder;
  const auto said = [&](const string& a, const string& b) {
    return notes(folder, "t.csv", "v,a\n1," + a + "\n2," + b + "\n3," + a + "\n");
  };
  CHECK(said("v2", "v10") ==
        "t.csv: column 2 (a) holds texts with numbers in them, as \"v2\", which count in alphabetical order; "
        "make them numbers, or say --prepare categorical=2 if they are names\n");
  for (const char* text : {"EUR 5", "US$5", "Jan 31 2024", "MARCH 2024", "A12"})
    CHECK(said(text, "x1").starts_with("t.csv: column 2 (a) holds texts with numbers in them"));
  CHECK(said("low", "v10") == "");
  CHECK(notes(folder, "t.csv", "v,a\n1,v2\n2,v10\n3,v2\n", categorical("a")) == "");
}

TEST_CASE("files: a first line that may be names or values is refused, and what cannot be else is read") {
  const Folder folder;
  check_header_refused(folder, "color,size,kind\nred,S,a\nblue,L,b\nred,L,a\ngreen,S,b\n", "color");
  check_header_refused(folder, "red,S\nblue,L\nred,L\ngreen,S\n", "red");
  check_header_refused(folder, "a,b\n", "a");
  check_header_refused(folder, ",color\n0,red\n1,blue\n", "color", ", or skip=1 if it is a title");
  check_header_refused(folder, "Customers,,\na,b,kind\n1,2,x\n", "Customers", ", or skip=1 if it is a title");
  // The names are numbers: years, positions as pandas and kith write them, wavelengths.
  for (const string& first : {"2019,2020,2021"s, "2021,2020,2019"s, "0,1,2"s, "10,11,12"s, "1,2,3"s})
    check_header_refused(folder, first + "\n1,2,0\n3,4,1\n2,2,0\n", first.substr(0, first.find(',')));
  check_header_refused(folder, "400.5,410,30\n0.1,0.2,1\n0.3,0.1,0\n0.2,0.2,1\n", "400.5");
  check_header_refused(folder, "2010,2020,kind\n5,3,a\n4,2,b\n5,2,a\n", "2010");
  check_header_refused(folder, "0,1,2,3,species\n5.1,3.5,1.4,0.2,a\n4,3,9,1,b\n", "0");
  CHECK(folder.table("t.csv", "2010,2020,a\n5,3,a\n4,2,b\n5,2,a\n").rows == 4);  // its text occurs below
  CHECK(folder.table("t.csv", "5,3,c\n5,3,a\n4,2,b\n5,2,a\n").rows == 4);
  // A first line that has the asked name is a header, and so is a text above numbers.
  const Told asked = told(folder, "t.csv", "size,kind\nL,a\nS,b\n", label_column("kind"));
  CHECK(asked.table.labels.names == Strings{"a", "b"});
  CHECK(asked.notes.empty());
  CHECK(folder.table("t.csv", "x,y\nred,1\nred,2\n").column_names == Strings{"x", "y"});
  CHECK(folder.table("t.csv", ",a,b\n0,5,2\n1,3,4\n").column_names == Strings{"", "a", "b"});
  CHECK(folder.table("t.csv", "2nd_floor,b\n1,2\n").column_names == Strings{"2nd_floor", "b"});
  CHECK(folder.table_error("t.csv", "$9,2\n10,3\n") ==
        "bad_file: t.csv:1: column 1 holds \"$9\", which is not read as a number; write it as a plain "
        "number, such as -1234.5, or say --prepare categorical=1 if it is a name, or --csv header=yes if it "
        "is that of the column");
  CHECK(folder.table("t.csv", "$9,2\n10,3\n", with_header(Header::yes)).rows == 1);
  CHECK(folder.table_error("t.csv", "x,species\n", label_column("species")) ==
        "bad_file: t.csv: holds a header and no rows; a file of data has at least one row");
  CHECK(folder.table_error("t.csv", "1,2\n3,4\n", label_column("kind")) ==
        "invalid_argument: t.csv: has no column \"kind\"; it has columns 1 to 2 and no header, for its line "
        "1 begins with \"1\"; say --csv header=yes if that is a name");
  CHECK(folder.labels_error("l.csv", "kind\ncat\ndog\n") ==
        "bad_file: l.csv:1: \"kind\" may be the name of a column or a value; say --csv header=yes or "
        "header=no");
}

TEST_CASE("files: columns that number the rows are told") {
  const Folder folder;
  const string pandas = ",a,b,kind\n0,5,2,x\n1,3,4,y\n2,5,1,x\n";
  const Told index = told(folder, "t.csv", pandas, label_column("kind"));
  CHECK(index.table.cols == 3);  // told, not left out
  CHECK(index.notes == "t.csv: column 1 numbers the rows, yet counts as a feature; --drop 1 leaves it out\n");
  ReadOptions chosen = label_column("kind");
  chosen.features_chosen = true;
  CHECK(notes(folder, "t.csv", pandas, chosen).empty());
  CHECK(notes(folder, "t.csv", ",a,b\n17,5,2\n4,3,4\n9,5,1\n") ==
        "t.csv: column 1 numbers the rows, yet counts as a feature; --drop 1 leaves it out\n");
  CHECK(notes(folder, "t.csv", "a,PassengerId,b\n1,892,4\n2,893,4\n1,895,3\n") ==
        "t.csv: column 2 (PassengerId) numbers the rows, yet counts as a feature; --drop 2 leaves it out\n");
  CHECK(notes(folder, "t.csv", "id,a\nrow001,1\nrow002,2\nrow003,1\n") ==
        "t.csv: column 1 (id) holds another text in each row, as \"row001\", yet counts as a feature; --drop "
        "1 leaves it out\n");
  CHECK(notes(folder, "t.csv", "id,a\nrow001,1\nrow002,2\nrow003,1\n", categorical("id")).empty());
  string glass;
  for (int i = 1; i <= 30; ++i) glass += std::to_string(i) + "," + std::to_string(i * i % 7) + "\n";
  CHECK(notes(folder, "t.data", glass) ==
        "t.data: column 1 numbers the rows, yet counts as a feature; --drop 1 leaves it out\n");
  // The note is not repeated for queries.
  ReadOptions like;
  like.like = &index.table;
  CHECK(notes(folder, "t.csv", ",a,b\n0,5,2\n1,3,4\n2,5,1\n", like).empty());
}

TEST_CASE("files: labels with zeros in front are numbers, which is told") {
  const Folder folder;
  const Told read = told(folder, "t.csv", "a,k\n1,7\n2,007\n3,000\n", label_column("k"));
  CHECK(read.table.labels == Labels{{7, 7, 0}, {}});
  CHECK(read.notes ==
        "t.csv: column 2 (k): labels such as \"007\" are read as numbers, so that is 7; --csv labels=text "
        "keeps their zeros\n");
  CHECK(notes(folder, "t.csv", "a,k\n1,0\n2,0.0\n3,10\n", label_column("k")).empty());
  LabelOptions options;
  string said;
  options.note = [&](const string& text) { said += text.substr(text.find("l.txt")) + "\n"; };
  CHECK(folder.labels("l.txt", "00\n1\n", options).code == Integers{0, 1});
  CHECK(said ==
        "l.txt: labels such as \"00\" are read as numbers, so that is 0; --csv labels=text keeps their "
        "zeros\n");
}

TEST_CASE(
    "files: comments at the top are refused with what leaves them out, and line ends of old Macintoshes") {
  const Folder folder;
  const auto skipping = [](std::int64_t lines, Header header = Header::automatic) {
    ReadOptions options = with_header(header);
    options.skip = lines;
    return options;
  };
  const string comments = "# made by \"me\n# x y\n1,2\n3,4\n";
  CHECK(folder.table_error("t.csv", comments) ==
        "bad_file: t.csv: has 2 lines at its top that begin with \"#\"; if they are comments, say --csv "
        "skip=2, if they are rows, skip=0");
  CHECK(folder.table("t.csv", comments, skipping(2)).values == Floats{1, 2, 3, 4});
  CHECK(folder.table("t.csv", "# made by me\na,b\n1,2\n", skipping(1)).column_names == Strings{"a", "b"});
  CHECK(folder.table("t.csv", "#1,5\n#2,6\n", categorical("1")).rows == 2);  // the file has no other line
  CHECK(folder.table_error("t.csv", "#a,5\nx,6\n").find("say --csv skip=1, if they are rows, skip=0") !=
        string::npos);
  CHECK(folder.table("t.csv", "#a,5\nx,6\n", skipping(0)).rows == 2);
  CHECK(folder.table_error("t.csv", "1,2\n# a comment\n3,4\n") ==
        "bad_file: t.csv:2: 1 cell but the rows before have 2; take comments out of the file");
  const Told old = told(folder, "t.csv", "a,b\r1,2\r3,4\r");
  CHECK(old.table.values == Floats{1, 2, 3, 4});
  CHECK(old.notes.empty());
  CHECK(
      folder.table_error("t.csv", "a,b\r1,2\r3,x") ==
      "bad_file: t.csv:3: column 2 (b) holds \"x\" where a number belongs; correct it or leave the row out");
}

TEST_CASE("files: a line of names alone, and lines that are left out to the last") {
  const Folder folder;
  ReadOptions all;
  all.skip = 2;
  CHECK(folder.table_error("t.csv", "1,2\n3,4\n", all) ==
        "bad_file: t.csv: has no row behind line 2; --csv skip= leaves the lines above the table out");
  all.skip = 9;
  CHECK(folder.table_error("t.csv", "1,2\n3,4\n", all)
            .starts_with("bad_file: t.csv: has no row behind line 9"));
}
