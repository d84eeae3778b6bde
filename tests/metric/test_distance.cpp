// Tests the chain of each pair: docs/contract.md, sections 1 and 3.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

std::vector<float> distance(const Matrix& queries, const Matrix& train, Metric metric) {
  return stages::distance(device(), queries, train, metric);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("distance: every metric, worked out on paper") {
  const Matrix query = matrix(3, {1, 2, 3});
  const Matrix rows = matrix(3, {4, 6, 3, /**/ 1, 2, 3, /**/ -1, -2, -3});
  CHECK(distance(query, rows, Metric::squared_l2) == std::vector<float>{25, 0, 56});
  // stages::distance gives raw values, before the root is taken.
  CHECK(distance(query, rows, Metric::l2) == std::vector<float>{25, 0, 56});
  CHECK(distance(query, rows, Metric::l1) == std::vector<float>{7, 0, 12});
  CHECK(distance(query, rows, Metric::linf) == std::vector<float>{4, 0, 6});
  CHECK(distance(query, rows, Metric::negative_dot) == std::vector<float>{-25, -14, 14});
  const Matrix square = matrix(4, {1, 1, 1, 1});  // norm 2, so the unit row has elements 1/2
  const Matrix directions = matrix(4, {2, 0, 0, 0, /**/ 8, 8, 8, 8, /**/ -1, -1, -1, -1, /**/ 1, -1, 1, -1});
  CHECK(distance(square, directions, Metric::cosine) == std::vector<float>{1, 0, 4, 2});
}

TEST_CASE("distance: multiply and add are one operation, rounded once") {
  // (2^-12)^2 + (1 + 2^-12)^2 = 1 + 2^-11 + 2^-23, which is a float. If the second square were rounded first,
  // it would lose its 2^-24 (a tie, to even), and then the first square would be lost, too.
  const Matrix query = matrix(2, {0, 0}), row = matrix(2, {0x1p-12f, 1 + 0x1p-12f});
  CHECK(distance(query, row, Metric::squared_l2) == std::vector<float>{1 + 0x1p-11f + 0x1p-23f});
  CHECK(distance(row, row, Metric::negative_dot) == std::vector<float>{-(1 + 0x1p-11f + 0x1p-23f)});
}

TEST_CASE("distance: dimensions are visited in order, in one chain") {
  const Matrix zero2 = matrix(2, {0, 0}), zero3 = matrix(3, {0, 0, 0});
  // These are the same squares in the other order: beside 1 + 2^-11, the 2^-24 is half a unit and
  // rounds away.
  CHECK(distance(zero2, matrix(2, {1 + 0x1p-12f, 0x1p-12f}), Metric::squared_l2) ==
        std::vector<float>{1 + 0x1p-11f});
  // Added after the 1, each 2^-24 is half a unit and is lost. Added before it, they sum to a whole unit.
  CHECK(distance(zero3, matrix(3, {1, 0x1p-24f, 0x1p-24f}), Metric::l1) == std::vector<float>{1});
  CHECK(distance(zero3, matrix(3, {0x1p-24f, 0x1p-24f, 1}), Metric::l1) == std::vector<float>{1 + 0x1p-23f});
}

TEST_CASE("distance: subnormal numbers are kept, as inputs and as results") {
  const Matrix zero = matrix(1, {0}), least = matrix(1, {denormal});
  CHECK(bits(distance(zero, least, Metric::l1)) == bits(std::vector<float>{denormal}));
  CHECK(bits(distance(zero, least, Metric::linf)) == bits(std::vector<float>{denormal}));
  CHECK(bits(distance(zero, matrix(1, {0x1p-74f, 0x1p-75f, 0x1.8p-75f}), Metric::squared_l2)) ==
        bits(std::vector<float>{0x1p-148f, 0, 0x1p-149f}));
  // The difference of two normal numbers may be subnormal.
  CHECK(distance(matrix(1, {flt_min}), matrix(1, {flt_min + denormal}), Metric::l1) ==
        std::vector<float>{denormal});
  CHECK(distance(matrix(1, {0x1p-70f}), matrix(1, {0x1p-70f}), Metric::negative_dot) ==
        std::vector<float>{-0x1p-140f});
}

TEST_CASE("distance: what overflows is plus infinity, and no error") {
  const Matrix query = matrix(2, {flt_max, -1e30f}),
               rows = matrix(2, {-flt_max, 1e30f, /**/ flt_max, -1e30f});
  CHECK(distance(query, rows, Metric::squared_l2) == std::vector<float>{inf, 0});
  CHECK(distance(query, rows, Metric::l1) == std::vector<float>{inf, 0});
  CHECK(distance(query, rows, Metric::linf) == std::vector<float>{inf, 0});
  const Matrix root = matrix(1, {0x1.fffffep+63f}),
               larger = matrix(1, {0x1p64f});  // squares: just below, at 2^128
  CHECK(distance(matrix(1, {0}), root, Metric::squared_l2) == std::vector<float>{0x1.fffffcp+127f});
  CHECK(distance(matrix(1, {0}), larger, Metric::squared_l2) == std::vector<float>{inf});
}

TEST_CASE("distance: integers give the exact integer") {
  for (const Metric metric : {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf, Metric::negative_dot})
    for (const std::int64_t dims : {1, 2, 17, 128}) {
      CAPTURE_ALL(name(metric), dims);
      const Matrix queries = hard_rows(DataKind::integers, Set::queries, 9, dims, metric);
      const Matrix train = hard_rows(DataKind::integers, Set::train, 50, dims, metric);
      std::vector<float> expected;
      for (std::int64_t q = 0; q < 9; ++q)
        for (std::int64_t t = 0; t < 50; ++t) {
          const Metric unfinished = metric == Metric::l2 ? Metric::squared_l2 : metric;
          expected.push_back(static_cast<float>(true_distance(unfinished, queries.row(q), train.row(t))));
        }
      CHECK(distance(queries, train, metric) == expected);
    }
}

TEST_CASE("distance: stays within the proven bound of the rounding errors of one chain") {
  // All terms are positive. Each is rounded twice, and each of dims sums once (Higham 2002, section 3.1).
  const std::int64_t dims = 784;
  const long double unit = 0x1p-24L, steps = dims + 2, bound = steps * unit / (1 - steps * unit);
  for (const Metric metric : {Metric::squared_l2, Metric::l1, Metric::linf}) {
    CAPTURE(std::string(name(metric)));
    const Matrix queries = hard_rows(DataKind::normal, Set::queries, 5, dims, metric);
    const Matrix train = hard_rows(DataKind::normal, Set::train, 40, dims, metric);
    const std::vector<float> values = distance(queries, train, metric);
    for (std::int64_t i = 0; i < 5 * 40; ++i) {
      const long double right = true_distance(metric, queries.row(i / 40), train.row(i % 40));
      CHECK(std::fabs(values[size(i)] - right) <= bound * right);
    }
  }
}

TEST_CASE("distance: the bits of the scalar chain, for all metrics, hard data and dims") {
  const std::int64_t m = 17, n = 67;
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : number_metrics) {
      if (!workloads::admits(metric, kind)) continue;
      for (const std::int64_t dims : {1, 2, 3, 4, 5, 8, 13, 16, 17, 29, 64, 100, 128, 784}) {
        if (dims == 784 && kind != DataKind::normal && kind != DataKind::subnormal) continue;
        CAPTURE_ALL(workloads::name(kind), name(metric), dims);
        const Matrix queries = hard_rows(kind, Set::queries, m, dims, metric);
        const Matrix train = hard_rows(kind, Set::train, n, dims, metric);
        CHECK(difference(distance(queries, train, metric), chains(metric, queries, train)) == "");
      }
    }
}

TEST_CASE("distance: any number of queries and of training rows") {
  for (const std::int64_t m : {1, 2, 15, 16, 17, 64, 1000})
    for (const std::int64_t n : {1, 2, 15, 16, 17, 63, 129, 1001}) {
      if (m * n > 200000) continue;
      CAPTURE_ALL(m, n);
      const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, 3, Metric::squared_l2);
      const Matrix train = hard_rows(DataKind::normal, Set::train, n, 3, Metric::squared_l2);
      CHECK(difference(distance(queries, train, Metric::squared_l2),
                       chains(Metric::squared_l2, queries, train)) == "");
    }
  CHECK(distance(Matrix{0, 3, {}}, matrix(3, {1, 2, 3}), Metric::l1).empty());
}

TEST_CASE("distance: rows may stand apart in the caller's memory") {
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 5, 7, Metric::l1);
  const Matrix train = hard_rows(DataKind::normal, Set::train, 33, 7, Metric::l1);
  const Spread spread_queries(queries, 2), spread_train(train, 5);
  CHECK(difference(stages::distance(device(), spread_queries.view(), spread_train.view(), Metric::l1),
                   chains(Metric::l1, queries, train)) == "");
}

/// Runs one distance step between canaries. The rows begin inside a block; the output begins anywhere and has
/// gaps between its rows.
void check_guarded(spi::Device& device, Metric metric, std::int64_t m, std::int64_t n, std::int64_t dims,
                   std::uint32_t first, std::uint32_t threads) {
  CAPTURE_ALL(name(metric), m, n, dims, first);
  const Matrix queries = prepared(metric, hard_rows(DataKind::normal, Set::queries, m, dims, metric));
  const Matrix train = prepared(metric, hard_rows(DataKind::normal, Set::train, n, dims, metric));
  const GuardedRows query_rows(device, queries, device.info.query_block, first, train);
  const GuardedRows train_rows(device, train, device.info.train_block, first, queries);
  const GuardedGrid<float> out(device, size(m), size(n), -123.5f);
  REQUIRE(run_step(device, spi::DistanceStep{metric, query_rows.rows(), train_rows.rows(), out.grid()},
                   threads) == "");
  std::vector<float> expected;
  for (std::int64_t q = 0; q < m; ++q)
    for (std::int64_t t = 0; t < n; ++t) expected.push_back(chain(metric, queries.row(q), train.row(t)));
  CHECK(difference(out.inside(), expected) == "");
  CHECK(out.canaries_live());
  check_unchanged(query_rows, train_rows);
}

TEST_CASE("distance: writes its rectangle and nothing else, from rows that begin inside a block") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Metric metric : all_metrics)
      for (const std::uint32_t first : {0u, 3u, 16u, 21u}) check_guarded(device, metric, 5, 37, 6, first, 0);
    for (const std::int64_t m : {1, 2, 7, 16, 33})
      for (const std::int64_t n : {1, 4, 16, 17, 100})
        for (const std::int64_t dims : {1, 3, 17, 130})
          check_guarded(device, Metric::squared_l2, m, n, dims, 5, 0);
    for (const std::uint32_t threads : {1u, 2u, 5u})
      check_guarded(device, Metric::squared_l2, 19, 530, 11, 2, threads);
  });
}

TEST_CASE("distance: refuses what the contract refuses, and says where it is") {
  const Matrix good = matrix(2, {1, 2, 3, 4});
  const auto refusal = [](const Matrix& queries, const Matrix& train, Metric metric) {
    return error_of([&] { distance(queries, train, metric); });
  };
  CHECK(refusal(matrix(2, {1, 2, 3, std::nanf("")}), good, Metric::l2) ==
        "invalid_argument: stages: query row 1, column 1 holds NaN; make every value finite, or leave the "
        "row out");
  CHECK(refusal(good, matrix(2, {1, 2, -inf, 4}), Metric::l2) ==
        "invalid_argument: stages: training row 1, column 0 holds an infinity; make every value finite, or "
        "leave the row out");
  CHECK(refusal(matrix(3, {1, 2, 3}), good, Metric::l2) ==
        "invalid_argument: stages: queries have 3 columns but the training rows 2; give as many");
  CHECK(refusal(good, Matrix{0, 2, {}}, Metric::l2) ==
        "invalid_argument: stages: the training rows are [0, 2]; give at least one row and one column");
  CHECK(refusal(good, matrix(2, {1, 2, 0, -0.0f}), Metric::cosine) ==
        "invalid_argument: stages: training row 1 is all zeros, which has no direction; leave it out for "
        "cosine");
  CHECK(refusal(matrix(2, {0, 1, 2e19f, 0}), matrix(2, {1e19f, 0}), Metric::negative_dot) ==
        "invalid_argument: stages: query row 1 reaches 2e+19 and the training rows 9.99999998e+18: "
        "dims * both = 3.99999998e+38 may overflow float; scale them so that it stays below 3.40282347e+38");
  CHECK(refusal(matrix(2, {0, 1, 2e19f, 0}), matrix(2, {1e18f, 0}), Metric::negative_dot) ==
        "nothing was thrown");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
