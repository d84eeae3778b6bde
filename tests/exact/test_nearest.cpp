// Tests the step nearest, which is distance and select in one. Its lists must equal those of both steps in
// turn. docs/contract.md, sections 1 to 4.
#include <cmath>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

/// Returns the largest k of the fused step, or 0 if the device has no such step, and then the tests
/// do nothing.
std::int64_t most() {
  return device().info().fused_max_k;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("nearest: rows on a line") {
  if (most() < 3) return;
  const Matrix queries = matrix(1, {0, 5}), train = matrix(1, {3, -1, 1, 5, 9, -1});
  const auto lists = stages::nearest(device(), queries, train, Metric::squared_l2, 3);
  // Tied rows come in ascending order.
  CHECK(lists.keys == std::vector<Key>{make_key(1, 1), make_key(1, 2), make_key(1, 5), make_key(0, 3),
                                       make_key(4, 0), make_key(16, 2)});
  const auto parts = stages::nearest(device(), queries, train, Metric::l1, 2, 4);
  CHECK(parts.keys == std::vector<Key>{make_key(1, 1), make_key(3, 0), make_key(1, 2), make_key(5, 3),  //
                                       make_key(1, 5), make_key(9, 4), no_key, no_key,                  //
                                       make_key(2, 0), make_key(6, 1), make_key(0, 3), make_key(4, 2),  //
                                       make_key(4, 4), make_key(6, 5), no_key, no_key});
}

TEST_CASE("nearest: the lists of the scalar chain, for all metrics, hard data, dims and k") {
  const std::int64_t m = 9, n = 203;
  std::size_t turn = 0;
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : number_metrics)
      for (const std::int64_t dims : {1, 2, 3, 4, 8, 17, 33, 128}) {
        if (!workloads::admits(metric, kind)) continue;
        const std::int64_t k = std::vector<std::int64_t>{1, 5, 16, 33, 64, 203}[turn++ % 6];
        const std::int64_t parts = std::vector<std::int64_t>{1, 3, 1, 7}[turn % 4];
        if (k > most()) continue;
        CAPTURE_ALL(workloads::name(kind), name(metric), dims, k, parts);
        const Matrix queries = hard_rows(kind, Set::queries, m, dims, metric);
        const Matrix train = hard_rows(kind, Set::train, n, dims, metric);
        const auto lists = stages::nearest(device(), queries, train, metric, k, parts);
        CHECK(difference(lists.keys,
                         selected(chains(metric, queries, train), size(n), size(k), size(parts))) == "");
      }
}

TEST_CASE("nearest: any number of queries and rows, and k up to the most") {
  for (const std::int64_t m : {1, 2, 15, 17, 64, 257})
    for (const std::int64_t n : {1, 3, 16, 65, 1000, 3001})
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, most() - 1, most()}) {
        if (k < 1 || k > n || k > most() || m * n > 70000) continue;
        CAPTURE_ALL(m, n, k);
        for (const std::int64_t dims : {2, 19}) {
          CAPTURE(dims);
          const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, dims, Metric::squared_l2);
          const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::squared_l2);
          const auto lists = stages::nearest(device(), queries, train, Metric::squared_l2, k);
          CHECK(difference(lists.keys,
                           selected(chains(Metric::squared_l2, queries, train), size(n), size(k), 1)) == "");
        }
      }
}

/// Returns rows on a line at place(i), so that a test can choose their distances and order.
template <class Place>
Matrix line(std::int64_t n, Place place) {
  Matrix rows{n, 1, {}};
  for (std::int64_t i = 0; i < n; ++i) rows.values.push_back(place(static_cast<float>(i)));
  return rows;
}

TEST_CASE("nearest: few queries, and rows that all tie, come nearer and nearer, or are infinitely far") {
  for (const std::int64_t m : {1, 16})
    for (const std::int64_t n : {700, 5000}) {
      const Matrix queries = line(m, [](float i) { return -i; });
      const Matrix orders[] = {
          line(n, [](float) { return 1.0f; }), line(n, [&](float i) { return static_cast<float>(n) - i; }),
          line(n, [](float i) { return i; }), line(n, [](float i) { return i < 20 ? i : 3e38f; })};
      for (std::size_t order = 0; order < std::size(orders); ++order)
        for (const std::int64_t k : {1, 15, 26, 101, 256}) {
          if (k > most() || m * n > 20000) continue;
          CAPTURE_ALL(m, n, order, k);
          const auto lists = stages::nearest(device(), queries, orders[order], Metric::squared_l2, k);
          CHECK(difference(lists.keys, selected(chains(Metric::squared_l2, queries, orders[order]), size(n),
                                                size(k), 1)) == "");
        }
    }
}

TEST_CASE("nearest: several queries in one list, whatever the order of the rows is") {
  for (const std::int64_t m : {5, 16, 33, 64})
    for (const std::int64_t n : {1024, 3100, 20000}) {
      const Matrix queries = line(m, [](float i) { return -i; });
      const Matrix orders[] = {line(n, [](float) { return 1.0f; }),
                               line(n, [&](float i) { return static_cast<float>(n) - i; }),
                               line(n, [](float i) { return i; }),
                               line(n, [](float i) { return i < 20 ? i : 3e38f; }),
                               line(n, [](float i) { return i < 900 ? std::fmod(i, 7.0f) : 8 + i; }),
                               line(n, [](float i) { return std::fmod(i * 37, 1009.0f); })};
      for (std::size_t order = 0; order < std::size(orders); ++order) {
        const std::vector<float> values = chains(Metric::squared_l2, queries, orders[order]);
        for (const std::int64_t k : {1, 16, 31, 32, 33}) {
          if (k > most() || m * n > 400000) continue;
          CAPTURE_ALL(m, n, order, k);
          const auto lists = stages::nearest(device(), queries, orders[order], Metric::squared_l2, k);
          CHECK(difference(lists.keys, selected(values, size(n), size(k), 1)) == "");
        }
      }
    }
}

TEST_CASE("nearest: as many rows as a device takes in one launch, and more") {
  if (most() < 16) return;
  for (const std::int64_t m : {6, 32, 64})
    for (const std::int64_t all : {3200000, 3300000}) {
      const std::int64_t n = all / ((m + 15) / 16 * 16) / (device().info().kind == DeviceKind::cpu ? 32 : 1);
      CAPTURE_ALL(m, n);
      const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 3, Metric::squared_l2);
      const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::squared_l2);
      const auto lists = stages::nearest(device(), queries, train, Metric::squared_l2, 16);
      CHECK(difference(lists.keys, selected(chains(Metric::squared_l2, queries, train), size(n), 16, 1)) ==
            "");
    }
}

/// Runs one fused step. The padding of the blocks equals the queries, so that each padding row would win.
void check_guarded(spi::Device& device, Metric metric, std::int64_t m, std::int64_t n, std::int64_t dims,
                   std::uint32_t k, std::uint32_t parts, std::uint32_t first, std::uint32_t threads) {
  CAPTURE_ALL(name(metric), m, n, dims, k, parts, first);
  const std::uint32_t first_row = 1000;
  const Matrix queries = prepared(metric, hard_rows(DataKind::normal, Set::queries, m, dims, metric));
  const Matrix train = prepared(metric, hard_rows(DataKind::normal, Set::train, n, dims, metric));
  const GuardedRows query_rows(device, queries, device.info.query_block, first, train);
  const GuardedRows train_rows(device, train, device.info.train_block, first, queries);
  const GuardedGrid<Key> out(device, size(m), size(parts) * k, 0xCAFECAFECAFECAFEull);
  REQUIRE(run_step(device,
                   spi::NearestStep{
                       metric, query_rows.rows(), train_rows.rows(), first_row, k, parts, out.grid(), {}},
                   threads) == "");
  std::vector<float> values;
  for (std::int64_t q = 0; q < m; ++q)
    for (std::int64_t t = 0; t < n; ++t) values.push_back(chain(metric, queries.row(q), train.row(t)));
  CHECK(difference(out.inside(), selected(values, size(n), k, parts, first_row)) == "");
  CHECK(out.canaries_live());
  check_unchanged(query_rows, train_rows);
}

TEST_CASE("nearest: takes no row of the padding, and writes its lists and nothing else") {
  if (most() < 40) return;
  spi::with_device(device(), [](spi::Device& device) {
    for (const Metric metric : all_metrics)
      for (const std::uint32_t first : {0u, 3u, 16u, 21u})
        check_guarded(device, metric, 5, 37, 6, 4, 2, first, 0);
    for (const std::int64_t m : {1, 6, 17})
      for (const std::int64_t n : {1, 15, 50, 131})
        for (const std::int64_t dims : {1, 3, 20, 70})
          for (const std::uint32_t k : {1u, 7u, 40u})
            check_guarded(device, Metric::squared_l2, m, n, dims, k,
                          static_cast<std::uint32_t>(1 + (m + n) % 5), 5, 0);
    check_guarded(device, Metric::l1, 4, 5, 3, 2, 11, 1, 0);  // more parts than rows
    for (const Metric metric : all_metrics)
      for (const std::uint32_t first : {0u, 5u, 21u})
        check_guarded(device, metric, 17, 1100, 5, 9, 1, first, 0);
    // With one query a work-item may take several pieces of four rows, and parts may begin inside a piece.
    check_guarded(device, Metric::squared_l2, 1, 2500, 3, 7, 2, 5, 0);
    check_guarded(device, Metric::squared_l2, 1, 6000, 3, 7, 1, 5, 0);
    for (const std::uint32_t threads : {1u, 2u, 5u})
      check_guarded(device, Metric::squared_l2, 19, 530, 11, 9, 3, 2, threads);
  });
}

TEST_CASE("nearest: says what k it can do, when asked for more") {
  const std::int64_t k = most() + 1;
  if (most() >= 100000) return;
  const Matrix query = matrix(1, {0}), train = hard_rows(DataKind::normal, Set::train, k, 1, Metric::l1);
  const std::string refusal = error_of([&] { stages::nearest(device(), query, train, Metric::l1, k); });
  CHECK(refusal.starts_with("unsupported: nearest: " + device().info().spec + ": "));
}

TEST_CASE("nearest: refuses what the contract refuses") {
  const Matrix rows = matrix(2, {1, 2, 3, 4});
  const auto refusal = [&](std::int64_t k, std::int64_t parts) {
    return error_of([&] { stages::nearest(device(), rows, rows, Metric::l1, k, parts); });
  };
  CHECK(refusal(3, 1) == "invalid_argument: nearest: k = 3 but there are 2 candidates; choose k from 1 to 2");
  CHECK(refusal(1, 0) ==
        "invalid_argument: nearest: lists = 0 but there are 2 candidates; choose lists from 1 to 2");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
