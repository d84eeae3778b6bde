// Tests the note on whole numbers that doubles round: unix nanoseconds and other numbers beyond 2^53.
// All cases run on the CPU.
#include "tools/command/text/map_points.hpp"

namespace command_tests::test_command_wholes {
namespace {

const string since =
    ", since doubles hold all whole numbers up to 2^53 alone; subtract an offset beforehand, the same "
    "from rows and queries";
const string drop = ", or leave the column out by --drop";

/// Returns an array of int64, [rows, 1], as NumPy writes it.
string nanoseconds(const std::vector<std::int64_t>& values) {
  string file = npy_of(std::vector<double>(3 * values.size())).substr(0, 128);
  file.replace(file.find("<f8"), 3, "<i8").replace(file.find(", 3), }"), 7, ", 1), }");
  return file + string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
}

}  // namespace

TEST_CASE("wholes: rows and queries that doubles round are told with their place, and what to do") {
  const Folder folder;
  const std::int64_t day = 1'700'000'000'000'000'000;
  const string array = folder.write("t.npy", nanoseconds({day, day + 1, day + 999})),
               text = folder.write("t.csv",
                                   "t\n1700000000000000000\n1700000000000000001\n1700000000000000999\n");
  for (const string& file : {array, text}) {
    const string column = file == text ? "column 1 (t)" : "column 0";
    const string rows = file + ": row 1, " + column + ": 1700000000000000001 becomes 1700000000000000000" +
                        since + drop + "\n";
    const string search = "search --device cpu -k 1 --train " + file;
    const Result found = kith(search + " --query 1700000000000000002");
    CHECK(found.code == 0);
    CHECK(contains(found.err, rows));
    CHECK(contains(found.err, "note: --query 1: " + column +
                                  ": 1700000000000000002 becomes 1700000000000000000" + since + drop + "\n"));
    const Result same = kith(search + " --queries " + file);
    CHECK(same.err.find(rows) != same.err.rfind(rows));  // of the rows, and of the queries
    CHECK(contains(kith(search + " --query 1 --prepare arithmetic=f64").err, rows));
    CHECK(contains(kith("index build --device cpu --train " + file + " --out " + (folder / "i.kidx")).err,
                   rows));
    CHECK(contains(
        kith("search --device cpu -k 1 --query 1700000000000000003 --index " + (folder / "i.kidx")).err,
        ": 1700000000000000003 becomes 1700000000000000000" + since + drop + "\n"));
    // Here there is no --drop, which would be advised in vain.
    CHECK(contains(kith("groundtruth --device cpu -k 1 --train " + file + " --queries " + file + " --out " +
                        (folder / "g.ibin"))
                       .err,
                   since + "\n"));
    CHECK(!contains(kith(search + " --query 1 --prepare arithmetic=f32").err, "2^53"));
  }
  const string wide = folder.write("w.csv", "t,x\n1700000000000000001,1\n1700000000000000002,2\n");
  CHECK(!contains(
      kith("search --device cpu -k 1 --leave-one-out --prepare arithmetic=f64 --drop t --train " + wide).err,
      "2^53"));
}

TEST_CASE("wholes: those that doubles hold are not told") {
  const Folder folder;
  const std::int64_t most = std::int64_t{1} << 53;
  const string array = folder.write("t.npy", nanoseconds({most, -most, most + 2, most + 4})),
               text =
                   folder.write("t.csv", "t\n9007199254740992\n9007199254740994\n1e30\n9007199254740993.0\n");
  for (const string& file : {array, text}) {
    const Result found =
        kith("search --device cpu -k 1 --leave-one-out --prepare arithmetic=f64 --train " + file);
    CHECK(found.code == 0);
    CHECK(found.err.empty());
  }
}

}  // namespace command_tests::test_command_wholes
