// Tests text files in unusual forms: quotes that are text, lines above the table, other notations of numbers,
// and the advice that messages give about them. All cases run on the CPU.
#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_csv {
namespace {

int rows_searched(const string& arguments) {
  const Result result =
      kith(arguments +
           " --device cpu --csv header=no --leave-one-out -k 1 --out-index /dev/stdout --read format=csv");
  CHECK(result.code == 0);
  return static_cast<int>(std::count(result.out.begin(), result.out.end(), '\n')) - 1;  // without the header
}

}  // namespace

TEST_CASE("csv: quotes that are text, as in word vectors, and cells that go on over lines") {
  const Folder folder;
  const string glove = folder.write("g.txt", "the 1 2\n\"x 3 4\nof 5 6\n\" 7 8\nto 9 10\n");
  const string search = "search --label 1 --train ";
  check_refused(search + glove + " --device cpu --csv header=no --leave-one-out -k 1", 3,
                "bad_file: " + glove +
                    ":2: a quote opened in cell 1 is not closed in its line; say --csv quote=no if quotes "
                    "are text here, or quote=yes if cells go on over lines");
  CHECK(rows_searched(search + glove + " --csv quote=no") == 5);
  CHECK(rows_searched(search + glove + " --csv quote=yes") == 3);
  // If commas separate cells, a line end in quotes is certain, but a note tells the user.
  const string joined = folder.write("j.csv", "name,v\n\"one\nname\",1\nother,2\n");
  const Result told = kith("search --device cpu --label name --query 1 -k 1 --train " + joined);
  CHECK(told.code == 0);
  CHECK(told.err == "kith: note: " + joined +
                        ":2: a cell goes on over several lines, since its quotes hold them together; say "
                        "--csv quote=no if quotes are text\n");
  CHECK(
      kith("search --device cpu --label name --query 1 -k 1 --csv quote=yes --train " + joined).err.empty());
}

TEST_CASE("csv: lines above the table are named, and left out where the option says so") {
  const Folder folder;
  const string file = folder.write("p.csv", "Report of 2024\nSource: lab\n\na,b,kind\n1,2,x\n4,5,y\n2,2,x\n");
  const string classify = "classify --device cpu --label -1 --leave-one-out -k 1 --train " + file;
  check_refused(classify, 3,
                "bad_file: " + file +
                    ":1: has 1 cell, but line 4 and those behind it have 3; if the table begins there, say "
                    "--csv skip=3, else give every row as many cells");
  const Result result = kith(classify + " --csv skip=3");
  CHECK(result.out == "accuracy 0.6667 (2 of 3)\n");
  CHECK(result.err.empty());
  CHECK(kith(classify + " --csv skip=3,quote=no").out == result.out);
  check_refused(
      classify + " --csv skip=9", 3,
      "bad_file: " + file + ": has no row behind line 9; --csv skip= leaves the lines above the table out");
}

TEST_CASE("csv: a title that a spreadsheet padded, and separators that the header lacks") {
  const Folder folder;
  const string padded = folder.write("p.csv", "Customers,,\na,b,kind\n1,2,x\n4,5,y\n2,2,x\n");
  const string classify = "classify --device cpu --label kind --leave-one-out -k 1 --train ";
  check_refused(classify + padded, 3,
                "bad_file: " + padded +
                    ":1: \"Customers\" may be the name of a column or a value; say --csv header=yes or "
                    "header=no, or skip=1 if it is a title");
  CHECK(kith(classify + padded + " --csv skip=1").out == "accuracy 0.6667 (2 of 3)\n");
  const string ends = folder.write("e.csv", "a,b,kind\n1,2,x,\n4,5,y,\n2,2,x,\n");
  check_refused(classify + ends, 3,
                "bad_file: " + ends +
                    ":1: has 3 cells, but line 2 and those behind it have 4; if the table begins there, say "
                    "--csv skip=1, else give every row as many cells");
  CHECK(kith(classify + folder.write("e.csv", "a,b,kind,\n1,2,x,\n4,5,y,\n2,2,x,\n")).out ==
        "accuracy 0.6667 (2 of 3)\n");
}

TEST_CASE("csv: a tab in each line does not make cells of numbers between blanks") {
  const Folder folder;
  const string file = folder.write("auto-mpg.data",
                                   "18.0   8   307.0      130.0\t\"chevrolet chevelle malibu\"\n"
                                   "15.0   8   350.0      165.0\t\"buick skylark 320\"\n"
                                   "24.0   4   113.0      95.00\t\"toyota corona mark ii\"\n");
  const string search = "search --device cpu --label -1 --leave-one-out -k 1 --train " + file;
  CHECK(contains(kith(search).err, "say --csv header=yes or header=no"));
  CHECK(contains(kith(search + " --csv header=no").err,
                 ":1: column 1 holds \"18.0   8   307.0      130.0\", which is not read as a number; say "
                 "--csv sep= if it is several cells, or write it as a plain"));
  const Result result = kith(search + " --csv sep=space");
  CHECK(result.code == 0);
  CHECK(result.err.empty());
}

TEST_CASE("csv: numbers in other notations are no categories in the order of the alphabet") {
  const Folder folder;
  const auto refusal = [&](const string& cells, const string& why) {
    const string file = folder.write("h.csv", "v,kind\n" + cells);
    check_refused("search --device cpu --csv header=yes --label kind --leave-one-out -k 1 --train " + file, 3,
                  "bad_file: " + file + ":2: column 1 (v) holds " + why +
                      ", or say --prepare categorical=1 if it is a name");
    CHECK(
        kith("search --device cpu --label kind --leave-one-out -k 1 --prepare categorical=1 --train " + file)
            .code == 0);
  };
  const string plain = ", which is not read as a number; write it as a plain number, such as -1234.5";
  refusal("0x9,a\n0x10,b\n0xFF,a\n0x9,b\n0x10,b\n", "\"0x9\"" + plain);
  refusal("0o17,a\n0o7,b\n0o17,a\n", "\"0o17\"" + plain);
  refusal("0b101,a\n0b1,b\n-0b1,a\n", "\"0b101\"" + plain);
  refusal("3k,a\n2M,b\n3k,a\n500k,b\n", "\"3k\"" + plain);
  refusal("1.5Gi,a\n2Mi,b\n1.5Gi,a\n", "\"1.5Gi\"" + plain);
}

TEST_CASE("csv: marks of missing values, and what the messages about them advise") {
  const Folder folder;
  for (const char* mark : {"-", ".", "NA", "?", "*"}) {
    CAPTURE(mark);
    const string file = folder.write("m.csv", string("a,b,kind\n") + mark + ",2,x\n4,5,y\n3,2,x\n");
    const string search = "search --device cpu --label kind --leave-one-out -k 1 --train " + file;
    const Result result = kith(search);
    CHECK(result.code == 3);
    CHECK(contains(result.err,
                   "; --prepare missing= fills such cells in, drops their rows, or leaves them out"));
    CHECK(kith(search + " --prepare missing=mean").code == 0);
    CHECK(kith(search + " --prepare missing=drop").code == 0);
  }
  const string texts = folder.write("t.csv", "a,kind\nred,x\nnan,y\nblue,x\n");
  const string search =
      "search --device cpu --csv header=yes --label kind --leave-one-out -k 1 --train " + texts;
  check_refused(search, 3,
                "bad_file: " + texts +
                    ":3: column 1 (a) holds \"nan\", but line 2 the text \"red\"; make the column text or "
                    "numbers throughout, or say --prepare categorical=1; --prepare missing= fills such cells "
                    "in, drops their rows, or leaves them out");
  CHECK(kith(search + " --prepare missing=most-frequent").code == 0);
  CHECK(kith(search + " --prepare categorical=1").code == 0);
}

TEST_CASE("csv: labels that are text though they look like numbers") {
  const Folder folder;
  const string file = folder.write("z.csv", "v,code\n1,007\n2,7\n9,010\n10,10\n");
  const string classify =
      "classify --device cpu --label code -k 1 --query 1 --query 2 --query 9 --train " + file;
  const Result numbers = kith(classify);
  CHECK(contains(
      numbers.err,
      "labels such as \"007\" are read as numbers, so that is 7; --csv labels=text keeps their zeros"));
  CHECK(contains(numbers.out, "1: 7\n"));
  const Result texts = kith(classify + " --csv labels=text");
  CHECK(texts.err.empty());
  CHECK(contains(texts.out, "1: 007\n"));
  CHECK(contains(texts.out, "2: 7\n"));
  CHECK(contains(texts.out, "9: 010\n"));
  // Numbers as kith writes them are the same labels either way, and sort as numbers.
  const string plain = folder.write("n.csv", "v,code\n1,9\n1,10\n1,-3\n");
  for (const char* way : {"", " --csv labels=text"})
    CHECK(contains(kith("classify --device cpu --label code -k 3 --query 1 --train " + plain + way).out,
                   "1: -3\n"));
  // This applies to labels of queries and in files of labels, too.
  const string queries = folder.write("q.csv", "v,code\n1,007\n2,007\n");
  CHECK(kith("classify --device cpu --label code -k 1 --csv labels=text --queries " + queries + " --train " +
             file)
            .out == "accuracy 0.5000 (1 of 2)\n");
  const string rows = folder.write("rows.csv", "1\n2\n"), labels = folder.write("l.txt", "007\n7\n");
  CHECK(contains(kith("classify --device cpu -k 1 --query 1 --csv labels=text --csv header=no --train " +
                      rows + " --labels " + labels)
                     .out,
                 "1: 007\n"));
}

TEST_CASE("csv: the metric that an HDF5 file names is measured, and said") {
  if (!fs::exists(fs::path(test_support::command_path()).parent_path() / "kith-read-hdf5")) return;
  const Folder folder;
  const string seeds = test_support::in_sources("/tests/fuzz/seeds/hdf5/");
  const string file = folder.write("a.hdf5", test_support::text_of_file(seeds + "angular")),
               fixed = folder.write("e.hdf5", test_support::text_of_file(seeds + "fixed"));
  const string search = "search --device cpu -k 4 --train " + file + " --queries " + file;
  const Result by_file = kith(search), by_option = kith(search + " --metric cosine"),
               by_l2 = kith(search + " --metric l2");
  const string says = "kith: note: " + file + ": calls its distance \"angular\", ";
  CHECK(by_file.err == says + "so cosine is measured; --metric decides otherwise\n");
  CHECK(by_file.out == by_option.out);
  CHECK(by_option.err.empty());
  CHECK(by_l2.err == says + "which is cosine, but --metric says l2\n");
  CHECK(by_l2.out != by_file.out);
  CHECK(kith("search --device cpu -k 1 --leave-one-out --train " + fixed).err.empty());
  const string truth = folder / "gt.ibin";
  CHECK(contains(
      kith("groundtruth --device cpu -k 4 --train " + file + " --queries " + file + " --out " + truth).err,
      "so cosine is measured"));
}

TEST_CASE("csv: blanks around the values of --query, and a file that is packed twice") {
  const Folder folder;
  const string train = folder.write("t.csv", "a,b\n1,2\n3,4\n");
  const string search = "search --device cpu -k 1 --train " + train;
  CHECK(kith(search + " --query '1, 2'").out == kith(search + " --query 1,2").out);
  CHECK(kith(search + " --query ' 1 ,\t2 '").code == 0);
  CHECK(shell("gzip -c " + train + " | gzip -c > " + (folder / "twice.csv.gz")).code == 0);
  check_refused(
      "search --device cpu -k 1 --query 1,2 --train " + (folder / "twice.csv.gz"), 3,
      "bad_file: " + (folder / "twice.csv.gz") + ": is packed by gzip twice; unpack it once, as by gzip -d");
  CHECK(shell("gzip -dc " + (folder / "twice.csv.gz") + " > " + (folder / "once.csv.gz")).code == 0);
  CHECK(kith(search + " --query 1,2").out ==
        kith("search --device cpu -k 1 --query 1,2 --train " + (folder / "once.csv.gz")).out);
}

}  // namespace command_tests::test_command_csv
