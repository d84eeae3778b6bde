// Tests the whole search: docs/contract.md, sections 1 to 4.
#include "common/searches.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/regressor.hpp"

namespace kith::tests::test_search {
namespace {

Neighbors search(const Matrix& queries, const Matrix& train, Metric metric, std::int64_t k,
                 const SearchOptions& options = {}) {
  return Index(device(), train, metric).search(queries, k, options);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("search: nearest first, and the distance is finished") {
  const Matrix train = matrix(2, {0, 0, /**/ 3, 4, /**/ 6, 8, /**/ 0, 1});
  const Matrix query = matrix(2, {0, 0});
  CHECK(search(query, train, Metric::squared_l2, 3) == Neighbors{1, 3, {0, 1, 25}, {0, 3, 1}});
  CHECK(search(query, train, Metric::l2, 4) == Neighbors{1, 4, {0, 1, 5, 10}, {0, 3, 1, 2}});
  CHECK(search(query, train, Metric::l1, 2) == Neighbors{1, 2, {0, 1}, {0, 3}});
  CHECK(search(query, train, Metric::linf, 4) == Neighbors{1, 4, {0, 1, 4, 8}, {0, 3, 1, 2}});
  CHECK(search(matrix(2, {1, 1}), train, Metric::negative_dot, 2) == Neighbors{1, 2, {-14, -7}, {2, 1}});
}

TEST_CASE("search: cosine is half the squared distance of unit rows, of any length before") {
  const Matrix train = matrix(4, {9, 0, 0, 0, /**/ -1, -1, -1, -1, /**/ 3, 3, 3, 3, /**/ 1, -1, 1, -1});
  CHECK(search(matrix(4, {.5f, .5f, .5f, .5f}), train, Metric::cosine, 4) ==
        Neighbors{1, 4, {0, 0.5f, 1, 2}, {2, 0, 3, 1}});
}

TEST_CASE("search: equal distances come in the order of the rows") {
  const Matrix train = matrix(1, {1, -1, 1, -1, 1, 1});
  CHECK(search(matrix(1, {0}), train, Metric::l2, 4) == Neighbors{1, 4, {1, 1, 1, 1}, {0, 1, 2, 3}});
  CHECK(search(matrix(1, {0}), train, Metric::l2, 6, {.train_tile = 1}) ==
        Neighbors{1, 6, {1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5}});
}

TEST_CASE("search: roots that round to one number do not disturb the order of the squares") {
  // The squares are 1 + 2^-23 and 1, and the float root of both is 1.
  const Matrix train = matrix(2, {1, 0x1.6p-12f, /**/ 1, 0});
  CHECK(search(matrix(2, {0, 0}), train, Metric::l2, 2) == Neighbors{1, 2, {1, 1}, {1, 0}});
}

TEST_CASE("search: neighbours at plus infinity are neighbours") {
  const Matrix train = matrix(1, {3e30f, 0, -3e30f});
  CHECK(search(matrix(1, {0}), train, Metric::l2, 3) == Neighbors{1, 3, {0, inf, inf}, {1, 0, 2}});
  const Matrix far = matrix(1, {3e30f, -3e30f, 2e30f, 1e30f});
  for (const std::int64_t tile : {1, 2, 3, 4})
    CHECK(search(matrix(1, {0}), far, Metric::squared_l2, 3, {.train_tile = tile}) ==
          Neighbors{1, 3, {inf, inf, inf}, {0, 1, 2}});
}

TEST_CASE("search: one row, one column, one query, no query") {
  CHECK(search(matrix(1, {2}), matrix(1, {5}), Metric::l1, 1) == Neighbors{1, 1, {3}, {0}});
  CHECK(search(Matrix{0, 1, {}}, matrix(1, {5}), Metric::l1, 1) == Neighbors{0, 1, {}, {}});
  CHECK(search(Matrix{0, 1, {}}, matrix(1, {5, 6, 7}), Metric::l1, 3, {.query_tile = 5}) ==
        Neighbors{0, 3, {}, {}});
}

TEST_CASE("search: integers, against exact arithmetic and std::sort") {
  for (const Metric metric :
       {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf, Metric::negative_dot}) {
    CAPTURE(std::string(name(metric)));
    const std::int64_t m = 7, n = 300, dims = 12, k = 40;
    const Matrix queries = hard_rows(DataKind::integers, Set::queries, m, dims, metric);
    const Matrix train = hard_rows(DataKind::integers, Set::train, n, dims, metric);
    Neighbors expected{m, k, {}, {}};
    for (std::int64_t q = 0; q < m; ++q) {
      std::vector<std::pair<long double, std::int64_t>> all;
      for (std::int64_t t = 0; t < n; ++t)
        all.emplace_back(true_distance(metric, queries.row(q), train.row(t)), t);
      std::sort(all.begin(), all.end());
      for (std::int64_t j = 0; j < k; ++j) {
        expected.distance.push_back(static_cast<float>(all[size(j)].first));
        expected.row.push_back(all[size(j)].second);
      }
    }
    CHECK(difference(search(queries, train, metric, k), expected) == "");
    CHECK(difference(search(queries, train, metric, k, {.lists = 3, .query_tile = 2, .train_tile = 77}),
                     expected) == "");
  }
}

TEST_CASE("search: the bits of the scalar search, whatever the tiles, on hard data") {
  const std::int64_t m = 23, n = 211, dims = 19;  // no size is a multiple of anything
  const Metric one = Metric::squared_l2;
  for_each_hard_search(m, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& train) {
    const Index index(device(), train, metric);
    for (const std::int64_t k : {1, 5, 33, 211}) {
      const Neighbors expected = neighbors(metric, queries, train, k);
      for (const std::int64_t tile : {1, 7, 64, 211}) {
        if (tile == 1 && (metric != one || k != 5)) continue;
        for (const std::optional<bool> fused : {std::optional<bool>(), std::optional(false)}) {
          CAPTURE_ALL(k, tile, fused.has_value());
          SearchOptions options{.fused = fused,
                                .lists = tile == 64 ? 3 : 0,
                                .query_tile = tile == 1 ? m : 16,
                                .train_tile = tile};
          CHECK(difference(index.search(queries, k, options), expected) == "");
        }
      }
    }
  });
}

TEST_CASE("search: every selector, for every k of the list, gives the same bits") {
  const std::int64_t m = 3, n = 2061, dims = 3;
  for (const DataKind kind : {DataKind::normal, DataKind::grid}) {
    const Matrix queries = hard_rows(kind, Set::queries, m, dims, Metric::l2);
    const Matrix train = hard_rows(kind, Set::train, n, dims, Metric::l2);
    const Index index(device(), train, Metric::l2);
    const Neighbors all = neighbors(Metric::l2, queries, train, n);
    for (const std::int64_t k :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{15}, std::int64_t{32}, std::int64_t{33},
          std::int64_t{100}, std::int64_t{1024}, std::int64_t{2048}, std::int64_t{2049}, n - 1, n}) {
      Neighbors expected{m, k, {}, {}};
      for (std::int64_t q = 0; q < m; ++q)
        for (std::int64_t j = 0; j < k; ++j) {
          expected.distance.push_back(all.distance[size(q * n + j)]);
          expected.row.push_back(all.row[size(q * n + j)]);
        }
      CHECK(difference(index.search(queries, k), expected) == "");
      check_every_selector(index, queries, k, {}, expected);
    }
  }
}

TEST_CASE("search: any number of queries, dims and rows, as the plan likes it") {
  std::size_t turn = 0;
  for (const std::int64_t m : {1, 2, 15, 16, 17, 64, 1000})
    for (const std::int64_t dims : {1, 2, 3, 5, 8, 29, 100}) {
      const std::int64_t n = std::vector<std::int64_t>{37, 501, 1999}[turn++ % 3];
      if (m * n * dims > 8000000) continue;
      const Metric metric = number_metrics[turn % number_metrics.size()];
      const std::int64_t k = std::min<std::int64_t>(n, std::vector<std::int64_t>{1, 10, 64, 100}[turn % 4]);
      CAPTURE_ALL(m, dims, n, k, name(metric));
      const Matrix queries = hard_rows(DataKind::clusters, Set::queries, m, dims, metric);
      const Matrix train = hard_rows(DataKind::clusters, Set::train, n, dims, metric);
      CHECK(difference(search(queries, train, metric, k), neighbors(metric, queries, train, k)) == "");
    }
}

TEST_CASE("search: rows may stand apart, and the caller's memory is free after the index is made") {
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 5, 7, Metric::cosine);
  Matrix train = hard_rows(DataKind::normal, Set::train, 90, 7, Metric::cosine);
  const Neighbors expected = neighbors(Metric::cosine, queries, train, 8);
  const Spread apart(train, 3), queries_apart(queries, 1);
  const Index spread(device(), apart.view(), Metric::cosine), dense(device(), train, Metric::cosine);
  std::fill(train.values.begin(), train.values.end(), 0.0f);
  CHECK(difference(spread.search(queries_apart.view(), 8), expected) == "");
  CHECK(difference(dense.search(queries, 8), expected) == "");
}

TEST_CASE("search: into memory that is used again, for fewer answers and for more") {
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 40, 7, Metric::l2);
  const Matrix train = hard_rows(DataKind::normal, Set::train, 300, 7, Metric::l2);
  const Index index(device(), train, Metric::l2);
  Neighbors found{1, 1, {7, 7, 7}, {7}};
  for (const std::int64_t k : {8, 3, 100}) {
    index.search_into(queries, k, found);
    CHECK(difference(found, neighbors(Metric::l2, queries, train, k)) == "");
    CHECK(found == index.search(queries, k));
  }
  const float* const memory = found.distance.data();
  index.search_into(queries.view().slice(3, 2), 9, found);
  CHECK(found.distance.data() == memory);
  CHECK(found == index.search(queries.view().slice(3, 2), 9));
  index.search_into(queries.view().slice(0, 0), 9, found);
  CHECK(found == Neighbors{0, 9, {}, {}});
  CHECK_THROWS_AS(index.search_into(queries, 301, found), Error);
}

TEST_CASE("search: more answers than the host locks memory for") {
  // Keys take 36 MB. Three of the queries are asked again, each alone.
  constexpr std::int64_t n = 70000, m = 70, k = 65000;
  if (device().info().largest_allocation < std::size_t{1} << 28) return;  // not on this device
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, 2, Metric::l1);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 2, Metric::l1);
  const Index index(device(), train, Metric::l1);
  const Neighbors all = index.search(queries, k);
  for (const std::int64_t q : {std::int64_t{0}, m / 2, m - 1}) {
    const Neighbors one = index.search(queries.view().slice(q, 1), k);
    const auto from = static_cast<std::size_t>(q * k), count = static_cast<std::size_t>(k);
    CHECK(std::equal(one.row.begin(), one.row.end(), all.row.begin() + static_cast<std::ptrdiff_t>(from)));
    CHECK(std::memcmp(one.distance.data(), all.distance.data() + from, count * sizeof(float)) == 0);
  }
}

TEST_CASE("search: who names no metric gets distances of l2, everywhere") {
  const Matrix train = matrix(2, {3, 4, 0, 1, 6, 8}), query = matrix(2, {0, 0});
  const std::vector<std::int64_t> labels = {5, 6, 7};
  const std::vector<double> values = {1, 2, 3};
  const Index index(device(), train);
  CHECK(index.metric() == Metric::l2);
  CHECK(index.search(query, 3) == Neighbors{1, 3, {1, 5, 10}, {1, 0, 2}});
  CHECK(index.within(query, std::vector{5.0f}).row == std::vector<std::int64_t>{1, 0});
  CHECK(Classifier(device(), train, labels).classify(query, 2).neighbors.distance ==
        std::vector<float>{1, 5});
  const Regressor regressor(device(), train, MatrixView<const double>(values.data(), 3, 1));
  CHECK(regressor.regress(query, 2).neighbors.distance == std::vector<float>{1, 5});
}

TEST_CASE("search: an index knows its rows, and copies share them") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 90, 7, Metric::l1);
  const Index index(device(), train, Metric::l1);
  const Index copy = index;
  CHECK(copy.rows() == 90);
  CHECK(copy.dims() == 7);
  CHECK(copy.metric() == Metric::l1);
  CHECK(copy.device().info().spec == device().info().spec);
  CHECK(copy.memory_bytes() >= 90 * 7 * sizeof(float));
  CHECK(&copy.state() == &index.state());
}

TEST_CASE("search: refuses what the contract refuses, and says where it is") {
  const Matrix train = matrix(2, {1, 2, 3, 4});
  const auto index_error = [](const Matrix& rows, Metric metric) {
    return error_of([&] { Index(device(), rows, metric); });
  };
  CHECK(index_error(Matrix{0, 3, {}}, Metric::l1) ==
        "invalid_argument: index: the training rows are [0, 3]; give at least one row and one column");
  CHECK(index_error(Matrix{3, 0, {}}, Metric::l1) ==
        "invalid_argument: index: the training rows are [3, 0]; give at least one row and one column");
  CHECK(index_error(matrix(2, {1, 2, std::nanf(""), inf}), Metric::l1) ==
        "invalid_argument: index: training row 1, column 0 holds NaN; make every value finite, or leave the "
        "row out");
  CHECK(index_error(matrix(2, {0, 0, 1, 2}), Metric::cosine) ==
        "invalid_argument: index: training row 0 is all zeros, which has no direction; leave it out for "
        "cosine");
  const float one = 1;  // never read: the sizes are refused first
  CHECK(error_of([&] { Index(device(), MatrixView<const float>(&one, 4294967295, 1)); }) ==
        "invalid_argument: index: 4294967295 training rows, but an index holds at most 4294967294; split "
        "them over several");
  const auto search_error = [&](const Matrix& queries, std::int64_t k) {
    return error_of([&] { search(queries, train, Metric::l1, k); });
  };
  CHECK(search_error(train, 3) ==
        "invalid_argument: search: k = 3 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(search_error(train, 0) ==
        "invalid_argument: search: k = 0 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(search_error(train, -1) ==
        "invalid_argument: search: k = -1 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(search_error(matrix(3, {1, 2, 3}), 1) ==
        "invalid_argument: search: queries have 3 columns but the index has 2; give as many");
  CHECK(search_error(matrix(2, {1, 2, 1, -inf}), 1) ==
        "invalid_argument: search: query row 1, column 1 holds an infinity; make every value finite, or "
        "leave the row out");
}

TEST_CASE("search: the row named is the first bad one, however many rows there are") {
  Matrix train = hard_rows(DataKind::normal, Set::train, 5000, 3, Metric::l1);
  train.values[3 * 4998 + 1] = std::nanf("");
  train.values[3 * 1234 + 2] = inf;
  CHECK(error_of([&] { Index(device(), train, Metric::l1); }) ==
        "invalid_argument: index: training row 1234, column 2 holds an infinity; make every value finite, or "
        "leave the row out");
}

TEST_CASE("search: negative_dot refuses queries that could reach inf - inf, before the device sees them") {
  const Matrix train = matrix(2, {1e30f, 1e30f});
  CHECK(error_of([&] {
          search(matrix(2, {1, 1, -1e30f, 1}), train, Metric::negative_dot, 1);
        }) ==
        "invalid_argument: search: query row 1 reaches 1.00000002e+30 and the training rows 1.00000002e+30: "
        "dims * both = 2.00000006e+60 may overflow float; scale them so that it stays below 3.40282347e+38");
  CHECK(search(matrix(2, {1, 1}), train, Metric::negative_dot, 1) == Neighbors{1, 1, {-2e30f}, {0}});
  CHECK(search(matrix(2, {-1e30f, 1}), train, Metric::cosine, 1).row[0] == 0);  // lengths do not matter here
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_search
