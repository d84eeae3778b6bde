// kith.h: rows that stay in their source have the answers of the C++ calls.
#include "c_api/c_support.hpp"
#include "common/folder.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_c_source {
namespace {

using namespace c;

constexpr std::int64_t n = 40, dims = 3, m = 4, k = 5;

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * i * 37 % 11));
  return values;
}

struct SourceCase {
  std::vector<float> train = numbers(n * dims), asked = numbers(m * dims);
  kith_rows rows = KITH_INIT(kith_rows), queries = KITH_INIT(kith_rows);
  kith_index_options options = KITH_INIT(kith_index_options);
  OpenDevice on = opened("cpu");
  Neighbors right =
      Index(open_device("cpu"), {train.data(), n, dims}, Metric::l2).search({asked.data(), m, dims}, k);

  SourceCase() {
    rows.data = train.data();
    rows.rows = n;
    rows.cols = dims;
    queries.data = asked.data();
    queries.rows = m;
    queries.cols = dims;
    options.residence = "stream";
    options.chunk_rows = 7;
  }
  void check_answers(const kith_index* index) const {
    std::vector<float> distance(static_cast<std::size_t>(m * k));
    std::vector<std::int64_t> row(distance.size());
    REQUIRE(kith_index_search(index, &queries, k, nullptr, distance.data(), row.data()) == KITH_OK);
    CHECK(distance == right.distance);
    CHECK(row == right.row);
    const char* residence = nullptr;
    CHECK(kith_index_residence(index, &residence) == KITH_OK);
    CHECK(std::string(residence) == "stream");
  }
};

std::int32_t behind_the_end = -1;

/// Copies some of the rows that `user` points to. Returns `behind_the_end` if there are fewer.
std::int32_t read_floats(std::int64_t first, std::int64_t count, void* to, void* user) {
  const auto* const values = static_cast<const std::vector<float>*>(user);
  if (static_cast<std::size_t>((first + count) * dims) > values->size()) return behind_the_end;
  std::memcpy(to, values->data() + first * dims, static_cast<std::size_t>(count * dims) * sizeof(float));
  return 0;
}

}  // namespace

TEST_CASE("c source: rows of a file, of memory and of a reader have the answers of resident rows") {
  const SourceCase given;
  const test_support::TemporaryFolder folder;
  const std::uint32_t shape[2] = {n, dims};
  std::string file(reinterpret_cast<const char*>(shape), sizeof shape);
  file.append(reinterpret_cast<const char*>(given.train.data()), given.train.size() * sizeof(float));
  const std::string path = folder.write("rows.fbin", file);
  given.check_answers(made<Rows>([&](auto** out) {
                        return kith_index_from_file(given.on.get(), path.c_str(), &given.options, out);
                      }).get());
  given.check_answers(made<Rows>([&](auto** out) {
                        return kith_index_from_rows(given.on.get(), &given.rows, &given.options, out);
                      }).get());
  std::vector<float> values = given.train;
  const Rows read = made<Rows>([&](auto** out) {
    return kith_index_from_reader(given.on.get(), n, dims, nullptr, read_floats, &values, &given.options,
                                  out);
  });
  given.check_answers(read.get());
  values.resize(30 * dims);
  for (const std::int32_t code : {-1, 1, 5, INT32_MAX, INT32_MIN}) {
    behind_the_end = code;
    CHECK(kith_index_search(read.get(), &given.queries, k, nullptr, nullptr, nullptr) == KITH_BAD_FILE);
    CHECK(std::string(kith_last_error()).find("read() returned " + std::to_string(code)) !=
          std::string::npos);
  }
}

TEST_CASE("c source: a search is kept, and gone on with") {
  const SourceCase given;
  const test_support::TemporaryFolder folder;
  const std::string path = folder / "kept";
  kith_search_options kept = KITH_INIT(kith_search_options);
  kept.checkpoint = path.c_str();
  const Rows index = made<Rows>(
      [&](auto** out) { return kith_index_from_rows(given.on.get(), &given.rows, &given.options, out); });
  for (int times = 0; times < 2; ++times) {
    std::vector<std::int64_t> row(static_cast<std::size_t>(m * k));
    REQUIRE(kith_index_search(index.get(), &given.queries, k, &kept, nullptr, row.data()) == KITH_OK);
    CHECK(row == given.right.row);
    CHECK(folder.has("kept"));
  }
  CHECK(kith_index_search(index.get(), &given.queries, k + 1, &kept, nullptr, nullptr) ==
        KITH_INVALID_ARGUMENT);
}

}  // namespace kith::tests::test_c_source
