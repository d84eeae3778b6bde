// With any number of ranks, kith-mpi writes the same bytes as kith, and fails with the same line
// and exit code.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/data_files.hpp"
#include "common/shell.hpp"

namespace {

namespace fs = command_tests::fs;
using command_tests::shell;
using kith::tests::data_files::bytes;
using kith::tests::data_files::npy;
using std::string;
using test_support::contains;

constexpr int rows = 203, cols = 5, asked = 11;

/// Returns `count` rows of values 0 to 4, so that nearly all distances tie.
template <class T>
string values(int count, int columns, unsigned seed, T add = 0) {
  std::mt19937 random(seed);
  string text;
  for (int i = 0; i < count * columns; ++i)
    text += bytes({static_cast<T>(static_cast<T>(random() % 5) + add)});
  return text;
}

string shape(int count, int columns) {
  return "(" + std::to_string(count) + ", " + std::to_string(columns) + ")";
}

/// Returns coordinates of a map, of which float32 loses digits that tell rows apart.
double coordinate(std::mt19937& random) {
  return 5334000 + static_cast<double>(random() % 100000) / 1000;
}

string map_values() {
  std::mt19937 random(12);
  string text;
  for (int i = 0; i < rows * cols; ++i) text += bytes({coordinate(random)});
  return text;
}

string map_text() {
  std::mt19937 random(12);
  string text = "a,b,c,d,e\n";
  for (int i = 0; i < rows * cols; ++i) {
    std::ostringstream cell;
    cell.precision(10);
    cell << coordinate(random);
    text += cell.str() + (i % cols == cols - 1 ? "\n" : ",");
  }
  return text;
}

/// Returns values of which no rank's part alone loses digits: two rows that differ, and whose float32 do not,
/// are the first and the last.
string halves() {
  string text;
  for (int r = 0; r < rows - 1; ++r) text += bytes({1.0 + r});
  return text + bytes({1.0 + 0x1p-40});
}

string csv(unsigned seed, int count, bool labels) {
  std::mt19937 random(seed);
  string text = labels ? "a,b,c,d,e,kind\n" : "a,b,c,d,e\n";
  for (int r = 0; r < count; ++r) {
    for (int c = 0; c < cols; ++c) text += (c ? "," : "") + std::to_string(random() % 5);
    text += labels ? "," + string(1, static_cast<char>('p' + random() % 3)) + "\n" : "\n";
  }
  return text;
}

/// Input files, and the folder that both programs write to.
class Files : public command_tests::Folder {
 public:
  Files() {
    const string some = values<float>(rows, cols, 1);
    write_all(
        {{"x.npy", npy("<f4", shape(rows, cols), some)},
         {"x8.npy", npy("|u1", shape(rows, cols), values<std::uint8_t>(rows, cols, 2))},
         {"x64.npy", npy("<f8", shape(rows, cols), values<double>(rows, cols, 3, 0.1))},
         {"map.npy", npy("<f8", shape(rows, cols), map_values())},
         {"map.csv", map_text()},
         {"halves.npy", npy("<f8", shape(rows, 1), halves())},
         {"xf.npy", npy("<f4", shape(rows, cols), some, true)},
         {"x.fbin", bytes<std::uint32_t>({rows, cols}) + some},
         {"cut.fbin", bytes<std::uint32_t>({rows, cols}) + some.substr(0, some.size() - 4)},
         {"long.npy", npy("<f4", shape(rows, cols), some + "more")},
         {"few.npy", npy("<f4", shape(2, cols), values<float>(2, cols, 4))},
         {"bad.npy",
          npy("<f4", shape(rows, cols), some.substr(0, some.size() - 8) + bytes({std::nanf(""), 1.0f}))},
         {"q.npy", npy("<f4", shape(asked, cols), values<float>(asked, cols, 5))},
         {"labels.npy", npy("<i8", "(" + std::to_string(rows) + ",)", values<std::int64_t>(rows, 1, 6))},
         {"truth.npy", npy("<i8", "(" + std::to_string(asked) + ",)", values<std::int64_t>(asked, 1, 7))},
         {"values.npy", npy("<f8", shape(rows, 2), values<double>(rows, 2, 8, 0.3))},
         {"weights.npy", npy("<f4", "(" + std::to_string(rows) + ",)", values<float>(rows, 1, 9))},
         {"x.csv", csv(10, rows, true)},
         {"q.csv", csv(11, asked, false)},
         {"filter.txt", "0\n3\n70\n71\n150\n202\n199\n64\n"}});
  }

  /// Runs `program ARGUMENTS` in a folder of its own. Returns what it prints, its exit code and its files.
  std::pair<command_tests::Result, std::vector<std::pair<string, string>>> run(
      const string& program, const string& arguments) const {
    const string folder = *this / "work";
    fs::remove_all(folder);
    fs::create_directory(folder);
    command_tests::Result result = shell("cd '" + folder + "' && " + program + " " + arguments);
    std::vector<std::pair<string, string>> written;
    for (const auto& file : fs::directory_iterator(folder))
      written.emplace_back(file.path().filename().string(), test_support::text_of_file(file.path().string()));
    std::sort(written.begin(), written.end());
    return {std::move(result), std::move(written)};
  }
};

/// Compares one process with one rank and three ranks. Commands that fail run with three ranks only, since
/// mpirun then takes longer to end.
void check_same(const Files& files, const string& arguments, int code) {
  CAPTURE(arguments);
  const auto by_one = files.run("\"$kith\"", arguments);
  const command_tests::Result& alone = by_one.first;
  CHECK(alone.code == code);
  CAPTURE(alone.err);
  for (const string ranks : {"1", "3"}) {
    if (ranks == "1" && code != 0) continue;
    CAPTURE(ranks);
    const auto [shared, also] =
        files.run(string(KITH_MPIRUN " -np ") + ranks + " '" KITH_MPI_COMMAND "'", arguments);
    CHECK(shared.code == code);
    CHECK(shared.out == alone.out);
    CHECK(also == by_one.second);
    // mpirun adds lines of its own.
    CHECK((code == 0 ? shared.err == alone.err : contains(shared.err, alone.err)));
    CHECK_FALSE(contains(shared.err, "interrupted"));
  }
}

/// Builds x.kidx from the rows of x.npy, and fewer.kidx without three of them.
void build_indexes(const Files& files) {
  const auto built = files.run("\"$kith\"",
                               "index build --device cpu --train ../x.npy --metric l1 --out ../x.kidx && "
                               "\"$kith\" index remove ../x.kidx --rows 0,9,202 --out ../fewer.kidx");
  REQUIRE(built.first.code == 0);
}

}  // namespace

TEST_CASE("mpi command: search") {
  const Files files;
  const string asked_by = "search --device cpu --queries ../q.npy ";
  check_same(files, asked_by + "--train ../x.npy -k 9 --out-index i.npy --out-distance d.fbin", 0);
  check_same(files, asked_by + "--train ../x.fbin -k 7 --metric negative_dot --filter ../filter.txt --json",
             0);
  check_same(files, asked_by + "--train ../x64.npy -k 203 --metric cosine --out-index -", 0);
  check_same(files, asked_by + "--train ../x8.npy --radius 3 --features 0-2 --out-index i.csv", 0);
  check_same(files, asked_by + "--train ../few.npy -k 2", 0);  // fewer rows than ranks
  build_indexes(files);
  check_same(files, asked_by + "--index ../x.kidx -k 7 --filter ../filter.txt --out-index i.npy", 0);
  check_same(files, asked_by + "--index ../fewer.kidx -k 9 --out-index i.npy --out-distance d.npy", 0);
  check_same(files, "search --device cpu --index ../x.kidx --leave-one-out -k 4 --out-index i.txt", 0);
  check_same(files, "search --device cpu --train ../xf.npy --leave-one-out -k 4 --out-index i.txt", 0);
  check_same(files,
             "search --device cpu --train ../x.csv --label kind --queries ../q.csv --scale standardize", 0);
}

TEST_CASE("mpi command: double precision") {
  const Files files;
  const string others = "search --device cpu --leave-one-out -k 4 --out-index i.npy --out-distance d.npy ";
  const string asked = " --queries ../map.npy --out-index i.csv --out-distance d.csv ";
  check_same(files, others + "--train ../map.npy", 0);
  check_same(files, others + "--train ../map.csv --metric l1", 0);
  check_same(files, "search --device cpu --train ../map.npy -k 7" + asked, 0);
  check_same(files, "search --device cpu --train ../map.csv --radius 3 --json --queries ../map.npy", 0);
  check_same(files, "search --device cpu --train ../map.npy --radius 20.1 --filter ../filter.txt" + asked, 0);
  check_same(files, "search --device cpu --train ../map.npy --prepare arithmetic=f32 -k 7" + asked, 0);
  check_same(files,
             "search --device cpu --train ../x8.npy --prepare arithmetic=f64 -k 9 --json --queries ../q.npy",
             0);
  check_same(files, "search --device cpu --train ../halves.npy -k 3 --query 1 --json", 0);
  check_same(files, "groundtruth --device cpu --train ../map.npy --queries ../map.npy -k 5 --out g.ibin", 0);
  const string votes = " --device cpu --train ../map.npy --queries ../map.npy --votes weights=distance ";
  check_same(
      files,
      "classify" + votes +
          "--labels ../labels.npy --truth ../labels.npy --k-sweep 1,3,9 -k 5 --proba p.csv --out l.npy",
      0);
  check_same(files, "classify" + votes + "--labels ../labels.npy --radius 20.5 --out l.csv", 0);
  check_same(files, "regress" + votes + "--values ../values.npy --out v.npy", 0);
  REQUIRE(
      files.run("\"$kith\"", "index build --device cpu --train ../map.npy --out ../map.kidx").first.code ==
      0);
  check_same(files, "search --device cpu --index ../map.kidx -k 7" + asked, 0);
  check_same(files, "search --device cpu --index ../map.kidx --radius 20.1" + asked, 0);
}

TEST_CASE("mpi command: metrics with parameters") {
  const Files files;
  const string asked = " --device cpu --queries ../q.npy --train ../x.npy ",
               power = "--metric minkowski --metric-params '{\"p\": 3}' ";
  check_same(files, "search" + asked + power + "-k 9 --out-index i.npy --out-distance d.npy", 0);
  check_same(files,
             "search" + asked +
                 "--metric gower --metric-params '{\"categorical\": [1], \"ranges\": [4, 0, 2.5, 3, 4]}' "
                 "--radius 0.3 --out-index i.csv --out-distance d.csv",
             0);
  check_same(files,
             "classify" + asked + power +
                 "--labels ../labels.npy --truth ../truth.npy --votes weights=distance --k-sweep 1,5 -k 5 "
                 "--proba p.csv --out l.npy",
             0);
  check_same(files, "regress" + asked + "--metric matching --values ../values.npy -k 5 --json", 0);
  const auto built =
      files.run("\"$kith\"", "index build --device cpu --train ../x.npy " + power + "--out ../p.kidx");
  REQUIRE(built.first.code == 0);
  check_same(files, "search --device cpu --index ../p.kidx --queries ../q.npy -k 7 --out-distance d.npy", 0);
}

TEST_CASE("mpi command: classify, regress and groundtruth") {
  const Files files;
  const string by = " --device cpu --train ../x.npy --queries ../q.npy ", votes = "--labels ../labels.npy ";
  build_indexes(files);
  check_same(files,
             "classify --device cpu --index ../x.kidx --queries ../q.npy " + votes + "-k 5 --out l.npy", 0);
  check_same(files,
             "classify" + by + votes +
                 "--k-sweep 1,3,9 -k 5 --votes weights=distance,sample-weights=../weights.npy --truth "
                 "../truth.npy --proba p.csv --out l.npy",
             0);
  check_same(files, "classify" + by + votes + "--radius 2 --out l.csv", 0);
  check_same(files, "classify" + by + votes + "--truth ../truth.npy --expect 1", 1);
  check_same(files, "classify --device cpu --train ../x.csv --label kind --leave-one-out --save-model m.kith",
             0);
  check_same(files, "regress" + by + "--values ../values.npy --out v.npy", 0);
  check_same(files, "regress" + by + "--values ../values.npy --radius 2.5 --json", 0);
  check_same(files, "groundtruth" + by + "-k 7 --out g.ibin", 0);
}

TEST_CASE("mpi command: errors are those of kith") {
  const Files files;
  const string asked_by = "search --device cpu --queries ../q.npy --out-index i.npy --train ";
  check_same(files, asked_by + "../bad.npy", 3);
  check_same(files, asked_by + "../cut.fbin", 3);
  check_same(files, asked_by + "../long.npy", 3);
  check_same(files, asked_by + "../none.npy", 3);
  check_same(files, asked_by + "../x.npy -k 204", 2);
  check_same(files, asked_by + "../x.npy --unknown", 2);
  check_same(files, "search --device cpu --queries ../q.npy --train ../x.npy --out-index none/i.npy", 3);
  check_same(files, "search --device nothing --queries ../q.npy --train ../x.npy", 2);
  check_same(files, "classify --device cpu --queries ../q.npy --train ../x.npy --labels ../truth.npy", 2);
}

TEST_CASE("mpi command: what it refuses alone") {
  const Files files;
  const auto refused = [&](const string& arguments, const string& line) {
    const auto [result, written] = files.run(KITH_MPIRUN " -np 2 '" KITH_MPI_COMMAND "'", arguments);
    const string& err = result.err;
    CAPTURE(err);
    CHECK(result.code == 2);
    CHECK(contains(err, "kith: invalid_argument: " + line + "\n"));
    CHECK(written.empty());
  };
  refused("devices",
          "devices: ranks do not share it; use `kith devices`. kith-mpi has search, classify, regress and "
          "groundtruth");
  refused("search --train - --read format=csv --queries ../q.npy",
          "search: --train -: mpirun gives stdin to rank 0 alone, and every rank reads; name a file");
}

TEST_CASE("mpi command: ranks that see other files or were told other things") {
  const Files files;
  const string some = values<float>(rows, cols, 1),
               search = "search --device cpu --train x.fbin --queries q.npy";
  const string unlike =
      "mpi: the ranks were given different commands or different files; give every rank the same";
  const auto refused = [&](const string& first, const string& second, int code, const string& line) {
    CAPTURE(line);
    const string each =
        " -np 1 sh -c 'cd ../$OMPI_COMM_WORLD_RANK && exec \"$@\"' sh '" KITH_MPI_COMMAND "' ";
    const auto [result, written] = files.run("timeout 40 " KITH_MPIRUN, each + first + " :" + each + second);
    const string& err = result.err;
    CAPTURE(err);
    CHECK(result.code == code);
    CHECK(contains(err, "kith: " + line + "\n"));
  };
  const auto x_of_rank_1 = [&](std::uint32_t n, std::uint32_t columns) {
    files.write_all(
        {{"1/x.fbin", bytes<std::uint32_t>({n, columns}) + some.substr(0, n * columns * sizeof(float))}});
  };
  for (const string rank : {"0", "1"}) {
    fs::create_directory(files / rank);
    files.write_all({{rank + "/q.npy", npy("<f4", shape(asked, cols), values<float>(asked, cols, 5))},
                     {rank + "/x.fbin", bytes<std::uint32_t>({rows, cols}) + some}});
  }
  refused(search + " -k 3", search + " -k 4", 2,
          "invalid_argument: mpi: rank 0 and rank 1 were given different k; give every rank the same");
  refused(search + " -k 3", "search --help", 2, "invalid_argument: " + unlike);
  refused("--version", search + " -k 3", 2, "invalid_argument: " + unlike);
  refused(search + " -k 3", search + " --radius 2", 2, "invalid_argument: " + unlike);
  refused(search, search + " --unknown", 2,
          "invalid_argument: search: unknown option --unknown; see `kith search --help`");
  x_of_rank_1(rows - 1, cols);
  refused(search, search, 2,
          "invalid_argument: mpi: this rank sees 202 training rows, and the ranks read 203 in all; give "
          "every rank the same files");
  x_of_rank_1(rows, cols - 1);
  refused(search, search, 2, "invalid_argument: " + unlike);
  fs::remove(files / "1/x.fbin");
  refused(search, search, 3, "bad_file: x.fbin: cannot be read: No such file or directory; check the name");
}

TEST_CASE("mpi command: one rank has another device that is not there") {
  const Files files;
  const auto [shared, written] =
      files.run(KITH_MPIRUN " -np 2 '" KITH_MPI_COMMAND "'",
                "search --device cpu,nothing --train ../x.npy --queries ../q.npy --out-index i.npy");
  const auto alone =
      files.run("\"$kith\"", "search --device nothing --train ../x.npy --queries ../q.npy").first;
  CHECK(shared.code == alone.code);
  CHECK(contains(shared.err, alone.err));
  CHECK(written.empty());
}
