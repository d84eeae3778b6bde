// Tests the step rerank: it computes the chain of every listed candidate as a key. docs/contract.md, sections
// 1 and 2.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_rerank {
namespace {

using stages::Candidates;

/// `count` different rows of 0 .. n - 1 in random order.
std::vector<std::uint32_t> some_rows(std::uint32_t n, std::size_t count, workloads::Random& random) {
  std::vector<std::uint32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  for (std::size_t i = 0; i < count; ++i)
    std::swap(rows[i], rows[i + size(random.below(static_cast<std::int64_t>(n - i)))]);
  rows.resize(count);
  return rows;
}

/// Random lists of all lengths: empty ones, full ones, and some whose count exceeds the capacity.
struct Listed {
  std::vector<std::uint32_t> counts, rows;  ///< [m], [m, capacity]; unused entries hold a row far away

  Listed(std::size_t m, std::uint32_t n, std::size_t capacity, std::uint32_t first_row, std::uint64_t seed) {
    workloads::Random random(seed);
    for (std::size_t q = 0; q < m; ++q) {
      const auto most = std::min<std::size_t>(n, capacity);
      const auto length = random.one_in(2) ? most : size(random.between(0, static_cast<std::int64_t>(most)));
      std::vector<std::uint32_t> list = some_rows(n, length, random);
      for (std::uint32_t& row : list) row += first_row;
      list.resize(capacity, 0xFFFFFFF0u);
      rows.insert(rows.end(), list.begin(), list.end());
      const bool lost = length == capacity && random.one_in(2);
      counts.push_back(static_cast<std::uint32_t>(lost ? length + 1 + random.next() % 1000 : length));
    }
  }
};

/// Runs one step between canaries, on rows that begin inside a block.
void check_block(spi::Device& device, std::uint32_t train_block, DataKind kind, Metric metric, std::int64_t m,
                 std::int64_t n, std::int64_t dims, std::size_t capacity, std::uint32_t first,
                 std::uint32_t threads) {
  CAPTURE_ALL(train_block, workloads::name(kind), name(metric), m, n, dims, capacity, first);
  constexpr Key canary = 0xCAFECAFECAFECAFEull;
  const std::uint32_t first_row = 1000;
  const Matrix queries = prepared(metric, hard_rows(kind, Set::queries, m, dims, metric));
  const Matrix train = prepared(metric, hard_rows(kind, Set::train, n, dims, metric));
  const GuardedRows query_rows(device, queries, device.info.query_block, first, train);
  const GuardedRows train_rows(device, train, train_block, first, queries);
  const Listed listed(size(m), static_cast<std::uint32_t>(n), capacity, first_row,
                      size(m + n + dims) + capacity);
  const GuardedGrid<std::uint32_t> counts(device, size(m), 1, 0xFFFFu, listed.counts);
  const GuardedGrid<std::uint32_t> rows(device, size(m), capacity, first_row, listed.rows);
  const GuardedGrid<Key> out(device, size(m), capacity, canary);
  REQUIRE(run_step(device,
                   spi::RerankStep{metric,
                                   query_rows.rows(),
                                   train_rows.rows(),
                                   first_row,
                                   {rows.grid(), counts.grid()},
                                   out.grid()},
                   threads) == "");
  std::vector<Key> found = out.inside(), expected;
  for (std::size_t q = 0; q < size(m); ++q)
    for (std::size_t j = 0; j < capacity; ++j) {
      Key& at = found[q * capacity + j];
      const std::uint32_t row = listed.rows[q * capacity + j];
      if (j >= listed.counts[q]) {
        if (at == canary) at = no_key;  // a device may leave unused entries alone, or write "no key"
        expected.push_back(no_key);
        continue;
      }
      const float s = chain(metric, queries.row(static_cast<std::int64_t>(q)), train.row(row - first_row));
      expected.push_back(key({s == 0.0f ? 0.0f : s, row}));
    }
  CHECK(difference(found, expected) == "");
  CHECK(out.canaries_live());
  check_unchanged(counts, rows, query_rows, train_rows);
}

/// Returns whether the device also reranks training rows stored one after another (blocks of one row).
bool takes_single_rows(const spi::Device& device) {
  const spi::RowBlocks queries{nullptr, 0, 1, 4, device.info.query_block}, train{nullptr, 0, 1, 4, 1};
  return device
      .check({spi::RerankStep{Metric::l1,
                              queries,
                              train,
                              0,
                              {{nullptr, 0, 1, 1, 1}, {nullptr, 0, 1, 1, 1}},
                              {nullptr, 0, 1, 1, 1}}})
      .refusal.empty();
}

void check_guarded(spi::Device& device, DataKind kind, Metric metric, std::int64_t m, std::int64_t n,
                   std::int64_t dims, std::size_t capacity, std::uint32_t first, std::uint32_t threads = 0) {
  check_block(device, device.info.train_block, kind, metric, m, n, dims, capacity, first, threads);
  if (device.info.train_block != 1 && takes_single_rows(device))
    check_block(device, 1, kind, metric, m, n, dims, capacity, first, threads);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("rerank: the keys of candidates in their places, worked out on paper") {
  const Matrix queries = matrix(2, {0, 0, /**/ 3, 4}), train = matrix(2, {3, 4, /**/ 0, 0, /**/ 1, 1});
  const Candidates lists{2, 3, {2, 1}, {2, 0, no_row, /**/ 1, no_row, no_row}};
  CHECK(stages::rerank(device(), queries, train, Metric::l2, lists) ==
        std::vector<Key>{make_key(2, 2), make_key(25, 0), no_key, make_key(25, 1), no_key, no_key});
  const Candidates lost{2, 1, {5, 0}, {1, no_row}};  // the list holds one of five candidates
  CHECK(stages::rerank(device(), queries, train, Metric::l1, lost) ==
        std::vector<Key>{make_key(0, 1), no_key});
}

TEST_CASE("rerank: the bits of the scalar chain, for all metrics and hard data") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const DataKind kind : workloads::all_data_kinds)
      for (const Metric metric : all_metrics)
        if (workloads::admits(metric, kind)) check_guarded(device, kind, metric, 7, 90, 13, 40, 5);
  });
}

TEST_CASE("rerank: any number of queries, rows, columns and places, between canaries") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::uint32_t first : {0u, 3u, 16u, 21u})
      check_guarded(device, DataKind::normal, Metric::l1, 5, 37, 6, 11, first);
    for (const std::int64_t m : {1, 2, 9, 65})
      for (const std::int64_t n : {1, 16, 77})
        for (const std::int64_t dims : {1, 4, 33, 150})
          for (const std::size_t capacity : {1u, 8u, 33u, 100u})
            check_guarded(device, DataKind::normal, Metric::squared_l2, m, n, dims, capacity, 2);
    // Rows start at multiples of 16 bytes and queries at multiples of eight, so that kernels
    // copy whole lines.
    for (const std::uint32_t first : {0u, 8u, 24u})
      for (const std::int64_t dims : {4, 36, 64, 100, 132, 300})
        check_guarded(device, DataKind::normal, Metric::squared_l2, 11, 150, dims, 70, first);
    check_guarded(device, DataKind::normal, Metric::negative_dot, 2, 5000, 9, 4700, 7);
    check_guarded(device, DataKind::normal, Metric::squared_l2, 1, 300, 1200, 300, 1);
    for (const std::uint32_t threads : {1u, 2u, 5u})
      check_guarded(device, DataKind::normal, Metric::linf, 3, 3000, 20, 2500, 1, threads);
  });
}

TEST_CASE("rerank: nothing is done where there is nothing") {
  const Matrix train = matrix(1, {1, 2});
  CHECK(stages::rerank(device(), Matrix{0, 1, {}}, train, Metric::l1, {0, 4, {}, {}}).empty());
  CHECK(stages::rerank(device(), matrix(1, {5}), train, Metric::l1, {1, 1, {0}, {no_row}}) ==
        std::vector<Key>{no_key});
}

TEST_CASE("rerank: refuses lists that are not what they say") {
  const Matrix rows = matrix(1, {1, 2});
  const auto refusal = [&](const Candidates& lists) {
    return error_of([&] { stages::rerank(device(), rows, rows, Metric::l1, lists); });
  };
  CHECK(refusal({2, 2, {1, 1}, {0, 1, 2}}) ==
        "invalid_argument: rerank: 2 counts and 3 candidates for lists of shape [2, 2]; give a count for "
        "each list and a candidate for each place");
  CHECK(refusal({1, 1, {1}, {0}}) == "invalid_argument: rerank: 1 lists for 2 queries; give one for each");
  CHECK(refusal({2, 1, {1, 1}, {1, 2}}) ==
        "invalid_argument: rerank: candidate 0 of query 1 is row 2 but there are 2 rows; name rows from 0 to "
        "1");
  CHECK(refusal({2, 1, {1, 0}, {1, 2}}) == "nothing was thrown");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_rerank
