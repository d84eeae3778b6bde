// Tests .npz files: arrays by name, and hostile files.
#include "common/data_files.hpp"
#include "tools/files/zip_file.hpp"

using namespace test_support;
using namespace kith::tests::data_files;

namespace {

const string first = npy("<f4", "(2, 2)", bytes<float>({1, 2, 3, 4}));
const string second = npy("|u1", "(3, 1)", "\5\6\7");

ReadOptions array_called(const string& name) {
  ReadOptions options;
  options.array = name;
  return options;
}

/// Returns the file with `bytes` at place `at`.
string with(string file, std::size_t at, const string& bytes) {
  return file.replace(at, bytes.size(), bytes);
}

}  // namespace

TEST_CASE("files: .npz, stored and deflated, by name") {
  const Folder folder;
  for (const bool packed : {false, true})
    for (const bool zip64 : {false, true}) {
      CAPTURE_ALL(packed, zip64);
      const string both =
          zip({{"notes.txt", "hello"}, {"a.npy", first, packed}, {"b.npy", second, packed}}, zip64);
      const Told taken = told(folder, "t.npz", both);
      CHECK(taken.table.values == Floats{1, 2, 3, 4});
      CHECK(taken.notes ==
            "t.npz: the first of its arrays, \"a\", is taken; it has \"a\", \"b\"; --read array=, or --read "
            "query-array= for queries, says otherwise\n");
      CHECK(folder.table("t.npz", both, array_called("b")).values == Floats{5, 6, 7});
      ReadOptions usual;
      usual.usual_array = "b";
      CHECK(told(folder, "t.npz", both, usual).notes == "");
      CHECK(folder.table("t.npz", both, usual).values == Floats{5, 6, 7});
      usual.usual_array = "test";
      CHECK(folder.table("t.npz", both, usual).values == Floats{1, 2, 3, 4});
      LabelOptions labels;
      labels.array = "b";
      CHECK(folder.labels("t.npz", both, labels) == Labels{{5, 6, 7}, {}});
      ValueOptions values;
      values.array = "b";
      CHECK(read_values(folder.write("t.npz", both), values).values == std::vector<double>{5, 6, 7});
      CHECK(folder.table_error("t.npz", both, array_called("c")) ==
            "invalid_argument: t.npz: has no array called \"c\"; it has \"a\", \"b\"");
      const Told alone = told(folder, "t.npz", zip({{"a.npy", first, packed}}, zip64));
      CHECK(alone.table.values == Floats{1, 2, 3, 4});
      CHECK(alone.notes == "");
    }
  // The array takes several reads, and the file has a comment at its end.
  std::string wide;
  for (int i = 0; i < 300000; ++i) wide += static_cast<char>(i * 7 % 251);
  const string large = zip({{"w.npy", npy("|u1", "(3, 100000)", wide), true}});
  const Table table = folder.table("w.npz", with(large, large.size() - 2, u16(5)) + "hello");
  CHECK(table.rows == 3);
  CHECK(table.values[299999] == static_cast<float>(299999 * 7 % 251));
  CHECK(folder.table_error("t.csv", "1,2\n", array_called("a")) ==
        "invalid_argument: t.csv: has no array called \"a\", being no .npz or HDF5 file; leave that option "
        "out");
}

TEST_CASE("files: wrong .npz, word for word") {
  const Folder folder;
  const string good = zip({{"a.npy", first}}), packed = zip({{"a.npy", first, true}});
  const string again = "; it is damaged: copy or download it again";
  const string by_numpy = again + ", or save it by numpy.savez";
  // These are the places of the only member's data, and of its directory entry.
  const std::size_t data = 35, entry = data + first.size();
  const std::size_t packed_entry = packed.size() - 22 - 51;
  const std::vector<std::pair<string, string>> cases{
      {"1,2\n",
       "t.npz: has no directory at its end, as .npz files have; it is truncated or no such file: copy or "
       "download it again, or save it by numpy.savez"},
      {good.substr(0, good.size() - 1),
       "t.npz: has no directory at its end, as .npz files have; it is truncated or no such file: copy or "
       "download it again, or save it by numpy.savez"},
      {zip({{"a.txt", first}}), "t.npz: holds no array: no member ends in .npy; save it by numpy.savez"},
      {zip({{"a.npy", first}, {"a.npy", second}}),
       "t.npz: holds several arrays called \"a\"; save it again, each under its own name"},
      {with(good, good.size() - 6, u32(good.size())),
       "t.npz: says that its directory has 51 bytes from byte " + std::to_string(good.size()) +
           " on, but that ends at byte " + std::to_string(good.size() - 22) + by_numpy},
      {with(good, good.size() - 6, u32(0xffffffff)), "t.npz: has no place of its directory" + by_numpy},
      {with(good, good.size() - 12, u16(2)), "t.npz: ends within its directory" + by_numpy},
      {with(good, entry, "PK\1\1"), "t.npz: has no entry 0 of 1 in its directory" + by_numpy},
      {with(good, entry + 8, u16(1)),
       "t.npz: \"a.npy\" is encrypted; save it by numpy.savez, which does not"},
      {with(good, entry + 10, u16(12)),
       "t.npz: \"a.npy\" is packed by method 12; kith reads 0 (stored) and 8 (deflated): save it by "
       "numpy.savez"},
      {with(good, entry + 10, u16(8)),
       "t.npz: has another member than \"a.npy\" where its directory says it is" + by_numpy},
      {with(good, 30, "b"),
       "t.npz: has another member than \"a.npy\" where its directory says it is" + by_numpy},
      {with(good, entry + 42, u32(1)),
       "t.npz: has another member than \"a.npy\" where its directory says it is" + by_numpy},
      {with(good, entry + 24, u32(7)), "t.npz: \"a.npy\" is stored, but " + std::to_string(first.size()) +
                                           " bytes are to become 7" + by_numpy},
      {with(good, entry + 42, u32(0xfffffff0)),
       "t.npz: ends before the header of \"a.npy\", which needs 30 bytes from byte 4294967280 on" + by_numpy},
      {with(good, entry + 42, u32(0xffffffff)), "t.npz: says of \"a.npy\" no size or place" + by_numpy},
      {with(good, entry + 20, u32(5000) + u32(5000)),
       "t.npz: ends within \"a.npy\", which needs 5000 bytes from byte 35 on" + by_numpy},
      {with(good, data + first.size() - 1, "\x41"),
       "t.npz: a: has the checksum " + std::to_string(crc_of(with(first, first.size() - 1, "\x41"))) +
           " and the .zip says " + std::to_string(crc_of(first)) + again},
      {zip({{"a.npy", first + "x", true}}),
       "t.npz: a: goes on after byte " + std::to_string(first.size()) +
           ", where its header says it ends; it is damaged or no such file: copy or download it again"},
      {zip({{"a.npy", first.substr(0, first.size() - 1), true}}),
       "t.npz: a: its header announces an array of shape (2, 2), 16 bytes, but 15 bytes follow; it is "
       "truncated or no such file: copy or download it again"},
      {with(packed, packed_entry + 24, u32(first.size() + 1)),
       "t.npz: a: is " + std::to_string(first.size()) + " bytes long, packed in " +
           std::to_string(deflated(first).size()) + ", where the .zip says " +
           std::to_string(first.size() + 1) + " in " + std::to_string(deflated(first).size()) + again},
      {with(packed, packed_entry + 24, u32(20)),
       "t.npz: a: unpacks to more than the 20 bytes that the .zip says" + again},
      {zip({{"a.npy", "not one"}}),
       "t.npz: a: ends after 7 bytes, within its header; it is truncated: copy or download it again"},
      {zip({{"\x1b[31m.npy", "not one"}}),
       "t.npz: \\x1b[31m: ends after 7 bytes, within its header; it is truncated: copy or download it again"},
  };
  for (const auto& [content, message] : cases)
    CHECK(folder.table_error("t.npz", content) == "bad_file: " + message);
  CHECK(folder.table_error("t.npz", with(packed, data, "\xff")) ==
        "bad_file: t.npz: a: its packed data is damaged (invalid block type after 0 bytes); copy or download "
        "it again");
  CHECK(folder.table_error("t.npz.gz", gzip(good)) ==
        "bad_file: t.npz.gz: is a .npz file that is packed once more, or comes through a pipe, and what it "
        "holds stands at its end; give it as a file of its own");
  // A few bytes expand to many.
  ReadOptions limited;
  limited.limits.free_growth = std::uint64_t{1} << 16;
  const string bomb = zip({{"a.npy", npy("|u1", "(4000, 1000)", string(4000000, '\0')), true}});
  CHECK(folder.table_error("t.npz", bomb, limited).find("too much for a file of") != string::npos);
}
