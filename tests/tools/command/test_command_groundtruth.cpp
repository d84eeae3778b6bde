// Runs kith groundtruth and kith recall as users do: files are compared byte for byte, and scores were worked
// out by hand.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"
#include "paths.hpp"
#include "tools/files/zip_file.hpp"

namespace command_tests::test_command_groundtruth {

using namespace std::string_literals;
using nlohmann::json;

namespace {

template <class T>
string bytes(std::initializer_list<T> values) {
  string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), std::data(values), text.size());
  return text;
}

string bin(std::uint32_t rows, std::uint32_t cols, const string& data) {
  return bytes<std::uint32_t>({rows, cols}) + data;
}

/// Six rows lie on a line, and two queries among them. The second query has ties at its 2nd and 3rd distance.
const string base = bin(6, 1, "\x00\x02\x05\x09\x0b\xff"s);
const string asked = bin(2, 1, "\x01\x0a"s);
const string rows = bytes<std::int32_t>({0, 1, 2, 3, 4, 2});
const string squared = bytes<float>({1, 1, 16, 1, 1, 25});

string train_and_queries(const Folder& folder) {
  return "--device cpu --train " + folder.write("base.u8bin", base) + " --queries " +
         folder.write("query.u8bin", asked);
}

}  // namespace

TEST_CASE("groundtruth: what big-ann-benchmarks reads, byte for byte") {
  const Folder folder;
  const string out = folder / "gt.ibin", told = "groundtruth " + train_and_queries(folder) + " -k 3 --out ";
  const Result with = kith(told + out);
  REQUIRE_MESSAGE(with.code == 0, with.err);
  CHECK(with.out.empty());
  CHECK(with.err == "kith: note: wrote " + out + " (56 B)\n");
  CHECK(folder.read("gt.ibin") == bin(2, 3, rows + squared));
  CHECK(kith(told + out + " --no-distances --quiet").code == 0);
  CHECK(folder.read("gt.ibin") == bin(2, 3, rows));
  CHECK(kith(told + "- --quiet").out == bin(2, 3, rows + squared));
  CHECK(kith(told + out + " --metric l1 --quiet").code == 0);
  CHECK(folder.read("gt.ibin") == bin(2, 3, rows + bytes<float>({1, 1, 4, 1, 1, 5})));
  CHECK(kith(told + out + " --quiet --filter " + folder.write("some.csv", "0\n2\n3\n")).code == 0);
  CHECK(folder.read("gt.ibin") ==
        bin(2, 3, bytes<std::int32_t>({0, 2, 3, 3, 2, 0}) + bytes<float>({1, 16, 64, 1, 25, 100})));
  const string proved = out_of(told + out + " --quiet --certify");
  CHECK(!proved.empty());
  check_refused(told + "gt.csv", 2,
                "invalid_argument: gt.csv: is no name of ground truth, which ends in .ibin or .bin; rows and "
                "distances apart, as .ivecs, .npy or .csv, are written by kith search --out-index and "
                "--out-distance");
  check_refused("groundtruth " + train_and_queries(folder) + " -k 7 --out " + out, 2,
                "invalid_argument: groundtruth: k = 7 but " + (folder / "base.u8bin") +
                    " holds 6 rows; choose k from 1 to 6");
}

TEST_CASE("recall: of a file, as text, JSON, CSV and a page") {
  const Folder folder;
  const string truth = folder.write("gt.ibin", bin(2, 3, rows + squared));
  // All rows of the first query were found; of the second query only its second row, and one wrong row twice.
  const string found = folder.write("ann.ibin", bin(2, 2, bytes<std::int32_t>({1, 0, 5, 4})));
  const string told = "recall --truth " + truth + " --found " + found;
  const string text = out_of(told);
  CHECK(text ==
        found + " against " + truth +
            ": 2 queries\n\nrecall@2 = 0.7500 (3 of 4)\nno query has further rows at the distance of "
            "neighbour 2\n\n"
            "  recall@2  queries   share\n         1        1  0.5000\n0.5 to 0.6        1  0.5000\n");
  const json parsed = json::parse(kith(told + " --json").out);
  CHECK(parsed == json::parse(R"({"truth": ")" + truth + R"(", "found_by": ")" + found + R"(", "queries": 2,
    "k": 2, "recall": 0.75, "neighbors_found": 3, "complete": 1, "worst": 1, "truth_has_distances": true,
    "found_by_tie": 0, "tied_queries": 0, "open_ties": 0, "found": [2, 1]})"));
  // Two rows are nearest to the first query, and the other one was found.
  const Result files =
      kith(told + " -k 1 --quiet --table " + (folder / "r.csv") + " --report " + (folder / "r.html"));
  CHECK(files.code == 0);
  CHECK(folder.read("r.csv") == "query,found,recall\r\n0,1,1.0\r\n1,0,0.0\r\n");
  const string page = folder.read("r.html");
  for (const char* part : {"50.00 % <small>recall@1</small>", "recall@1 of the queries, the worst first",
                           "How many queries have which recall", "<h2>Command</h2>"})
    CHECK_MESSAGE(contains(page, part), part);
  CHECK(!contains(page, "How it was done"));
  CHECK(kith(told + " --at-least 0.75 --quiet").code == 0);
  const Result less = kith(told + " --at-least 0.76 --quiet");
  CHECK(less.code == 1);
  CHECK(less.err == "kith: recall: 0.75 is below --at-least 0.76\n");
  check_refused(
      told + " -k 3", 2,
      "invalid_argument: recall: -k 3 but " + found + " has 2 neighbours of each query; give 2 or fewer");
  const string one = folder.write("one.csv", "1,2\n");
  check_refused("recall --truth " + truth + " --found " + one, 2,
                "invalid_argument: recall: " + truth + " has 2 queries but " + one +
                    " has 1; both must be about the same ones");
}

TEST_CASE("recall: a truth is its own answer, in every format, by every way") {
  const Folder folder;
  const string question = train_and_queries(folder), truth = folder / "gt.bin";
  REQUIRE(kith("groundtruth " + question + " -k 3 --quiet --out " + truth).code == 0);
  for (const string ending : {"ivecs", "npy", "csv", "tsv", "txt", "ibin"}) {
    CAPTURE(ending);
    const string found = folder / ("found." + ending);
    REQUIRE(kith("search " + question + " -k 3 --quiet --out-index " + found).code == 0);
    for (const string& pair :
         {" --truth " + truth + " --found " + found, " --truth " + found + " --found " + truth})
      CHECK(json::parse(kith("recall --json" + pair).out)["recall"] == 1.0);
  }
}

TEST_CASE("groundtruth: of ann-benchmarks' HDF5, where kith was built with it") {
  if (!fs::exists(fs::path(test_support::command_path()).parent_path() / "kith-read-hdf5")) return;
  const Folder folder;
  const string seeds = test_support::in_sources("/tests/fuzz/seeds/hdf5/");
  const string both = folder.write("toy.hdf5", test_support::text_of_file(seeds + "plain"));
  const string told =
      "groundtruth --device cpu --quiet --train " + both + " --queries " + both + " -k 2 --out -";
  const Result found = kith(told);
  CHECK(found.err.empty());
  CHECK(found.out == bin(1, 2, bytes<std::int32_t>({1, 0}) + bytes<float>({0, 46.25f})));
  CHECK(kith(told + " --read query-array=train").out ==
        bin(2, 2, bytes<std::int32_t>({0, 1, 1, 0}) + bytes<float>({0, 46.25f, 0, 46.25f})));
  check_refused(told + " --read array=x", 2,
                "invalid_argument: " + both + ": has no array called \"x\"; it has \"test\", \"train\"");
}

TEST_CASE("groundtruth: the commands of its how-to page") {
  const Folder folder;
  // There are 120 rows of 4 bytes and 3 queries, in the formats of each program.
  string base_bytes, base_floats, query_floats;
  for (int row = 0; row < 120; ++row) {
    base_floats += bytes<std::int32_t>({4});
    for (int c = 0; c < 4; ++c) {
      const int value = (row * 37 + c * 53 + row * row) % 251;
      base_bytes += static_cast<char>(value);
      base_floats += bytes<float>({static_cast<float>(value)});
    }
  }
  const string query_bytes = base_bytes.substr(40, 12);
  folder.write("sift_base.fvecs", base_floats);
  folder.write("sift_query.fvecs", base_floats.substr(200, 60));
  folder.write("base.u8bin", bin(120, 4, base_bytes));
  folder.write("query.u8bin", bin(3, 4, query_bytes));
  const auto npy = [](const string& shape, const string& data) {
    const string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
    return "\x93NUMPY\1\0"s + bytes<std::uint16_t>({static_cast<std::uint16_t>(header.size())}) + header +
           data;
  };
  const auto in_folder = [&](string line) {
    line.replace(0, 4, "\"$kith\"");
    const string device = contains(line, " recall ") ? "" : " --device cpu";
    return shell("cd '" + folder.path() + "' && " + line + device);
  };
  for (const char* found : {"found.ivecs", "ann.ibin"})
    REQUIRE(
        in_folder("kith search --train base.u8bin --queries query.u8bin -k 20 --out-index " + string(found))
            .code == 0);
  // The ground truth names the ten nearest rows of each query.
  REQUIRE(in_folder("kith search --train base.u8bin --queries query.u8bin -k 10 --out-index n.npy").code ==
          0);
  const string neighbors = folder.read("n.npy");
  folder.write("toy.npz", test_support::zip({{"neighbors.npy", neighbors, true},
                                             {"test.npy", npy("(3, 4)", query_bytes)},
                                             {"train.npy", npy("(120, 4)", base_bytes), true}}));
  const string page = test_support::text_of_file(test_support::in_sources("/docs/howto/ground-truth.md"));
  int ran = 0;
  for (std::size_t at = page.find("\nkith "); at != string::npos; at = page.find("\nkith ", at + 1)) {
    const string line = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    CAPTURE(line);
    const Result result = in_folder(line);
    CHECK_MESSAGE(result.code == 0, result.err);
    if (contains(line, " recall ")) CHECK(contains(result.out, "recall@10 = 1.0000 (30 of 30)\n"));
    ++ran;
  }
  CHECK(ran == 8);
}

}  // namespace command_tests::test_command_groundtruth
