// Tests text files as people have them, read by the command: an ambiguous file is refused in one line, whose
// advice is then taken. All cases run on the CPU.
#include "common/shell.hpp"

namespace command_tests::test_command_text {
namespace {

/// Checks that the exit code is 0, that stderr has these notes about this file in this order, and
/// stdout this text.
void check_told(const string& arguments, const string& file, const std::initializer_list<string>& notes,
                const string& out) {
  CAPTURE(arguments);
  const Result result = kith(arguments + " --device cpu");
  string told;
  for (const string& note : notes) told += "kith: note: " + file + ": " + note + "\n";
  CHECK(result.err == told);
  CHECK(result.code == 0);
  CHECK(result.out == out);
}

const string accuracy_0_of_2 = "accuracy 0.0000 (0 of 2)\n";

}  // namespace

TEST_CASE("text: semicolons, decimal commas, and the keys that say so") {
  const Folder folder;
  const string file = folder.write("s.csv", "v;k\n1;a\n2;b\n900;a\n");
  const string leave = " --leave-one-out -k 1 --metric l1";
  const string rows =
      "nearest training rows of each query, from 0 (and their distance)\n"
      "query       #1\n"
      "    0    1 (1)\n"
      "    1    0 (1)\n"
      "    2  1 (898)\n";
  check_told("search --features 1 --train " + file + leave, file,
             {"its cells are separated by semicolon, not by comma; --csv sep=comma says otherwise"}, rows);
  for (const char* sep : {"';'", "semicolon"})
    check_told("search --features v --csv sep=" + string(sep) + " --train " + file + leave, file, {}, rows);
  const string decimals = folder.write("d.csv", "a;k\n1,5;x\n2,25;y\n");
  const string classify = "classify --label k -k 1 --leave-one-out --train ";
  check_refused(classify + decimals + " --device cpu --quiet", 3,
                "bad_file: " + decimals +
                    ":2: column 1 (a) holds \"1,5\", which is not read as a number; say --csv decimal=, if "
                    "the comma is the decimal sign, or say --prepare categorical=1 if it is a name");
  for (const char* keys :
       {"decimal=,", "'sep=;,decimal=,'", "'decimal=,,sep=;'", "decimal=comma,sep=semicolon",
        "'sep=;' --csv decimal=,", "'sep=;,decimal=,,header=yes,skip=0'"})
    check_told(classify + decimals + " --csv " + keys, decimals, {}, accuracy_0_of_2);
  const string plain = folder.write("p.csv", "1;2\n3;4\n5;6\n");
  const string compare = "compare --stage search -k 1 --train " + plain + " --queries " + plain;
  CHECK(kith(compare + " --csv 'sep=;'").err.empty());
  CHECK(kith(compare + " --csv 'sep=;'").code == 0);
  CHECK(contains(kith(compare).err, "its cells are separated by"));
  check_refused("compare --stage search --csv 'sep=;'", 2,
                "invalid_argument: compare: --csv goes with --train; give --train, too");
}

TEST_CASE("text: keys and values of --csv that are none") {
  const auto refused = [](const string& keys, const string& why) {
    check_refused("classify --train x.csv --label k --csv " + keys, 2,
                  "invalid_argument: classify: --csv" + why);
  };
  refused("sep=ab",
          " sep: \"ab\" separates no cells; give one sign, such as \";\", or one of comma, semicolon, tab, "
          "pipe, space, colon");
  refused("'decimal=;'", " decimal: \";\" is no decimal sign; give comma or point");
  refused("encoding=klingon",
          " encoding: there is no \"klingon\"; choose one of utf-8, latin-1, windows-1252, utf-16, utf-16le, "
          "utf-16be, or convert the file: iconv -f ENCODING -t UTF-8 FILE > NEW");
  refused("skip=x", " skip: \"x\" is no whole number from 0 to 1000000; give one");
  refused("skips=3", ": there is no key \"skips\"; did you mean skip?");
  refused("colour=3",
          ": there is no key \"colour\"; choose one of sep, decimal, header, encoding, quote, skip, labels, "
          "base");
  refused("skip", ": skip has no value; give one, as in skip=N");
  refused("quote=maybe", " quote: there is no \"maybe\"; say yes or no");
  refused("header=perhaps", " header: there is no \"perhaps\"; say yes or no");
  refused("base=2", " base: \"2\" is no whole number from 0 to 1; give one");
}

TEST_CASE("text: numbers that look like text are refused, or taken as categories on purpose") {
  const Folder folder;
  const string file = folder.write("m.csv", "a,b\n$9,1\n$10,1\n$100,1\n");
  check_refused("search --train " + file + " --query '$9,1' -k 3 --device cpu", 3,
                "bad_file: " + file +
                    ":2: column 1 (a) holds \"$9\", which is not read as a number; write it as a plain "
                    "number, such as -1234.5, or say --prepare categorical=1 if it is a name");
  const Result result =
      kith("search --device cpu --train " + file + " --query '$9,1' -k 3 --prepare categorical=1");
  CHECK(result.code == 0);
  CHECK(result.err.empty());
}

TEST_CASE("text: headers over texts, headers of numbers, pandas' index and names of rows") {
  const Folder folder;
  const string base = "classify --leave-one-out -k 1 --metric l1 --train ";
  const auto refused = [&](const string& file, const string& cell) {
    check_refused(base + file + " --label -1 --device cpu", 3,
                  "bad_file: " + file + ":1: \"" + cell +
                      "\" may be the name of a column or a value; say --csv header=yes or header=no");
    CHECK(kith(base + file + " --label -1 --csv header=no --device cpu").code == 0);
  };
  const string texts = folder.write("t.csv", "color,size,kind\nred,S,a\nblue,L,b\nred,L,a\ngreen,S,b\n");
  refused(texts, "color");
  check_told(base + texts + " --label -1 --csv header=yes", texts, {}, "accuracy 0.5000 (2 of 4)\n");
  check_told(base + texts + " --label kind", texts, {}, "accuracy 0.5000 (2 of 4)\n");
  const string years = folder.write("h.csv", "2019,2020,2021\n1,2,0\n3,4,1\n2,2,0\n");
  refused(years, "2019");
  check_told(base + years + " --label -1 --csv header=yes", years, {}, "accuracy 0.6667 (2 of 3)\n");
  CHECK(contains(kith(base + years + " --label -1 --csv header=no --device cpu").out, "of 4"));
  const string index = folder.write("x.csv", ",a,b,species\n0,1,2,x\n1,3,4,y\n2,1,1,x\n");
  check_told(base + index + " --label species", index,
             {"column 1 numbers the rows, yet counts as a feature; --drop 1 leaves it out"},
             "accuracy 0.6667 (2 of 3)\n");
  check_told(base + index + " --label species --features 2-3", index, {}, "accuracy 0.6667 (2 of 3)\n");
  check_told(base + index + " --label species --drop 1", index, {}, "accuracy 0.6667 (2 of 3)\n");
  const string ids = folder.write("i.csv", "id,a,k\nrow001,1,x\nrow002,9,y\nrow003,1,x\n");
  check_told(base + ids + " --label k", ids,
             {"column 1 (id) holds another text in each row, as \"row001\", yet counts as a feature; --drop "
              "1 leaves it out"},
             "accuracy 0.6667 (2 of 3)\n");
}

TEST_CASE("text: other encodings") {
  const Folder folder;
  const string file = folder.write("l.csv", "a,b,s\n1,2,K\xE4se\n3,4,Brot\n2,2,K\xE4se\n");
  check_refused("evaluate --train " + file + " --label s --k-max 1 --json --device cpu", 3,
                "bad_file: " + file +
                    ":2: its byte 6, 0xE4, is not UTF-8; say --csv encoding=latin-1 or "
                    "encoding=windows-1252, or save it as UTF-8 text");
  for (const char* encoding : {"Latin-1", "latin1", "windows-1252"}) {
    const Result result = kith("classify --device cpu --train " + file +
                               " --label s --query 1,2 -k 1 --csv encoding=" + encoding);
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK(contains(result.out, "1,2: K\xC3\xA4se\n"));
  }
}

}  // namespace command_tests::test_command_text
