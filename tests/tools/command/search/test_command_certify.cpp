// Runs kith search --certify and kith verify --train as users do.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_certify {

using nlohmann::json;

namespace {

const char* const square = "x,y,kind\n0,0,a\n0,4,a\n4,0,b\n4,4,b\n";
const char* const proven =
    "proven         every training row whose distance the chain did not compute is farther than the k-th; so "
    "rows, order, ties and distances are those of the chain alone\n";

/// Returns the first line of `text` that begins with `word`, with its line end.
string line_of(const string& text, const string& word) {
  const std::size_t at = ("\n" + text).find("\n" + word);
  return at == string::npos ? "" : text.substr(at, text.find('\n', at) + 1 - at);
}

/// Returns `rows` equal lines.
string alike(int rows, const string& line) {
  string text;
  for (int r = 0; r < rows; ++r) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("search --certify: queries, candidates, bound, check, memory, and what is proven") {
  const Folder folder;
  const string train = folder.write("train.csv", square), queries = folder.write("q.csv", "x,y\n1,0\n4,3\n");
  const string asked = "search --device cpu --label-column kind --train " + train + " --queries " + queries +
                       " -k 1 --how proposer=dot ";
  const Result result = kith(asked + "--certify");
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(line_of(result.out, "certified") == "certified      2 of 2 queries at the first attempt\n");
  // Without a threshold the first step lists all four rows.
  CHECK(line_of(result.out, "listed") ==
        "listed         4.00 times k candidates a query, k = 1; the chain ranked 1.00 times k\n");
  CHECK(line_of(result.out, "proposer") ==
        "proposer       dot, whose products are off by at most b |q~| |x~| + tau, b = 2.384e-07 "
        "(docs/certificate.md, section 3)\n");
  CHECK(line_of(result.out, "checked")
            .starts_with("checked        when cpu first proposed: self-test on 97 rows of 131 columns, all "
                         "difficult (cancelling sums, "));
  const string rows = line_of(result.out, "prepared rows");
  CHECK(contains(rows, "KiB of device memory, made in "));
  CHECK(rows.ends_with(" by the device's clock\n"));
  CHECK(contains(result.out, proven + string("\nnearest training rows of each query, from 0 (and their "
                                             "distance)\nquery     #1\n    0  0 (1)\n    1  3 (1)\n")));
  CHECK_FALSE(contains(result.out, "whole call"));
  const string both = out_of(asked + "--explain --certify --out-index " + (folder / "found.csv"));
  CHECK(both.find("whole call") < both.find("\ncertified "));
  CHECK_FALSE(contains(both, "nearest training rows"));
  CHECK(folder.read("found.csv") == "neighbor_1\n0\n3\n");
}

TEST_CASE("search --certify: by the chain alone there is nothing to certify") {
  const Folder folder;
  const string train = folder.write("train.csv", square);
  const string asked = "search --certify --device cpu --label-column kind --train " + train + " ";
  const string chain = "certificate: the chain computed the distances of all ";
  CHECK(kith(asked + "--query 1,0 -k 2 --how proposer=none")
            .out.starts_with(chain + "4 pairs, and nothing had to be certified\n\nnearest"));
  CHECK(kith(asked + "--leave-one-out -k 2").out.starts_with(chain + "16 pairs, "));
  CHECK(kith(asked + "--query 1,0 --radius 5").out.starts_with(chain + "4 pairs, "));
  check_refused(asked + "--query 1,0 -k 1 --certfy", 2,
                "invalid_argument: search: unknown option --certfy; did you mean --certify?");
}

TEST_CASE("search --certify: of leave-one-out a query itself is among the candidates") {
  const Folder folder;
  const string train = folder.write("train.csv", square);
  const string result = out_of(
      "search --certify --device cpu --label-column kind --how proposer=dot -k 1 --leave-one-out --train " +
      train);
  // Four rows are listed for k = 2. Two others are as near as the second row, so three are ranked.
  CHECK(line_of(result, "listed") ==
        "listed         2.00 times k candidates a query, k = 2 with the query itself; the chain ranked 1.50 "
        "times k\n");
}

TEST_CASE("search --certify: where all rows are alike, lists overflow twice, and the chain alone answers") {
  const Folder folder;
  const string train = folder.write("train.csv", alike(3000, "7,7"));
  const string result = out_of(
      "search --certify --device cpu --csv header=no --how proposer=dot -k 1 --query 7,7 --query 0,0 "
      "--train " +
      train);
  CHECK(line_of(result, "certified") ==
        "certified      0 of 2 queries at the first attempt; 2 by the chain alone, since a list overflowed "
        "at every attempt\n");
  CHECK(contains(result, "    0         0 (0)\n    1  0 (9.899495)\n"));
}

TEST_CASE("classify and regress certify, too") {
  const Folder folder;
  const string train = folder.write("train.csv", square);
  const string asked = " --certify --device cpu --how proposer=dot --query 1,0 -k 1 --train " + train;
  const string kinds = out_of("classify --label-column kind" + asked);
  CHECK(line_of(kinds, "certified") == "certified      1 of 1 query at the first attempt\n");
  CHECK(contains(kinds, proven + string("\n1,0: a\n")));
  const string values = folder.write("values.csv", "x,y,z\n0,0,1\n0,4,2\n4,0,3\n4,4,4\n");
  const Result value =
      kith("regress --target z --certify --device cpu --how proposer=dot --query 1,0 -k 1 --train " + values);
  CHECK(value.code == 0);
  CHECK(contains(value.out, proven));
}

TEST_CASE("verify --train: every proposer of the CPU gives the bits of the chain") {
  const Folder folder;
  const string train = folder.write("train.csv", square);
  const string asked = "verify --device cpu --label-column kind -k 2 --train " + train;
  const Result text = kith(asked);
  CHECK(text.code == 0);
  CHECK(text.err.empty());
  CHECK(text.out.starts_with(
      train +
      ": l2, n = 4, m = 4, dims = 2, k = 2; compared with cpu by the chain alone\ndevice  proposer  bits "));
  CHECK(contains(text.out, "\ncpu     none      reference  "));
  CHECK(contains(text.out, "\ncpu     dot       same  "));
  CHECK(text.out.ends_with("\n\nSame bits everywhere.\n"));

  const string some = out_of(asked + " -m 3 --how proposer=dot --json");
  const json found = json::parse(some);
  CHECK(found["m"] == 3);
  CHECK(found["reference"] == "cpu");
  REQUIRE(found["results"].size() == 2);
  const json& dot = found["results"][1];
  CHECK(dot["proposer"] == "dot");
  CHECK(dot["same"] == true);
  CHECK(dot["queries_different"] == 0);
  CHECK(dot["listed"] == 12);
  CHECK(dot["once_more"] == 0);
  CHECK(dot["by_the_chain_alone"] == 0);
  CHECK(dot["total_seconds"] > 0);

  const string plain = out_of(asked + " --reference plain --how proposer=none");
  CHECK(contains(plain, "; compared with plain\n"));
  CHECK(contains(plain, "\ncpu     none      same  "));
}

TEST_CASE("verify --train: duplicates are counted, text is one-hot, other files are queries") {
  const Folder folder;
  const string train = folder.write("train.csv", alike(3000, "7,tcp") + "1,udp\n"),
               queries = folder.write("q.csv", "7,udp\n7,tcp\n7,tcp\n6,udp\n");
  const string result = out_of(
      "verify --device cpu --how proposer=dot --csv header=no --prepare categories=one-hot --scale min-max "
      "-k 1 -m 2 --json --train " +
      train + " --queries " + queries);
  const json found = json::parse(result);
  CHECK(found["dims"] == 3);
  CHECK(found["m"] == 2);  // queries 0 and 2
  CHECK(found["results"][1]["same"] == true);
  // For both queries 3000 rows are equally near, more than a list holds. Asked again with the threshold
  // it reached, the first query is left with the one row that is nearer; for the second these 3000 rows
  // are the nearest.
  CHECK(found["results"][1]["once_more"] == 1);
  CHECK(found["results"][1]["by_the_chain_alone"] == 1);
}

TEST_CASE("verify --train: a device whose products are too coarse is refused, and the others go on") {
  const Folder folder;
  const string train = folder.write("train.csv", square);
  const string asked = "KITH_BACKEND_PATH='" + test_support::in_plugins("/inexact") +
                       "' \"$kith\" verify --label-column kind -k 2 --train " + train +
                       " --how proposer=gemm --device ";
  const Result both = shell(asked + "planted:0,planted:10");
  CHECK(both.code == 0);
  CHECK(contains(both.out, "\nplanted:0   gemm      same  "));
  CHECK(contains(both.out, "\nplanted:10  gemm      refused\n"));
  CHECK(
      contains(both.out, "planted:10, gemm: refused: search: planted:10: its products are less exact than "));
  CHECK(both.out.ends_with("\n\nSame bits wherever it ran; 1 refused.\n"));
  const Result coarse = shell(asked + "planted:10");
  CHECK(coarse.code == 6);
  CHECK(coarse.out.ends_with("\n\nNothing was compared: everything was refused.\n"));
}

TEST_CASE("verify --found-index: an earlier answer is searched for once more, and every wrong bit is told") {
  const Folder folder;
  const string train = folder.write("train.csv", "0,0\n0,4\n4,0\n4,4\n"),
               queries = folder.write("q.csv", "0,1\n4,3\n1,4\n");
  const string both = " --csv header=no --train " + train + " --queries " + queries;
  for (const string ending : {".npy", ".vecs", ".csv"}) {
    const string index = folder / ("i" + (ending == ".vecs" ? ".ivecs" : ending)),
                 distance = folder / ("d" + (ending == ".vecs" ? ".fvecs" : ending));
    REQUIRE(kith("search --device cpu -k 2 --write header=no --out-index " + index + " --out-distance " +
                 distance + both)
                .code == 0);
    const string asked = "verify --device cpu" + both + " --found-index " + index;
    const string same = out_of(asked + " --found-distance " + distance + " --how proposer=dot");
    CHECK(contains(same, "; compared with " + index + "\n"));
    CHECK(same.ends_with("Same bits everywhere.\n"));
    CHECK(kith(asked + " -m 2").code == 0);
  }
  folder.write("i.csv", "0,1\n3,2\n1,2\n");
  folder.write("d.csv", "1,3\n1,3\n1,3.5\n");
  const string asked = "verify --device cpu" + both + " --found-index " + (folder / "i.csv");
  const Result rows = kith(asked + " --json");
  CHECK(rows.code == 1);
  CHECK(json::parse(rows.out)["results"][0]["queries_different"] == 1);
  CHECK(contains(rows.out, "query 2, place 1: row 3 at"));
  folder.write("i.csv", "0,1\n3,2\n1,3\n");
  CHECK(kith(asked).code == 0);
  const Result bits = kith(asked + " --found-distance " + (folder / "d.csv"));
  CHECK(bits.code == 1);
  CHECK(contains(bits.out, "DIFFERENT"));
  folder.write("i.csv", "0,1\n3,2\n");
  check_refused(asked + " -k 2", 2,
                "invalid_argument: verify: -k does not go with --found-index; leave one of them out");
  check_refused(asked, 2,
                "invalid_argument: verify: " + (folder / "i.csv") +
                    " is [2, 2], but there are 3 queries and 2 neighbours each in " + (folder / "i.csv") +
                    "; give the files of one search for all these queries");
}

TEST_CASE("verify --train: what does not go with it is refused") {
  const Folder folder;
  const string train = folder.write("train.csv", square), asked = "verify --device cpu ";
  check_refused(asked + "-k 1", 2, "invalid_argument: verify: -k goes with --train; give --train, too");
  check_refused(asked + "-m 0 --train " + train, 2,
                "invalid_argument: verify: -m = 0 is out of range; give a whole number of at least 1");
  check_refused(asked + "--label-column kind -k 5 --train " + train, 2,
                "invalid_argument: verify: k = 5 but " + train + " holds 4 rows; choose k from 1 to 4");
  check_refused(asked + "--stage search --train " + train, 2,
                "invalid_argument: verify: unknown option --stage; did you mean --scale?");
  check_refused("verify --how selector=radix --random-cases 3", 2,
                "invalid_argument: verify: --how selector goes with --train; give --train, too");
  check_refused(asked + "--label-column kind -k 1 --how proposer=none --train " + train, 2,
                "invalid_argument: verify: there is nothing beside the chain of cpu, which is the reference; "
                "choose another --reference, --device or proposer");
  check_refused("compare --csv header=no -n 9 --device cpu", 2,
                "invalid_argument: compare: --csv goes with --train; give --train, too");
  check_refused("compare --prepare arithmetic=f64 -n 9 --device cpu", 2,
                "invalid_argument: compare: --prepare goes with --train; give --train, too");
  check_refused(
      "compare --prepare categorical=1 -n 9 --device cpu", 2,
      "invalid_argument: compare: --prepare: there is no key \"categorical\"; choose one of arithmetic");
  check_refused(asked + "--csv header=perhaps --train " + train, 2,
                "invalid_argument: verify: --csv header: there is no \"perhaps\"; say yes or no");
  const Result absent = kith(asked + "--train " + (folder / "absent.csv"));
  CHECK(absent.code == 3);
  const Result metric =
      kith(asked + "--label-column kind -k 1 --metric l1 --how proposer=dot --train " + train);
  CHECK(metric.code == 6);
  CHECK(contains(metric.out, "cpu, dot: refused: search: "));
}

}  // namespace command_tests::test_command_certify
