// Tests scores of approximate searches, and files of neighbours, against results worked out by hand.
#include "command/groundtruth/recall.hpp"
#include "common/data_files.hpp"

namespace kith::tests::data_files::test_command_recall {
namespace {

using command::Recall;
using command::score_recall;
using files::NeighborLists;

string bin(std::uint32_t queries, std::uint32_t k, const string& data) {
  return bytes<std::uint32_t>({queries, k}) + data;
}

const string rows = bytes<std::int32_t>({0, 1, 2, 3, 4, 2});
const string squared = bytes<float>({1, 1, 16, 1, 1, 25});

NeighborLists lists(std::int64_t k, std::vector<std::int64_t> numbers, std::vector<double> distances = {}) {
  const auto queries = static_cast<std::int64_t>(numbers.size()) / k;
  return {"t.ibin", queries, k, std::move(numbers), std::move(distances)};
}

string refused(const std::function<void()>& body) {
  return Folder().error(body);
}

}  // namespace

TEST_CASE("recall: rows at the very distance of the k-th count") {
  const NeighborLists truth = lists(4, {7, 3, 5, 9, 1, 2, 3, 4}, {1, 2, 2, 3, 1, 1, 1, 1});
  const Recall tied = score_recall(truth, lists(2, {5, 7, 4, 3}), 2);
  CHECK(tied.found == std::vector<std::int64_t>{2, 2});
  CHECK(tied.all == 4);
  CHECK(tied.by_tie == 3);
  CHECK(tied.tied == 2);
  CHECK(tied.open == 1);
  CHECK(tied.share() == 1);
  const NeighborLists bare = lists(4, truth.rows);
  const Recall plain = score_recall(bare, lists(2, {5, 7, 4, 3}), 2);
  CHECK(plain.found == std::vector<std::int64_t>{1, 0});
  CHECK(plain.by_tie == 0);
  // A row that is only slightly farther does not count; a row counts once; -1 is no row.
  const double next = std::nextafter(2.0, 3.0);
  CHECK(score_recall(lists(3, {7, 3, 5}, {1, 2, next}), lists(2, {5, 7}), 2).found ==
        std::vector<std::int64_t>{1});
  CHECK(score_recall(truth, lists(2, {7, 7, -1, 1}), 2).found == std::vector<std::int64_t>{1, 1});
  // Only the first k of the found rows count.
  CHECK(score_recall(truth, lists(3, {9, 8, 7, 9, 8, 1}), 2).found == std::vector<std::int64_t>{0, 0});
  CHECK(refused([] {
          score_recall(lists(2, {1, -1}), lists(2, {1, 2}), 2);
        }) ==
        "bad_file: t.ibin: query 0 has 1 row, and -1 after them; give a smaller -k, or make the truth again");
  CHECK(score_recall(lists(2, {1, -1}), lists(2, {1, 2}), 1).found == std::vector<std::int64_t>{1});
  CHECK(refused([] {
          score_recall(lists(2, {6, 6}), lists(2, {1, 2}), 2);
        }) == "bad_file: t.ibin: query 0 has the row 6 twice; make the truth again");
}

TEST_CASE("recall: files of neighbours, word for word") {
  const Folder folder;
  const auto read = [&](const string& content, const string& name = "n.ibin") {
    return kith::files::read_neighbors(folder.write(name, content));
  };
  const auto error = [&](const string& content, const string& name = "n.ibin") {
    return folder.error([&] { read(content, name); });
  };
  const string again = "copy or download it again";
  const NeighborLists both = read(bin(2, 3, rows + squared)), bare = read(bin(2, 3, rows), "n.bin");
  CHECK(both.queries == 2);
  CHECK(both.k == 3);
  CHECK(both.rows == std::vector<std::int64_t>{0, 1, 2, 3, 4, 2});
  CHECK(both.distances == std::vector<double>{1, 1, 16, 1, 1, 25});
  CHECK(bare.rows == both.rows);
  CHECK(!bare.has_distances());
  CHECK(read(bin(1, 1, bytes<std::int32_t>({-1}) + bytes<float>({inf}))).distances[0] == inf);
  CHECK(read(gzip(bin(2, 3, rows + squared)), "n.ibin.gz").distances == both.distances);
  CHECK(!read(gzip(bin(2, 3, rows)), "n.ibin.gz").has_distances());
  CHECK(error(bin(2, 3, rows + squared + "x")) ==
        "bad_file: n.ibin: its header announces 2 queries of 3 neighbours, 24 bytes, or with distances 48, "
        "but 49 follow; it is truncated or no such file: " +
            again);
  CHECK(error(gzip(bin(2, 3, rows + squared + "x")), "n.ibin.gz") ==
        "bad_file: n.ibin.gz: goes on after byte 56, where its header says it ends; it is damaged or no such "
        "file: " +
            again);
  for (const std::size_t size : {std::size_t{20}, std::size_t{36}, std::size_t{33}})
    CHECK(error(gzip(bin(2, 3, rows + squared).substr(0, size)), "n.ibin.gz") ==
          "bad_file: n.ibin.gz: ends within its elements; it is truncated: " + again);
  CHECK(error(gzip(bin(2, 3, "")), "n.ibin.gz") ==
        "bad_file: n.ibin.gz: ends after its header; it is truncated: " + again);
  CHECK(error(bin(0, 3, "")) ==
        "bad_file: n.ibin: holds 0 queries of 3 neighbours; a file of neighbours has at least one of each");
  CHECK(error(bin(1, 1, bytes<std::int32_t>({-2}))) ==
        "bad_file: n.ibin: query 0, neighbour 0 is row -2; neighbours are numbers of rows, from 0, or -1 for "
        "none");
  CHECK(error(bin(1, 1, bytes<std::int32_t>({2}) + bytes<float>({std::nanf("")}))) ==
        "bad_file: n.ibin: the distance of query 0, neighbour 0 is NaN; make the file again");
  CHECK(error("1,2.5\n", "n.csv") ==
        "bad_file: n.csv: query 0, neighbour 1 is no whole number; neighbours are numbers of rows, from 0");
}

}  // namespace kith::tests::data_files::test_command_recall
