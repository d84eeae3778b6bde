// Tests whole numbers that doubles do not hold: which they are, and where a table says that they were.
#include "common/data_files.hpp"

namespace kith::tests::data_files {
namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 53;  // up to which doubles hold all

/// Reads a table as doubles.
Table doubles_of(const Folder& folder, const string& name, const string& content) {
  ReadOptions options;
  options.doubles = true;
  return folder.table(name, content, options);
}

}  // namespace

TEST_CASE("files: whole numbers in text that are another double") {
  for (const char* text :
       {"9007199254740993", "+9007199254740993", "-9007199254740993", "0009007199254740993",
        "1700000000000000001", "18446744073709551615", "1000000000000000000000000000001"})
    CHECK(is_rounded_whole(text, std::strtod(text, nullptr)));
  for (const char* text :
       {"9007199254740991", "9007199254740992", "9007199254740994", "1700000000000000000",
        "18446744073709551616", "9007199254740993.0", "9007199254740993e0", "-1", "0", "1e300", "0.1"})
    CHECK(!is_rounded_whole(text, std::strtod(text, nullptr)));
}

TEST_CASE("files: the first rounded whole number of each column is told") {
  const Folder folder;
  const Table text =
      doubles_of(folder, "t.csv", "t,u,v\n1,9007199254740993,7\n-9007199254740995,9007199254740997,8\n");
  REQUIRE(text.rounded_wholes.size() == 2);
  CHECK(text.rounded_wholes[0] == RoundedWhole{1, 0, "-9007199254740995", -0x1p53 - 4});
  CHECK(text.rounded_wholes[1] == RoundedWhole{0, 1, "9007199254740993", 0x1p53});
  CHECK(describe_rounded_wholes(text) == folder / "t.csv" +
                                             ": row 0, column 2 (u): 9007199254740993 becomes "
                                             "9007199254740992, since doubles hold all whole numbers up "
                                             "to 2^53 alone; so it is with 1 other column");
  const Table svm = doubles_of(folder, "t.svm", "1 1:5 3:9007199254740993\n2 2:1\n");
  REQUIRE(svm.rounded_wholes.size() == 1);
  CHECK(svm.rounded_wholes[0] == RoundedWhole{0, 2, "9007199254740993", 0x1p53});
  CHECK(folder.table("t.csv", "t\n1\n9007199254740993\n").rounded_wholes.empty());  // as float32
  CHECK(doubles_of(folder, "t.csv", "t,u\n1,9007199254740994\n0.5,9007199254740993.0\n")
            .rounded_wholes.empty());
}

TEST_CASE("files: whole numbers of arrays that doubles round, in either byte order and any order of axes") {
  const Folder folder;
  const auto check = [&](const string& array, const RoundedWhole& right) {
    const Table table = doubles_of(folder, "t.npy", array);
    REQUIRE(table.rounded_wholes.size() == 1);
    CHECK(table.rounded_wholes[0] == right);
  };
  const std::initializer_list<std::uint64_t> wide = {
      1, most, most + 2, 0xFFFFFFFFFFFFF800u, 3, 0xFFFFFFFFFFFFFFFFu};
  for (const bool big : {false, true})
    check(npy(big ? ">u8" : "<u8", "(3, 2)", bytes<std::uint64_t>(wide, big)),
          {2, 1, "18446744073709551615", 0x1p64});
  check(npy("<u8", "(3, 2)", bytes<std::uint64_t>(wide), true), {2, 1, "18446744073709551615", 0x1p64});
  const auto whole = static_cast<std::int64_t>(most);
  check(npy("<i8", "(4, 1)",
            bytes<std::int64_t>({-whole, std::numeric_limits<std::int64_t>::min(), -whole - 1, 5})),
        {2, 0, "-9007199254740993", -0x1p53});
  CHECK(doubles_of(folder, "t.npy", npy("<f8", "(2, 1)", bytes<double>({0x1p60, 1e30})))
            .rounded_wholes.empty());
}

TEST_CASE("files: columns that are left out tell nothing of whole numbers, and the others keep their place") {
  const Folder folder;
  ReadOptions options;
  options.doubles = true;
  options.choose = [](const Table&) { return std::vector<std::int64_t>{1, 2}; };
  const string array =
      npy("<i8", "(2, 3)", bytes<std::int64_t>({(1LL << 53) + 1, 1, (1LL << 53) + 3, 4, 5, 6}));
  for (const auto& [name, content] : {std::pair<string, string>("t.npy", array),
                                      {"t.csv", "a,b,c\n9007199254740993,1,9007199254740995\n4,5,6\n"}}) {
    const Table table = folder.table(name, content, options);
    REQUIRE(table.rounded_wholes.size() == 1);
    CHECK(table.rounded_wholes[0] == RoundedWhole{0, 1, "9007199254740995", 0x1p53 + 4});
    CHECK(test_support::contains(describe_rounded_wholes(table),
                                 name == "t.npy" ? ": row 0, column 2: 900719" : ": row 0, column 3 (c): "));
  }
}

}  // namespace kith::tests::data_files
