// Tests text files: every format by hand, and every message word for word.
#include <stop_token>

#include "common/data_files.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: .csv, and what may surround its numbers") {
  const Folder folder;
  const Floats expected{1, -2.5f, 3e-3f, 4, 0, 6};
  for (const string& text : {"1,-2.5,3e-3\n4,0,6\n"s, "1,-2.5,3e-3\n4,0,6"s, "1,-2.5,3e-3\r\n4,0,6\r\n"s,
                             "\xEF\xBB\xBF"
                             "1,-2.5,3e-3\n4,0,6"s,
                             "\n  \n 1 ,\t-2.5, 3e-3 \n\n4,0,6\n\n"s, "\"1\",\"-2.5\",3e-3\n4, \"0\" ,6\n"s,
                             "+1,-2.50,.003\n4.,-0e5,6"s, "a,b,c\n1,-2.5,3e-3\n4,0,6\n"s}) {
    CAPTURE(text);
    const Table table = folder.table("t.csv", text);
    CHECK(table.rows == 2);
    CHECK(table.cols == 3);
    CHECK(table.values == expected);
    CHECK(table.text);
    CHECK(describe_lost_digits(table).empty());
    CHECK(table.categories.empty());
    CHECK(table.labels.code.empty());
  }
  CHECK(folder.table("t.data", "1,2\n").values == Floats{1, 2});
  CHECK(folder.table("t.tsv", "1\t2\n3\t4\n").values == Floats{1, 2, 3, 4});
  CHECK(folder.table("t.txt", "  1  2\n3\t4 \n").values == Floats{1, 2, 3, 4});
  CHECK(folder.table("T.CSV.GZ", gzip("1,2\n3,4\n")).values == Floats{1, 2, 3, 4});
  CHECK(folder.table("two.csv.gz", gzip("1,2\n3") + gzip(",4\n") + "\0\0\0"s).values == Floats{1, 2, 3, 4});
}

TEST_CASE("files: numbers in text are the nearest float32, the smallest included") {
  const Folder folder;
  const Table table = folder.table(
      "t.csv",
      "0.1\n1e-45\n7.1e-46\n0.7e-45\n1e-400\n-1e-400\n3.4028235e38\n16777216\n16777217\n-16777219\n1e10\n");
  CHECK(table.values ==
        Floats{0.1f, 1e-45f, 1e-45f, 0, 0, 0, 3.4028235e38f, 16777216, 16777216, -16777220, 1e10f});
  CHECK(std::signbit(table.values[5]));
  CHECK(table.equal_rows == EqualRows{1, 2});  // 1e-45 and 7.1e-46
}

TEST_CASE("files: a header is told from a row") {
  const Folder folder;
  const Table named = folder.table("t.csv", "sepal,\"petal, width\"\n1,2\n");
  CHECK(named.header);
  CHECK(named.column_names == Strings{"sepal", "petal, width"});
  CHECK(named.column_text(1) == "column 2 (petal, width)");
  CHECK(folder.table("t.csv", "1,x\n1,2\n").header);  // a name above a number
  CHECK_FALSE(folder.table("t.csv", "a,b\nc,d\n", with_header(Header::no)).header);
  CHECK(folder.table("t.csv", "a,b\nc,d\n", with_header(Header::yes)).column_names == Strings{"a", "b"});
  CHECK(folder.table("t.csv", "1,2\n3,4\n", with_header(Header::yes)).values == Floats{3, 4});
  CHECK_FALSE(folder.table("t.csv", "1,2\n").header);
  // The mark of a missing value is not a name.
  CHECK(
      folder.table_error("t.csv", "1,?\n1,2\n") ==
      "bad_file: t.csv:2: column 2 holds the number \"2\", but line 1 the text \"?\"; make the column text "
      "or numbers throughout, or say --prepare categorical=2; --prepare missing= fills such cells in, drops "
      "their rows, or leaves them out");
}

TEST_CASE("files: text columns become categories in the order of their names") {
  const Folder folder;
  const Table train =
      folder.table("train.csv", "size,colour,n\n1,red,5\n2,\"blue \"\"sky\"\"\",6\n3,red,7\n4,green,5\n");
  CHECK(train.cols == 3);
  CHECK(train.values == Floats{1, 2, 5, 2, 0, 6, 3, 2, 7, 4, 1, 5});
  CHECK(train.categories == std::vector<Categories>{{1, {"blue \"sky\"", "green", "red"}}});

  ReadOptions like;
  like.like = &train;
  const Table queries = folder.table("q.csv", "9,red,1\n8,green,2\n", like);
  CHECK(queries.values == Floats{9, 2, 1, 8, 1, 2});
  CHECK(queries.categories == train.categories);
  CHECK(folder.table_error("q.csv", "9,red,1\n8,mauve,2\n", like) ==
        "bad_file: q.csv:2: column 2 holds \"mauve\", which does not occur in train.csv; correct it, or "
        "count such cells as 0 with --prepare unseen=zero");
  CHECK(folder.table_error("q.csv", "size,colour,n\n9,7,1\n", like) ==
        "bad_file: q.csv:2: column 2 (colour) holds \"7\", which does not occur in train.csv; correct it, or "
        "count such cells as 0 with --prepare unseen=zero");
  like.unseen_is_zero = true;
  CHECK(folder.table("q.csv", "8,mauve,2\n", like).values == Floats{8, 0, 2});

  ReadOptions options;
  options.categorical = {"zip", "-1"};
  const Table forced = folder.table("t.csv", "zip,b,c\n20,1,2\n3,4,5\n100,1,2\n", options);
  CHECK(forced.values == Floats{1, 1, 0, 2, 4, 1, 0, 1, 0});
  CHECK(forced.categories == std::vector<Categories>{{0, {"100", "20", "3"}}, {2, {"2", "5"}}});
}

TEST_CASE("files: a label column by name, by number, from the end, or not there") {
  const Folder folder;
  const string text = "a,kind,b\n1,dog,2\n3,cat,4\n5,dog,6\n";
  for (const string& column : {"kind"s, "2"s, "-2"s}) {
    CAPTURE(column);
    const Table table = folder.table("train.csv", text, label_column(column));
    CHECK(table.cols == 2);
    CHECK(table.values == Floats{1, 2, 3, 4, 5, 6});
    CHECK(table.labels == Labels{{1, 0, 1}, {"cat", "dog"}});
    CHECK(table.labels.text(1) == "dog");
    CHECK(table.label_column == 1);
    CHECK(table.column_names == Strings{"a", "b"});
    CHECK(table.column_text(1) == "column 3 (b)");
  }
  CHECK(folder.table("t.csv", "1,7,2\n3,9.0,4\n", label_column("2")).labels == Labels{{7, 9}, {}});

  const Table train = folder.table("train.csv", text, label_column("kind"));
  ReadOptions like = label_column("kind");
  like.like = &train;
  like.label_optional = true;
  CHECK(folder.table("q.csv", "a,b\n7,8\n", like).labels.code.empty());
  CHECK(folder.table("q.csv", "7,8\n", like).values == Floats{7, 8});
  CHECK(folder.table("q.csv", "a,kind,b\n7,cat,8\n", like).labels == Labels{{0}, {"cat", "dog"}});
  CHECK(folder.table("q.csv", "a,kind,b\n7,cow,8\n7,ant,8\n7,dog,8\n", like).labels ==
        Labels{{3, 2, 1}, {"cat", "dog", "ant", "cow"}});
  like.label_column = "-2";
  CHECK(folder.table("q.csv", "7,8\n", like).values == Floats{7, 8});
  CHECK(folder.table("q.csv", "7,dog,8\n", like).labels == Labels{{1}, {"cat", "dog"}});
}

TEST_CASE("files: wrong text, word for word") {
  const Folder folder;
  const std::vector<std::array<string, 3>> cases{
      {"t.csv", "1,2\n3\n", "t.csv:2: 1 cell but the rows before have 2; every row needs as many cells"},
      {"t.csv", "1,2\n\n3,4,5\n",
       "t.csv:3: 3 cells but the rows before have 2; every row needs as many cells"},
      {"t.csv", "1,2\n3,x\n",
       "t.csv:2: column 2 holds \"x\" where a number belongs; correct it or leave the row out"},
      {"t.csv", "a,b\n1,2\n3,0x10\n",
       "t.csv:3: column 2 (b) holds \"0x10\" where a number belongs; write it as a plain number, such as "
       "-1234.5"},
      {"t.csv", "1,2\n3,\n",
       "t.csv:2: column 2 is empty; every cell needs a value: fill it in or leave the row out; --prepare "
       "missing= fills such cells in, drops their rows, or leaves them out"},
      {"t.csv", "a,1\nb,2\n,3\n",
       "t.csv:3: column 1 is empty; every cell needs a value: fill it in or leave the row out; --prepare "
       "missing= fills such cells in, drops their rows, or leaves them out"},
      {"t.csv", "1,nan\n",
       "t.csv:1: column 2 holds NaN; make every value finite, or leave the row out; --prepare missing= fills "
       "such cells in, drops their rows, or leaves them out"},
      {"t.csv", "1,2\n-inf,2\n",
       "t.csv:2: column 1 holds an infinity; make every value finite, or leave the row out"},
      {"t.csv", "1,2\n1,1e39\n",
       "t.csv:2: column 2 holds \"1e39\", beyond the largest float32, 3.4e38; scale the column down"},
      {"t.csv", "1,2\n1,-1e999\n",
       "t.csv:2: column 2 holds \"-1e999\", beyond the largest float32, 3.4e38; scale the column down"},
      {"t.csv", "a,1\nb,2\n3,3\n",
       "t.csv:3: column 1 holds the number \"3\", but line 1 the text \"a\"; make the column text or numbers "
       "throughout, or say --prepare categorical=1"},
      {"t.csv", "1,\"a\n2,3\n",
       "t.csv:1: a quote opened in cell 2 is never closed; close it, double quotes that belong to the text, "
       "or say --csv quote=no if all of them do"},
      {"t.csv", "1,\"a\"b\n",
       "t.csv:1: cell 2 goes on after its closing quote with \"b\"; double quotes that belong to the text"},
      {"t.csv", "1,2\n3,\0\n"s, "t.csv:2: holds a zero byte, so it is no plain text; save it as UTF-8 text"},
      {"t.csv", "\n \n", "t.csv: holds blank lines only; a file of data has at least one row"},
      {"t.csv", "", "t.csv: is empty; a file of data has at least one row"},
      {"t.csv", "1,2\n3," + string(60, 'x') + "\n",
       "t.csv:2: column 2 holds \"" + string(40, 'x') +
           "...\" where a number belongs; correct it or leave the row out"},
      {"t.csv.gz", "1,2\n",
       "t.csv.gz: is no gzip file, or a damaged one (incorrect header check after 0 bytes); copy or download "
       "it again, or take .gz off its name if it is not compressed"},
      {"t.csv.gz", gzip("1,2\n3,4\n").substr(0, 20),
       "t.csv.gz: ends after 8 bytes, within its compressed data; it is truncated: copy or download it "
       "again"},
      {"t.csv.gz", gzip("1,2\n") + "more",
       "t.csv.gz: is no gzip file, or a damaged one (incorrect header check after 4 bytes); copy or download "
       "it again, or take .gz off its name if it is not compressed"},
      {"t.xyz", "1,2\n",
       "t.xyz: its name ends in no format that kith reads; there are .npy .csv .data .tsv .txt -ubyte .idx "
       ".fvecs .ivecs .bvecs .fbin .u8bin .i8bin .f16bin .ibin .npz .hdf5 .h5 .hdf .svm .libsvm .svmlight, "
       "and .gz behind each; or say it, as in --read format=csv"},
      {"t.parquet", "1,2\n",
       "t.parquet: its name ends in no format that kith reads; in Python: "
       "pandas.read_parquet('FILE').to_csv('new.csv', index=False)"},
      {"t.csv.zip", "1,2\n",
       "t.csv.zip: its name ends in no format that kith reads; unpack it with unzip FILE, and name the file "
       "that was in it"},
  };
  for (const auto& [file, content, message] : cases)
    CHECK(folder.table_error(file, content) == "bad_file: " + message);

  CHECK(folder.error([&] { read_table(folder / "none.csv"); }) ==
        "bad_file: none.csv: cannot be read: No such file or directory; check the name");
  fs::create_directory(folder / "folder.csv");
  CHECK(folder.error([&] { read_table(folder / "folder.csv"); }) ==
        "bad_file: folder.csv: is a folder; name a file in it");
  if (geteuid() != 0) {
    fs::permissions(folder.write("secret.csv", "1\n"), fs::perms::none);
    CHECK(folder.error([&] { read_table(folder / "secret.csv"); }) ==
          "bad_file: secret.csv: cannot be read: Permission denied; ask its owner for permission to read it");
  }
  CHECK(folder.table_error("t.csv", "a,b\n", with_header(Header::yes)) ==
        "bad_file: t.csv: holds a header and no rows; a file of data has at least one row");
}

TEST_CASE("files: options that do not fit the file") {
  const Folder folder;
  CHECK(folder.table_error("t.csv", "a,b\n1,2\n", label_column("c")) ==
        "invalid_argument: t.csv: has no column \"c\"; it has columns 1 to 2, called \"a\", \"b\"; name one "
        "of them");
  CHECK(folder.table_error("t.csv", "1,2\n", label_column("3")) ==
        "invalid_argument: t.csv: has no column \"3\"; it has columns 1 to 2 and no header; give one of "
        "these numbers");
  CHECK(folder.table_error("t.csv", "1,2\n", label_column("0")) ==
        "invalid_argument: t.csv: has no column \"0\"; it has columns 1 to 2 and no header; give one of "
        "these numbers");
  CHECK(folder.table_error("t.csv", "1\n", label_column("-2")) ==
        "invalid_argument: t.csv: has no column \"-2\"; it has column 1 only and no header; give one of "
        "these numbers");
  CHECK(folder.table_error("t.csv", "a,a\n1,2\n", label_column("a")) ==
        "invalid_argument: t.csv: several columns are called \"a\"; give the number of the one that is "
        "meant, from 1");
  CHECK(folder.table_error("t.csv", "1\n", label_column("1")) ==
        "invalid_argument: t.csv: has the label column only; a table needs one column of values at least");
  CHECK(folder.table_error("t.fvecs", fvecs({{1}}), label_column("1")) ==
        "invalid_argument: t.fvecs: has no label column \"1\", being no text; give the labels as a file of "
        "their own: --labels");

  const Table train = folder.table("train.csv", "a,b\n1,2\n");
  ReadOptions like;
  like.like = &train;
  CHECK(folder.table_error("q.csv", "1,2,3\n", like) ==
        "invalid_argument: q.csv: has 3 columns but train.csv has 2; queries need the columns of the "
        "training rows; a column with the true answers is named by --label COLUMN (or --target)");
  CHECK(folder.table_error("q.fvecs", fvecs({{1}}), like) ==
        "invalid_argument: q.fvecs: has 1 column but train.csv has 2; queries need the columns of the "
        "training rows");
  CHECK(folder.table_error("q.svm", "1 1:1\n1 3:1\n", like) ==
        "invalid_argument: q.svm:2: has the index 3 but train.csv has 2 columns; queries need the columns of "
        "the training rows: leave higher indices out");
  CHECK(folder.table_error("q.csv", "b,a\n1,2\n", like) ==
        "invalid_argument: q.csv: column 1 (b) is \"a\" in train.csv; give both files the same columns in "
        "the same order");

  const Table coloured = folder.table("train.csv", "a,colour\n1,red\n");
  like.like = &coloured;
  like.categorical = {"colour"};  // no effect, since the training table decides
  CHECK(folder.table("q.csv", "5,red\n", like).values == Floats{5, 0});
  CHECK(folder.table_error("q.fvecs", fvecs({{1, 0}}), like) ==
        "invalid_argument: q.fvecs: cannot hold the text of column 2 (colour) of train.csv; give the queries "
        "as .csv, .tsv or .txt");
  ReadOptions categorical;
  categorical.categorical = {"2"};
  CHECK(folder.table_error("t.svm", "1 1:1\n", categorical) ==
        "invalid_argument: t.svm: has no categorical column \"2\", being no text; leave that option out");

  std::stop_source stop;
  stop.request_stop();
  ReadOptions stopped;
  stopped.stop = stop.get_token();
  CHECK(folder.table_error("t.csv", "1,2\n", stopped) ==
        "interrupted: t.csv: stopped while reading, as asked; nothing is returned");
  double progress = 0;
  ReadOptions watched;
  watched.progress = [&](double part) { progress = part; };
  folder.table("t.csv", "1,2\n", watched);
  CHECK(progress == 1);
}

TEST_CASE("files: quotes keep separators and line ends, and count lines on") {
  const Folder folder;
  const Table table = folder.table("t.csv", "\"x,\n\"\"y\"\"\",1\nz,2\n");
  CHECK(table.values == Floats{0, 1, 1, 2});
  CHECK(table.categories[0].names == Strings{"x,\n\"y\"", "z"});
  CHECK(folder.table("t.txt", "\"a b\" 1\nc 2\n").categories[0].names == Strings{"a b", "c"});
  CHECK(folder.table_error("t.csv", "\"a\n\nb\",1\nz,q\n") ==
        "bad_file: t.csv:4: column 2 holds \"q\" where a number belongs; correct it or leave the row out");
  // These cells are longer than any buffer of the reader.
  const string wide(700000, 'w');
  CHECK(folder.table("t.csv", "\"" + wide + "\",1\n" + wide + ",2\n").categories[0].names == Strings{wide});
  CHECK(folder.table("t.csv", "\"" + wide + "\n" + wide + "\",1\nb,2\n").values == Floats{1, 1, 0, 2});
}
