// Tests files of labels, and .svm files, whose lines begin with labels.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: .svm") {
  const Folder folder;
  const string text = "# a comment\n+1 1:0.5 3:2 # another\n-1\n\n1 2:7\n";
  const Table table = folder.table("t.svm", text, label_column("1"));
  CHECK(table.rows == 3);
  CHECK(table.cols == 3);
  CHECK(table.values == Floats{0.5f, 0, 2, 0, 0, 0, 0, 7, 0});
  CHECK(table.labels == Labels{{1, 0, 1}, {"-1", "1"}});
  CHECK(folder.labels("t.libsvm.gz", gzip(text)) == Labels{{1, 0, 1}, {"-1", "1"}});
  CHECK(folder.labels("t.svm", "3 1:1\n0 1:1\n") == Labels{{3, 0}, {}});
  CHECK(folder.table("t.svm", "0.25 1:3\n").labels.code.empty());

  ReadOptions like = label_column("1");
  like.like = &table;
  const Table queries = folder.table("q.svm", "-1 1:1\n", like);
  CHECK(queries.cols == 3);
  CHECK(queries.labels == Labels{{0}, {"-1", "1"}});
  CHECK(folder.table("q.svm", "2 1:1\n1 1:1\n", like).labels == Labels{{2, 1}, {"-1", "1", "2"}});

  const std::vector<std::pair<string, string>> cases{
      {"1 2:1 2:1\n", ":1: has the index 2 after 2; the indices of a line ascend, each once"},
      {"1 1:1\n1 3:1 2:1\n", ":2: has the index 2 after 3; the indices of a line ascend, each once"},
      {"1 -1:1\n", ":1: has the index -1 in \"-1:1\"; indices are 0 to 2147483648"},
      {"1 9999999999:1\n", ":1: has the index 9999999999 in \"9999999999:1\"; indices are 0 to 2147483648"},
      {"1 x:1\n", ":1: has \"x:1\" where index:value belongs, such as 3:0.5; correct it"},
      {"1 2\n", ":1: has \"2\" where index:value belongs, such as 3:0.5; correct it"},
      {"1 2:\n",
       ":1: has \"2:\" and no value behind it; write index:value without a blank between them, such as "
       "3:0.5"},
      {"1 2:abc\n", ":1: index 2 holds \"abc\" where a number belongs; correct it or leave the row out"},
      {"1 2:nan\n",
       ":1: index 2 holds NaN; make every value finite, or leave the row out; --prepare missing= fills such "
       "cells in, drops their rows, or leaves them out"},
      {"1:1\n", ":1: begins with \"1:1\", not with a label; write any number before it, such as 0"},
      {"# nothing\n", ": holds blank lines only; a file of data has at least one row"},
      {"1\n", ": holds labels and no values; a row needs index:value, such as 3:0.5"},
      {"0.5 1:1\n",
       ":1: begins with \"0.5\", which is no label; labels of .svm are whole numbers, and numbers to be "
       "predicted are for kith regress"},
  };
  for (const auto& [content, message] : cases)
    CHECK(folder.table_error("t.svm", content, label_column("1")) == "bad_file: t.svm" + message);
  // 1000 rows of 2^31 columns of 4 bytes exceed the memory of any machine that runs this test.
  string rows = "1 2147483648:1\n";
  for (int r = 0; r < 1000; ++r) rows += "1\n";
  ReadOptions options;
  options.limits.svm_columns = options.limits.growth = std::uint64_t{1} << 40;
  CHECK(folder.table_error("t.svm", rows, options)
            .starts_with("out_of_memory: t.svm: its values need 8598524526592 bytes as float32, "));
}

TEST_CASE("files: labels") {
  const Folder folder;
  CHECK(folder.labels("l.csv", "3\n1\n3\n") == Labels{{3, 1, 3}, {}});
  CHECK(folder.labels("l.txt", "label\n3\n1\n") == Labels{{3, 1}, {}});
  LabelOptions rows;
  rows.header = Header::no;
  CHECK(folder.labels("l.csv", "cat\n\"a, dog\"\ncat\n", rows) == Labels{{1, 0, 1}, {"a, dog", "cat"}});
  LabelOptions options;
  options.column = "b";
  CHECK(folder.labels("l.csv", "a,b\n1,x\n2,y\n", options) == Labels{{0, 1}, {"x", "y"}});
  options.column.clear();
  options.header = Header::yes;
  CHECK(folder.labels("l.csv", "kind\ncat\n", options) == Labels{{0}, {"cat"}});

  const Labels text{{0, 1, 1}, {"cat", "dog"}}, numbers{{4, 9, 4}, {}};
  LabelOptions known_text = rows, known_numbers = rows;
  known_text.known = &text;
  known_numbers.known = &numbers;
  CHECK(folder.labels("l.csv", "dog\ndog\ncat\n", known_text) == Labels{{1, 1, 0}, {"cat", "dog"}});
  CHECK(folder.labels("l.csv", "9\n", known_numbers) == Labels{{9}, {}});
  CHECK(folder.labels("l.npy", npy("|u1", "(2,)", "\4\t"), known_numbers) == Labels{{4, 9}, {}});

  const auto error = [&](const string& content, const LabelOptions& how = {}) {
    return folder.labels_error("l.csv", content, how);
  };
  CHECK(folder.labels("l.csv", "10\n-2\n+1\n-10\n1.0\n") ==
        Labels{{3, 1, 2, 0, 2}, {"-10", "-2", "1", "10"}});
  CHECK(error("1\n2.5\n") ==
        "bad_file: l.csv:2: column 1 holds the label \"2.5\"; labels are whole numbers or text; numbers to "
        "be predicted are for kith regress --target");
  CHECK(error("1\n9223372036854775808\n") ==
        "bad_file: l.csv:2: column 1 holds the label \"9223372036854775808\"; labels are whole numbers or "
        "text; numbers to be predicted are for kith regress --target");
  CHECK(error("1\ncat\n") ==
        "bad_file: l.csv:2: column 1 holds the label \"cat\", but those before are numbers such as \"1\"; "
        "labels are all text or all numbers");
  CHECK(error("cat\ndog\n1\n", rows) ==
        "bad_file: l.csv:3: column 1 holds the label \"1\", a number, but the labels before are text such as "
        "\"cat\"; labels are all text or all numbers");
  CHECK(error("1\n\"\"\n") ==
        "bad_file: l.csv:2: column 1 holds no label; every row needs one: fill it in or leave the row out");
  CHECK(error("1,2\n") ==
        "invalid_argument: l.csv: has 2 columns and begins with \"1\", \"2\"; labels are one a line, or say "
        "which column they are: --label-column");
  CHECK(folder.labels("l.csv", "cow\ndog\nant\n", known_text) ==
        Labels{{3, 1, 2}, {"cat", "dog", "ant", "cow"}});
  CHECK(folder.labels("l.csv", "4\n-5\n", known_numbers) == Labels{{4, -5}, {}});
  CHECK(error("cat\n", known_numbers) ==
        "bad_file: l.csv:1: column 1 holds the label \"cat\", but those of the training rows are numbers; "
        "labels are all text or all numbers");
  CHECK(folder.labels_error("l.npy", npy("<i4", "(2,)", bytes<std::int32_t>({1, -1}))) == "no error");
  CHECK(folder.labels_error("l.npy", npy("<f4", "(2,)", bytes<float>({1, 0.5f}))) ==
        "bad_file: l.npy: row 1 holds 0.5; labels are whole numbers or text; numbers to be predicted are for "
        "kith regress --target");
  CHECK(folder.labels_error("l.npy", npy("<u8", "(1,)", bytes<std::uint64_t>({UINT64_MAX}))) ==
        "bad_file: l.npy: row 0 holds 18446744073709551615; labels are at most 2^63 - 1");
  CHECK(folder.labels_error("l.npy", npy("|u1", "(2, 2)", "abcd")) ==
        "bad_file: l.npy: holds an array of shape (2, 2); labels are one a row: shape (2,)");
  CHECK(folder.labels("l.npy", npy("|u1", "(1,)", "\5"), known_numbers) == Labels{{5}, {}});
  CHECK(folder.labels("l.npy", npy("<i4", "(3,)", bytes<std::int32_t>({1, -1, 1}))) ==
        Labels{{1, 0, 1}, {"-1", "1"}});
  CHECK(folder.labels_error("l.npy", npy("|u1", "(1,)", "\1"), known_text) ==
        "bad_file: l.npy: row 0 holds the label 1, but those of the training rows are text such as \"cat\"; "
        "save the labels as text, .csv or .txt");
  options.column = "2";
  CHECK(folder.labels_error("l.npy", npy("|u1", "(1,)", "\1"), options) ==
        "invalid_argument: l.npy: has no label column \"2\", being no text; leave that option out");
}
