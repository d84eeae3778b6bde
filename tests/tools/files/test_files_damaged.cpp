// Tests that damaged files end in one kith::Error, never in a crash.
#include <random>

#include "common/data_files.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: damaged files are refused, never a crash") {
  const Folder folder;
  const string u1 = bytes<std::uint8_t>({1, 2, 3, 4, 5, 6});
  const std::vector<std::pair<string, string>> valid{
      {"f.csv", "a,b,kind\n1,2.5,x\n-3,1e5,\"y \"\"z\"\"\"\n7,8,x\n"},
      {"f.tsv", "1\t2\t0\n3\t\"4\"\t1\n"},
      {"f.txt", "1 2 0\n3 4 1\n"},
      {"f.csv.gz", gzip("1,2,0\n3,4,1\n")},
      {"f.svm", "1 1:0.5 3:2\n-1 2:7\n"},
      {"f.npy", npy("<f4", "(2, 3)", bytes<float>({1, 2, 3, 4, 5, 6}))},
      {"g.npy", npy("<f8", "(3, 2)", bytes<double>({1, 2, 3, 4, 5, 0.1}), true, 2)},
      {"h.npy", npy("<i8", "(3,)", bytes<std::int64_t>({1, 2, 3}))},
      {"f.npy.gz", gzip(npy("|u1", "(1, 2, 3)", u1))},
      {"f-ubyte", idx(8, {1, 2, 3}, u1)},
      {"f.idx", idx(14, {2, 1}, bytes<double>({1, 2}, true))},
      {"f-ubyte.gz", gzip(idx(8, {6}, u1))},
      {"f.fvecs", fvecs({{1, 2}, {3, 4}})},
      {"f.ivecs", bytes<std::int32_t>({1, 5, 1, 6})},
      {"f.bvecs", bytes<std::int32_t>({6}) + u1},
      {"f.u8bin", bytes<std::uint32_t>({2, 3}) + u1},
  };
  const string favourites = "\0\1\xff\"\n,:'()0-9e. \x7f\x80"s;
  std::mt19937 random(20240607);
  int read = 0, refused = 0;
  for (const auto& [file, content] : valid)
    for (int round = 0; round < 250; ++round) {
      string damaged = content;
      for (std::uint64_t change = random() % 3 + (round % 4 ? 1 : 0); change > 0 && !damaged.empty();
           --change) {
        const std::size_t at = random() % damaged.size();
        const char value =
            random() % 2 ? favourites[random() % favourites.size()] : static_cast<char>(random());
        switch (random() % 5) {
          case 0:
            damaged.resize(at);
            break;
          case 1:
            damaged.erase(at, random() % 4 + 1);
            break;
          case 2:
            damaged.insert(at, random() % 3 + 1, value);
            break;
          default:
            damaged[at] = value;
        }
      }
      const string path = folder.write(file, damaged);
      ReadOptions options;
      if (round % 2) options.label_column = "-1";
      options.label_optional = !file.ends_with(".svm");
      for (const bool as_table : {true, false}) try {
          if (as_table) {
            const Table table = read_table(path, options);
            if (static_cast<std::int64_t>(table.values.size()) != table.rows * table.cols ||
                table.values.empty())
              FAIL("read_table: " << table.values.size() << " values of " << file);
            for (const float value : table.values)
              if (!std::isfinite(value)) FAIL("read_table: not finite: " << file);
          } else {
            read_labels(path);
          }
          ++read;
        } catch (const kith::Error& error) {
          ++refused;
          const string text = error.what();
          if (error.code() == kith::Errc::device_failure || text.find("; ") == string::npos ||
              text.find('\n') != string::npos)
            FAIL(file << " round " << round << ": " << text);
        }
    }
  CHECK(read > 500);
  CHECK(refused > 2000);
}
