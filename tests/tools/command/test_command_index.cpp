// Runs kith index, and commands with --index instead of --train, as users do.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests::test_command_index {

using nlohmann::json;

namespace {

/// Writes twelve rows of bytes and four queries, with labels and values.
struct IndexFiles {
  Folder folder;
  string train = folder.write("base.u8bin", bin(12, 3)), queries = folder.write("query.u8bin", bin(4, 3, 50));
  string labels = folder.write("labels.csv", "0\n1\n2\n0\n1\n2\n0\n1\n2\n0\n1\n2\n");
  string values = folder.write("values.csv", "1\n2\n4\n8\n16\n3\n9\n27\n5\n25\n7\n49\n");
  string index = folder / "base.kidx";

  static string bin(std::uint32_t rows, std::uint32_t cols, unsigned shift = 0) {
    string text(8, '\0');
    text[0] = static_cast<char>(rows);
    text[4] = static_cast<char>(cols);
    for (unsigned i = 0; i < rows * cols; ++i) text += static_cast<char>((i * i * 37 + shift) % 251 + 1);
    return text;
  }
  void build(const string& options = "") const {
    const Result built = kith("index build --train " + train + " --out " + index + " " + options);
    REQUIRE_MESSAGE(built.code == 0, built.err);
    CHECK(contains(built.err, "kith: note: wrote " + index));
    CHECK(built.out.empty());
  }
};

/// Checks that a question has the same answer with the rows and with their index.
void check_same(const IndexFiles& files, const string& subcommand, const string& options,
                const string& metric) {
  CAPTURE_ALL(subcommand, metric);
  const Result rows =
      kith(subcommand + " --device cpu --train " + files.train + " --metric " + metric + " " + options);
  const Result index = kith(subcommand + " --device cpu --index " + files.index + " " + options);
  REQUIRE_MESSAGE(rows.code == 0, rows.err);
  CHECK_MESSAGE(index.code == 0, index.err);
  CHECK(index.out == rows.out);
}

}  // namespace

TEST_CASE("index: questions by --index have the answers of --train") {
  const IndexFiles files;
  const string asked = " --queries " + files.queries;
  for (const string metric : {"l2", "l1", "cosine", "negative_dot"}) {
    files.build("--metric " + metric);
    check_same(files, "search", "-k 5" + asked, metric);
    check_same(files, "search", "--query 3,9,27 -k 2", metric);
    check_same(files, "classify", "-k 3 --labels " + files.labels + asked, metric);
    check_same(files, "regress", "-k 3 --values " + files.values + asked, metric);
    const string truth = files.folder / "truth.ibin";
    check_same(files, "groundtruth", "-k 4 --quiet --out -" + asked, metric);
    if (metric == "cosine") continue;
    check_same(files, "search", "-k 5 --leave-one-out", metric);
    check_same(files, "graph", "-k 5 --quiet --out - --write format=csv", metric);
  }
}

TEST_CASE("index: a periodic box, of rows, of an index and of the rows of an index") {
  const IndexFiles files;
  const string near = files.folder.write("near.csv", "x,y,z\n0.1,5,1\n9.9,5,8\n5,5,-1\n"),
               asked = files.folder.write("asked.csv", "x,y,z\n-0.2,5,11\n"), box = " --box 10,0,10 ";
  const string train = "search --device cpu --train " + near + " --queries " + asked + " -k 3 --json";
  const auto rows_of = [](const string& options) {
    const json all = json::parse(kith(options).out);
    std::vector<int> rows;
    for (const json& one : all["results"][0]["neighbors"]) rows.push_back(one["row"]);
    return rows;
  };
  CHECK(rows_of(train + box) == std::vector<int>{0, 1, 2});
  const string index = files.folder / "near.kidx";
  CHECK(kith("index build --train " + near + box + "--out " + index).code == 0);
  CHECK(json::parse(kith("index info " + index + " --json").out)["periodic"] == true);
  CHECK(contains(kith("index info " + index).out, "its rows are in a periodic box"));
  CHECK(rows_of("search --device cpu --index " + index + " --queries " + asked + " -k 3 --json") ==
        std::vector<int>{0, 1, 2});
  CHECK(kith("index add " + index + " --train " + asked).code == 0);
  CHECK(rows_of("search --device cpu --index " + index + " --queries " + asked + " -k 2 --json") ==
        std::vector<int>{3, 0});
  const string graph = "graph --device cpu -k 1 --quiet --out - --write format=csv,header=no ";
  const string of_rows = kith(graph + "--train " + near + box).out;
  CHECK(of_rows == "1\n0\n1\n");
  CHECK(kith(graph + "--train " + near + " --features x,z --box 10,10").out == of_rows);
  const string small = files.folder / "small.kidx";
  CHECK(kith("index build --train " + near + " --features z,x --box 10,10 --out " + small).code == 0);
  CHECK(kith(graph + "--index " + small).out == of_rows);
  CHECK(contains(kith(train + " --box 10,x,0").err,
                 "search: --box: \"x\" is no length; give a number, or 0 for an open column"));
  CHECK(contains(kith(train + " --box 10,0").err, "the box has 2 lengths for rows of 3 columns"));
  CHECK(contains(kith("search --index " + index + " -k 1 --query 1,2,3" + box).err, "leave --box out"));
}

TEST_CASE("index: features, bits, and rows that are added") {
  const IndexFiles files;
  files.build("--metric l1 --features 2,0");
  const string asked = " --queries " + files.queries;
  CHECK(kith("search --device cpu --index " + files.index + " -k 5" + asked).out ==
        kith("search --device cpu --train " + files.train + " -k 5 --metric l1 --features 0,2" + asked).out);
  CHECK(kith("graph --device cpu --index " + files.index + " -k 5 --out - --quiet").out ==
        kith("graph --device cpu --train " + files.train + " -k 5 --metric l1 --features 0,2 --out - --quiet")
            .out);
  const string larger = files.folder / "larger.kidx", before = files.folder.read("base.kidx");
  const string added = "index add " + files.index + " --quiet --train " + files.queries;
  CHECK(kith(added + " --out " + larger).code == 0);
  CHECK(files.folder.read("base.kidx") == before);
  CHECK(kith(added).code == 0);
  CHECK(files.folder.read("base.kidx") == files.folder.read("larger.kidx"));
  const json info = json::parse(kith("index info " + larger + " --json --verify").out);
  CHECK(info["rows"] == 16);
  CHECK(info["features"] == 2);
  CHECK(info["element"] == "u8");
  CHECK(info["verified"] == true);
  const Result own = kith("search --device cpu --index " + larger + " -k 1 --out-index - --quiet" + asked);
  CHECK(own.out == "neighbor_1\n12\n13\n14\n15\n");

  const string changed = files.folder / "changed.kidx";
  CHECK(kith("index remove " + larger + " --rows 12,0 --quiet --out " + changed).code == 0);
  CHECK(contains(kith("index info " + changed).out, "14 rows of 3 columns, of which 2 count"));
  CHECK(contains(kith("index info " + changed).out,
                 "2 removed rows take their place until `kith index compact`"));
  const auto nearest = [&](const string& file) {
    return kith("search --device cpu --index " + file + " -k 14 --out-index - --write header=no --quiet" +
                asked)
        .out;
  };
  const string found = nearest(changed);
  CHECK(!contains(found, "12"));
  CHECK(contains(found, "13"));
  CHECK(kith("index compact " + changed + " --quiet").code == 0);
  CHECK(json::parse(kith("index info --json " + changed).out)["removed"] == 0);
  CHECK(json::parse(kith("index info --json " + changed).out)["next_row"] == 16);
  CHECK(nearest(changed) == found);
  check_refused("index remove " + changed + " --rows 12", 2,
                "invalid_argument: index: there is no row 12 to remove, or it was removed before; name rows "
                "that are there, of which the next would be 16");
  check_refused("classify --index " + changed + " -k 1 --labels " + files.labels + asked, 6,
                "unsupported: classify: " + changed +
                    ": rows were removed or have ids of their own, and files that belong to rows go by their "
                    "order; leave --labels out, or use the library");

  files.build("--metric hamming --read element=bits");
  check_same(files, "search", "-k 4 --read element=bits" + asked, "hamming");
  CHECK(kith("search --device cpu --index " + files.index + " -k 4" + asked).out ==
        kith("search --device cpu --index " + files.index + " -k 4 --read element=bits" + asked).out);
  CHECK(json::parse(kith("index info --json " + files.index).out)["dims"] == 24);
}

TEST_CASE("index: what it holds, for people") {
  const IndexFiles files;
  files.build();
  const string info = out_of("index info " + files.index + " --verify");
  CHECK(info == files.index + ": 12 rows of 3 columns, l2, 4.1 KiB\n" +
                    "section  element  offset  bytes\n"
                    "rows     u8         4096     36\n"
                    "every byte is as its checksums say\n");
}

TEST_CASE("index: what does not go together, word for word") {
  const IndexFiles files;
  files.build("--metric cosine");
  const auto refused = [&](const string& words, int code, const string& message) {
    check_refused(words, code, message);
  };
  const string asked = " --queries " + files.queries;
  refused("index build --train " + files.train, 2,
          "invalid_argument: index build: --out is missing; see `kith index --help`");
  refused("index info " + files.index + " --train " + files.train, 2,
          "invalid_argument: index info: --train means nothing to it; leave it out");
  refused("index ad " + files.index, 2,
          "invalid_argument: index: there is no \"ad\"; choose one of build, info, add, remove, compact");
  refused("search -k 1" + asked, 2,
          "invalid_argument: search: there are no training rows; give --train FILE or --index FILE");
  refused("search -k 1 --metric l1 --index " + files.index + asked, 2,
          "invalid_argument: search: --index and --metric are both given, but an index has its rows, their "
          "columns and their metric; leave --metric out");
  refused("classify -k 1 --index " + files.index + asked, 2,
          "invalid_argument: classify: an index has no labels; give --labels FILE");
  refused("graph -k 1 --out x.npy --index " + files.index, 6,
          "unsupported: graph: " + files.index +
              ": an index of cosine holds unit rows, which are not the rows that were given; give these by "
              "--train");
  refused("search -k 13 --index " + files.index + asked, 2,
          "invalid_argument: search: k = 13 but " + files.index + " holds 12 rows; choose k from 1 to 12");
  refused("search -k 1 --index " + files.train + asked, 3,
          "bad_file: index file: " + files.train +
              ": byte 0: this is no index of kith; name a file that kith wrote as .kidx");
  string damaged = files.folder.read("base.kidx");
  damaged[4100] = static_cast<char>(damaged[4100] ^ 1);
  files.folder.write("base.kidx", damaged);
  CHECK(kith("index info " + files.index).code == 0);
  const string why = "bad_file: index file: " + files.index +
                     ": byte 4096: the checksum of the 144 bytes from here on does not match; the file is "
                     "damaged: copy it again";
  refused("index info --verify " + files.index, 3, why);
  refused("search --device cpu -k 1 --index " + files.index + asked, 3, why);
}

}  // namespace command_tests::test_command_index
