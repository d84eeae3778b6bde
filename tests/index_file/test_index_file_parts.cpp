// Several indices each open a part of one file; their merged keys are those of the whole Index.
#include <random>

#include "common/data_files.hpp"
#include "common/elements.hpp"
#include "common/parted/shards.hpp"
#include "common/searches.hpp"
#include "kith/index_file.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;
using std::string;

OpenOptions options_of(const Part& part, float largest = 0) {
  return {.largest = largest, .first = part.first, .rows = part.rows};
}

/// Opens random parts on the device under test and the CPU in turn. Together they must answer as the whole
/// Index, and report its properties.
void check_parts(const Index& index, const RowsView& queries, std::mt19937& random, float largest = 0) {
  const Folder folder;
  save(index, folder / "a.kidx");
  const std::int64_t in_file = index_file_info(folder / "a.kidx").rows, k = index.rows() + 2;
  const Device cpu = open_device("cpu");
  std::vector<Keys> found;
  std::vector<RadiusKeys> within;
  std::vector<std::int64_t> numbers;
  const float radius = index.search(queries, 3).distance[2];
  for (const Part& part : uneven_parts(in_file, 1 + static_cast<std::int64_t>(random() % 7), random)) {
    const Index opened =
        open_index(folder / "a.kidx", found.size() % 2 == 0 ? device() : cpu, options_of(part, largest));
    CHECK(opened.positions() == index.positions());
    CHECK(opened.next_row() == index.next_row());
    CHECK(opened.first_row() == index.first_row());
    for (const std::int64_t number : opened.numbers()) numbers.push_back(number);
    found.push_back(opened.search_keys(queries, k));
    within.push_back(opened.within_keys(queries, {&radius, 1}));
  }
  CHECK(numbers == index.numbers());
  CHECK(merge(found) == index.search_keys(queries, k));
  CHECK(merge(within) == index.within_keys(queries, {&radius, 1}));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("index file: parts, by each metric, with removed rows and ids, answer as the whole") {
  std::mt19937 random(31);
  for (const Metric metric : {Metric::squared_l2, Metric::l1, Metric::negative_dot, Metric::cosine}) {
    CAPTURE(string(name(metric)));
    const Matrix train = hard_rows(DataKind::grid, Set::train, 150, 4, metric);
    const Matrix queries = hard_rows(DataKind::grid, Set::queries, 5, 4, metric);
    const Index index(device(), train, metric);
    const Index shard(device(), train, metric, {{}, 1000, largest_of(train)});
    std::vector<std::int64_t> removed, ids;
    for (std::int64_t row = 0; row < 150; ++row) {
      ids.push_back(row * row + 3);
      if (row % 3 == 1 || row > 120) removed.push_back(row);
    }
    const Index fewer = index.without(removed);
    const Index with_ids(device(), train, metric, {{}, 0, 0, ids});
    for (const Index& one : {index, shard, fewer, fewer.compact(), with_ids})
      check_parts(one, queries.view(), random, metric == Metric::negative_dot ? largest_of(train) : 0);
  }
}

TEST_CASE("index file: parts of every element, of features and of bits") {
  std::mt19937 random(32);
  Matrix whole{90, 5, {}};
  for (std::size_t i = 0; i < 450; ++i) whole.values.push_back(static_cast<float>(i * 7 % 101));
  const RowsView queries = whole.view().slice(80, 4);
  for (const Element element : number_elements) {
    Stored stored(whole, element, 3);
    check_parts(Index(device(), stored.view(), Metric::l2, {{0, 3}}), queries, random);
  }
  Stored bits = random_bits(90, 100, 5), asked = random_bits(4, 100, 6);
  check_parts(Index(device(), bits.view(), Metric::hamming), asked.view(), random);
}

TEST_CASE("index file: a part is that of without() and compact()") {
  const Folder folder;
  const Matrix train = hard_rows(DataKind::integers, Set::train, 100, 3, Metric::l2);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 6, 3, Metric::l2);
  const Index index(device(), train, Metric::l2);
  save(index, folder / "a.kidx");
  std::vector<std::int64_t> others;
  for (std::int64_t row = 0; row < 100; ++row)
    if (row < 37 || row >= 70) others.push_back(row);
  const Index rest = index.without(others).compact();
  const Index part = open_index(folder / "a.kidx", device(), options_of({37, 33}));
  CHECK(difference(part.search(queries, 33), rest.search(queries, 33)) == "");
  SearchOptions own{.self = 40};
  CHECK(difference(part.search(queries, 5, own), rest.search(queries, 5, own)) == "");
  save(part, folder / "part.kidx");
  save(rest, folder / "rest.kidx");
  CHECK((folder.read("part.kidx") == folder.read("rest.kidx")));

  const IndexFileRows rows = read_index_rows(folder / "a.kidx", options_of({37, 33}));
  const auto* const first = reinterpret_cast<const unsigned char*>(train.values.data() + 37 * 3);
  CHECK(rows.rows == 33);
  CHECK((rows.data == std::vector<unsigned char>(first, first + 33 * 12)));
}

TEST_CASE("index file: a part whose rows are all removed finds nothing") {
  const Folder folder;
  const Matrix train = matrix(1, {1, 2, 3, 4});
  const std::int64_t removed[] = {1, 2};
  save(Index(device(), train, Metric::l2).without(removed), folder / "a.kidx");
  const Index part = open_index(folder / "a.kidx", device(), options_of({1, 2}));
  CHECK(part.rows() == 0);
  CHECK(part.numbers().empty());
  const float radius = 9;
  CHECK(part.search_keys(train.view(), 3) ==
        Keys{4, 3, std::vector<std::uint32_t>(12, 0xFFFFFFFFu), std::vector<std::int64_t>(12, -1)});
  CHECK(part.within_keys(train.view(), {&radius, 1}) == RadiusKeys{4, {0, 0, 0, 0, 0}, {}, {}});
  CHECK(folder.error([&] { part.search(train.view(), 1); }) ==
        "invalid_argument: search: k = 1 is out of range for an index of 0 rows; give it rows");
}

TEST_CASE("index file: parts that a file does not have, and a `largest` that is too small") {
  const Folder folder;
  const Matrix train = matrix(1, {1, -2, 3});
  save(Index(device(), train, Metric::negative_dot), folder / "a.kidx");
  const auto error = [&](const Part& part, float largest = 0) {
    return folder.error([&] { open_index(folder / "a.kidx", device(), options_of(part, largest)); });
  };
  const auto refused = [](const string& first, const string& rows) {
    return "invalid_argument: index file: first = " + first + ", rows = " + rows +
           ", but the file holds 3 rows; choose a part of them with at least one";
  };
  CHECK(error({-1, 1}) == refused("-1", "1"));
  CHECK(error({3, -1}) == refused("3", "-1"));
  CHECK(error({1, 3}) == refused("1", "3"));
  CHECK(error({1, 0}) == refused("1", "0"));
  CHECK(error({1, -1}) == "no error");
  CHECK(error({0, 2}, 1.5f) ==
        "invalid_argument: index file: largest = 1.5, but the rows reach 2; give the largest |element| of "
        "the rows of all parts");
  CHECK(error({0, 1}, 1.5f) == "no error");
}

TEST_CASE("index file: a part that is told the largest element of all refuses as the whole does") {
  const Folder folder;
  const Matrix train = matrix(1, {1, -2, 1e30f}), query = matrix(1, {1e10f});
  const Index whole(device(), train, Metric::negative_dot);
  save(whole, folder / "a.kidx");
  const auto error = [&](const Index& index) {
    return folder.error([&] { index.search_keys(query.view(), 1); });
  };
  const string refused = error(whole);
  CHECK(refused.starts_with("invalid_argument: "));
  const Index part = open_index(folder / "a.kidx", device(), options_of({0, 2}, 1e30f));
  CHECK(error(part) == refused);
  CHECK(error(open_index(folder / "a.kidx", device(), options_of({0, 2}))) == "no error");
  save(part, folder / "b.kidx");
  CHECK(index_file_info(folder / "b.kidx").largest == 1e30f);
  CHECK(error(open_index(folder / "b.kidx", device())) == refused);
}

TEST_CASE("index file: of a part the blocks that it needs are read, and no others") {
  const Folder folder;
  const std::int64_t rows = 150000, cols = 8192;  // 1 KiB per row, three blocks of 64 MiB
  Stored bits(Element::bits, rows, cols);
  for (std::int64_t r = 0; r < rows; ++r) bits.row(r)[r % 1024] = static_cast<unsigned char>(r % 251);
  save(Index(open_device("cpu"), bits.view(), Metric::hamming), folder / "a.kidx");
  string content = folder.read("a.kidx");
  content[4096 + 70 * 1024 * 1024] ^= 1;  // in the second block
  folder.write("bad.kidx", content);
  std::vector<double> told;
  const auto opened = [&](const Part& part) {
    OpenOptions options = options_of(part);
    told.clear();
    options.progress = [&](double done) { told.push_back(done); };
    return folder.error([&] {
      const Index index = open_index(folder / "bad.kidx", device(), options);
      CHECK(index.search_keys(bits.view().slice(part.first, 1), 1).row[0] == part.first);
    });
  };
  const string bad =
      "bad_file: index file: bad.kidx: byte 67112960: the checksum of the 67108864 bytes from here on does "
      "not match; the file is damaged: copy it again";
  CHECK(opened({0, 65000}) == "no error");
  CHECK(told == std::vector<double>{0, 1});
  CHECK(opened({132000, 18000}) == "no error");
  CHECK(told == std::vector<double>{0, 1});
  CHECK(opened({65000, 2000}) == bad);
  CHECK(opened({0, -1}) == bad);
  CHECK(opened({65536, 65536}) == bad);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
