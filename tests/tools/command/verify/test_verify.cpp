// Runs kith verify --random-cases as users do.
#include "common/shell.hpp"

namespace command_tests::test_verify {
namespace {

/// Returns the last line, without its line end.
string last_line(const string& text) {
  const string whole = text.substr(0, text.find_last_not_of('\n') + 1);
  return whole.substr(whole.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("verify --random-cases: go on where a run stopped, and any case by its number") {
  const Folder folder;
  const string asked = "verify --device cpu --seed 5 --resume " + (folder / "cases.txt") + " --random-cases ";
  const string first = out_of(asked + "6");
  CHECK(first == "cpu against plain: 6 cases, 0 different\n");
  CHECK(folder.read("cases.txt") == "cpu plain 5 6 6 0 0\n");
  CHECK(kith(asked + "10").out == "cpu against plain: 10 cases, 0 different\n");
  CHECK(kith(asked + "3 --first 20").out == "cpu against plain: 3 cases, 0 different\n");
  CHECK(folder.read("cases.txt") == "cpu plain 5 10 10 0 0\ncpu plain 5+20 23 3 0 0\n");
  folder.write("cases.txt", "cpu plain 5 10 ten 0 0\n");
  check_refused(asked + "12", 3,
                "bad_file: " + (folder / "cases.txt") +
                    ": \"cpu plain 5 10 ten 0 0\" is no line of a resume file; delete it");
}

TEST_CASE("verify --resume: a file that it did not write is refused, and stays as it is") {
  const Folder folder;
  const string asked = "verify --device cpu --seed 5 --random-cases 6 --resume " + (folder / "mine.csv");
  const string known = "cpu plain 5 6 6 0 0\n";
  for (const string line : {"5.1,3.5,setosa", "", "cpu plain 5"})
    for (const string& before : {string(), known}) {
      CAPTURE(before + line);
      folder.write("mine.csv", before + line + "\n");
      check_refused(
          asked, 3,
          "bad_file: " + (folder / "mine.csv") + ": \"" + line + "\" is no line of a resume file; delete it");
      CHECK(folder.read("mine.csv") == before + line + "\n");
    }
}

TEST_CASE("verify --proposed: cases by proposers, what became of their queries, and the chain vouched for") {
  const Folder folder;
  const string asked = "verify --device cpu --proposed --how proposer=dot --seed 20 --resume " +
                       (folder / "cases.txt") + " --random-cases ";
  const Result part = kith(asked + "20");
  CHECK(part.code == 0);
  CHECK(part.err.empty());
  CHECK(contains(part.out, "cases  queries  once more  by the chain alone  out of range\ndot "));
  CHECK(contains(part.out, "\nclusters  "));
  CHECK(contains(last_line(part.out),
                 "cpu by its proposers against its chain alone, that against plain: 20 cases, 0 different "
                 "(dot 20; 1 times the reference was asked); of "));
  CHECK(contains(last_line(part.out), " certified at once, "));
  const Result rest = kith(asked + "40 --workers 2"),
               whole = kith("verify --device cpu --proposed --how proposer=dot --seed 20 --random-cases 40");
  CHECK(rest.code == 0);
  CHECK(rest.out == whole.out);
}

TEST_CASE("verify --proposed: what does not go with it is refused") {
  check_refused("verify --device cpu --proposed", 2,
                "invalid_argument: verify: --proposed goes with --random-cases; give --random-cases, too");
  check_refused("verify --device cpu --first 3", 2,
                "invalid_argument: verify: --first goes with --random-cases; give --random-cases, too");
  check_refused("verify --device cpu --random-cases 5 -k 7", 2,
                "invalid_argument: verify: -k goes with --train; give --train, too");
  check_refused("verify --device cpu --random-cases 5 --proposed --how proposer=none", 2,
                "invalid_argument: verify: --proposed is about proposers, and proposer=none is none; name "
                "another one, or leave it out");
  check_refused("verify --device cpu --random-cases 5 --workers 2", 2,
                "invalid_argument: verify: --workers goes with --proposed; give --proposed, too");
  check_refused("verify --device cpu --random-cases 5 --train a.csv", 2,
                "invalid_argument: verify: --random-cases does not go with --train; leave one of them out");
  check_refused("verify --device cpu --random-cases 5 --how proposer=dot", 2,
                "invalid_argument: verify: --how proposer is for --proposed; give --proposed, too");
  check_refused(
      "verify --device cpu", 2,
      "invalid_argument: verify: there is nothing to verify; give --random-cases COUNT, or --train FILE");
  const Result absent = kith("verify --device cpu --random-cases 5 --proposed --how proposer=fp16");
  CHECK(absent.code == 6);
  CHECK(contains(absent.err,
                 "unsupported: verify: --proposed: search: cpu has no proposer fp16; choose dot, "));
}

}  // namespace command_tests::test_verify
