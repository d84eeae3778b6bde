// Tests a file of which each rank reads a part: the parts together equal the file, and a bad value is named
// by its row in the file.
#include "common/data_files.hpp"

namespace kith::tests::data_files {
namespace {

ReadOptions part_options(std::int64_t part, std::int64_t parts, std::vector<Element> keep = {}) {
  ReadOptions options;
  options.part = part;
  options.parts = parts;
  options.keep = std::move(keep);
  return options;
}

/// Checks that all parts of a file, joined, equal the file read at once.
void check_parts(const Folder& folder, const string& file, const string& content,
                 const std::vector<Element>& keep = {}) {
  CAPTURE(file);
  const Table whole = folder.table(file, content, part_options(0, 1, keep));
  CHECK_FALSE(whole.held.has_value());
  for (const std::int64_t parts : {2, 3, 7}) {
    Floats values;
    std::vector<unsigned char> stored;
    std::int64_t next = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const Table table = folder.table(file, content, part_options(part, parts, keep));
      REQUIRE(table.held.has_value());
      CHECK(table.rows == whole.rows);
      CHECK(table.cols == whole.cols);
      CHECK(table.held->first == next);
      CHECK(table.held->rows >= 1);
      next += table.held->rows;
      values.insert(values.end(), table.values.begin(), table.values.end());
      stored.insert(stored.end(), table.stored.begin(), table.stored.end());
    }
    CHECK(next == whole.rows);
    CHECK(values == whole.values);
    CHECK(stored == whole.stored);
  }
}

const string seven_floats = bytes<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
const string seven_bytes = bytes<std::uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});

/// Returns the last of the parts of an array, which has heard of all others.
Table last_part(const Folder& folder, const string& file, std::int64_t parts, ReadOptions options) {
  std::vector<std::vector<std::int64_t>> sums;  // of each exchange, over the parts until now
  std::size_t exchange = 0;
  options.parts = parts;
  options.sum_of_parts = [&](const std::vector<std::int64_t>& mine) {
    if (exchange == sums.size()) sums.emplace_back(mine.size());
    std::vector<std::int64_t>& sum = sums[exchange++];
    REQUIRE(sum.size() == mine.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mine[i];
    return sum;
  };
  for (options.part = 0; options.part < parts - 1; ++options.part) {
    exchange = 0;
    folder.table("a.npy", file, options);
  }
  exchange = 0;
  return folder.table("a.npy", file, options);
}

}  // namespace

TEST_CASE("files: rows of a file in parts") {
  CHECK(part_of(10, 0, 3) == RowRange{0, 4});
  CHECK(part_of(10, 1, 3) == RowRange{4, 3});
  CHECK(part_of(10, 2, 3) == RowRange{7, 3});
  CHECK(part_of(2, 2, 3) == RowRange{2, 0});
}

TEST_CASE("files: parts of arrays are the array") {
  const Folder folder;
  check_parts(folder, "a.npy", npy("<f4", "(7, 2)", seven_floats));
  check_parts(folder, "b.npy", npy("<f8", "(7, 1)", bytes<double>({0.1, 2, 3, 4, 5, 0.2, 7})));
  check_parts(folder, "c.npy", npy("|u1", "(7, 2)", seven_bytes), {Element::u8});
  check_parts(folder, "c.npy", npy(">f2", "(7, 1)", bytes<std::uint16_t>({1, 2, 3, 4, 5, 6, 7}, true)),
              {Element::f16});
  check_parts(folder, "d.npy", npy("<f4", "(7,)", bytes<float>({1, 2, 3, 4, 5, 6, 7}), true));
  check_parts(folder, "e.fbin", bytes<std::uint32_t>({7, 2}) + seven_floats);
  check_parts(folder, "f.u8bin", bytes<std::uint32_t>({7, 2}) + seven_bytes);
  check_parts(folder, "g-ubyte", idx(8, {7, 2}, seven_bytes));
}

TEST_CASE("files: numbers that a part rounds are those of its rows") {
  const Folder folder;
  const string file = npy("<f8", "(4, 1)", bytes<double>({1, 0.1, 2, 0.3}));
  CHECK(folder.table("a.npy", file, part_options(0, 2)).rounded[0].value == 0.1);
  CHECK(folder.table("a.npy", file, part_options(1, 2)).rounded[0].value == 0.3);
}

TEST_CASE("files: digits of all parts, joined, are those of the file") {
  const Folder folder;
  std::string values;  // rows 0 and 6 become equal, and row 4 rounds most
  for (const double value : {1.0, 7.25, 2.0, 0.1, 1e9 + 0.25, 3.0, 1 + 0x1p-40})
    values += bytes({value, 5.0});
  const string file = npy("<f8", "(7, 2)", values);
  const Table whole = folder.table("a.npy", file);
  REQUIRE(whole.equal_rows.has_value());
  for (const std::int64_t parts : {2, 3, 7}) {
    const Table last = last_part(folder, file, parts, {});
    CHECK(last.rounded == whole.rounded);
    CHECK(last.equal_rows == whole.equal_rows);
    CHECK(lost_digits(last) == lost_digits(whole));
  }
}

TEST_CASE("files: whole numbers that doubles round in one part are told in all") {
  const Folder folder;
  ReadOptions options;
  options.doubles = true;
  const std::int64_t most = std::int64_t{1} << 53;
  const string array =
      npy("<i8", "(7, 2)",
          bytes<std::int64_t>({1, 2, 3, most, 5, 6, -most - 1, 7, 8, most + 3, most + 1, 9, 10, 11}));
  const Table whole = folder.table("a.npy", array, options);
  REQUIRE(whole.rounded_wholes.size() == 2);
  CHECK(whole.rounded_wholes[0] == RoundedWhole{3, 0, "-9007199254740993", -0x1p53});
  CHECK(whole.rounded_wholes[1] == RoundedWhole{4, 1, "9007199254740995", 0x1p53 + 4});
  for (const std::int64_t parts : {2, 3, 7})
    CHECK(last_part(folder, array, parts, options).rounded_wholes == whole.rounded_wholes);
}

TEST_CASE("files: what has no parts is read as a whole") {
  const Folder folder;
  const auto whole = [&](const string& file, const string& content, std::int64_t parts) {
    const Table table = folder.table(file, content, part_options(1, parts));
    return !table.held && static_cast<std::int64_t>(table.values.size()) == table.rows * table.cols;
  };
  const string array = npy("<f4", "(7, 2)", seven_floats);
  CHECK(whole("a.npy", npy("<f4", "(7, 2)", seven_floats, true), 2));
  CHECK(whole("a.npy.gz", gzip(array), 2));
  CHECK(whole("a.npy", array, 8));  // one of the parts has no row
  CHECK(whole("a.csv", "1,2\n3,4\n", 2));
  CHECK(whole("a.fvecs", fvecs({{1, 2}, {3, 4}}), 2));
}

TEST_CASE("files: a part refuses what the file refuses") {
  const Folder folder;
  const string nan = bytes({std::numeric_limits<float>::quiet_NaN()});
  const string bad = npy("<f4", "(7, 2)", seven_floats.substr(0, 44) + nan + seven_floats.substr(48));
  const string alone = folder.table_error("a.npy", bad);
  CHECK(alone.find("row 5, column 1") != string::npos);
  CHECK(folder.table_error("a.npy", bad, part_options(1, 2)) == alone);
  CHECK(folder.table_error("a.npy", bad, part_options(0, 2)) == "no error");
  for (const string& file :
       {npy("<f4", "(7, 2)", seven_floats + "more"), npy("<f4", "(7, 2)", seven_floats.substr(4))}) {
    const string refused = folder.table_error("a.npy", file);
    CHECK(refused.starts_with("bad_file: "));
    for (const std::int64_t part : {0, 1})
      CHECK(folder.table_error("a.npy", file, part_options(part, 2)) == refused);
  }
}

}  // namespace kith::tests::data_files
