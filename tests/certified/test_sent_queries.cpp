// Queries that a device with locked memory gets while they are checked, as floats or as bytes
// (rows/queries/sent_queries.hpp): answers are those of queries in tiles, which are packed and copied later.
#include <cmath>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

struct Values {
  const char* name;
  int least, most;
  float scale = 1;
};

/// Rows on a grid of unsigned bytes, of signed ones, of bytes with another step, and on none.
constexpr Values kinds[] = {
    {"u8", 0, 255}, {"i8", -128, 127}, {"halves", 0, 255, 0.5f}, {"others", 0, 1 << 24, 0x1p-20f}};

Matrix values_of(const Values& kind, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  workloads::Random random(seed);
  Matrix made{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i)
    made.values.push_back(static_cast<float>(random.between(kind.least, kind.most)) * kind.scale);
  return made;
}

/// Checks the answers to queries that go at once, as a search chooses and by bytes, against the chain.
void check_sent(const Index& index, const Matrix& queries, const SearchOptions& others = {}) {
  SearchOptions tiles = others, bytes = others;
  tiles.proposer = Proposer::none;
  tiles.query_tile = std::max<std::int64_t>(queries.rows / 3, 1);
  const Neighbors expected = index.search(queries, 3, tiles);
  CHECK(index.search(queries, 3, others) == expected);
  bytes.proposer = Proposer::int8;
  if (has(Proposer::int8)) CHECK(index.search(queries, 3, bytes) == expected);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sent queries: bytes, halves and floats, whole blocks and parts of them") {
  for (const Values& kind : kinds)
    for (const auto& [m, cols] : {std::pair{700, 33}, {1024, 64}, {1025, 65}, {90, 784}}) {
      CAPTURE_ALL(kind.name, m, cols);
      const Index index(device(), values_of(kind, 300, cols, 1), Metric::squared_l2);
      check_sent(index, values_of(kind, m, cols, 2));
    }
}

TEST_CASE("sent queries: several parts, of which the last is short") {
  for (const Values& kind : {kinds[0], kinds[3]}) {
    CAPTURE(kind.name);
    const Index index(device(), values_of(kind, 60, 1024, 3), Metric::squared_l2);
    check_sent(index, values_of(kind, kind.scale == 1 ? 4200 : 1100, 1024, 4));
  }
}

TEST_CASE("sent queries: one element that is no byte, anywhere") {
  const Index index(device(), values_of(kinds[0], 300, 64, 5), Metric::l2);
  for (const float off : {-0.0f, 0.5f, 256.0f, -1.0f, 1e30f, 0x1p-149f})
    for (const std::size_t at : {0u, 64u * 700 + 13, 64u * 1300 - 1}) {
      CAPTURE_ALL(off, at);
      Matrix queries = values_of(kinds[0], 1300, 64, 6);
      queries.values[at] = off;
      check_sent(index, queries);
    }
}

TEST_CASE("sent queries: some columns, a limit of memory, and another step between rows") {
  const Matrix train = values_of(kinds[0], 300, 70, 7), queries = values_of(kinds[0], 2000, 70, 8);
  IndexOptions some;
  for (std::int64_t d = 1; d < 70; d += 2) some.features.push_back(d);
  check_sent(Index(device(), train, Metric::squared_l2, some), queries);
  SearchOptions limited;
  limited.memory_limit = std::size_t{1} << 28;
  const Index index(device(), train, Metric::squared_l2);
  check_sent(index, queries, limited);
  const MatrixView<const float> every_other(queries.values.data(), 1000, 70, 140);
  Matrix alone{1000, 70, {}};
  for (std::int64_t q = 0; q < 2000; q += 2)
    alone.values.insert(alone.values.end(), queries.row(q).begin(), queries.row(q).end());
  CHECK(index.search(every_other, 3) == index.search(alone, 3));
}

TEST_CASE("sent queries: a value that is not finite is named, and the next search is answered") {
  for (const Values& kind : {kinds[0], kinds[3]}) {
    const Index index(device(), values_of(kind, 300, 64, 9), Metric::squared_l2);
    const Matrix right = values_of(kind, 1300, 64, 10);
    Matrix wrong = right;
    wrong.values[64 * 1201 + 5] = std::nanf("");
    CHECK_THROWS_WITH_AS(
        index.search(wrong, 3),
        "search: query row 1201, column 5 holds NaN; make every value finite, or leave the row out", Error);
    check_sent(index, right);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
