// kith.h: an index in double precision gives what an oracle of docs/contract.md finds, and no other width.
#include "c_api/c_doubles.hpp"
#include "common/oracle.hpp"

namespace kith::tests::test_c_doubles {
namespace {

using namespace c;

constexpr std::int64_t n = 150, m = 9, columns = 4, k = 5;

/// Returns room for lists of k.
Neighbors room_for(std::int64_t queries) {
  Neighbors room;
  room.queries = queries;
  room.k = k;
  room.arithmetic = Arithmetic::f64;
  room.row.resize(size(queries * k));
  room.distance64.resize(size(queries * k));
  return room;
}

Neighbors searched(const kith_index* index, const DoubleMatrix& queries,
                   const kith_search_options* options = nullptr) {
  Neighbors found = room_for(queries.rows);
  const kith_rows asked = rows_of(queries);
  CHECK(told(kith_index_search_f64(index, &asked, k, options, found.distance64.data(), found.row.data())) ==
        "ok");
  return found;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: doubles: rows and queries of 64-bit integers are exact") {
  const OpenDevice on = opened();
  const std::int64_t train[] = {1700000000000000, 1700000000000001, 3}, query = 1700000000000001;
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = train, rows.rows = 3, rows.cols = 1, rows.element = KITH_I64;
  const Rows index = index_of(on.get(), rows, by("l1"));
  rows.data = &query, rows.rows = 1;
  double distance = 0;
  std::int64_t row = 0;
  CHECK(told(kith_index_search_f64(index.get(), &rows, 1, nullptr, &distance, &row)) == "ok");
  CHECK(row == 1);
  CHECK(distance == 0);
}

TEST_CASE("c: doubles: searches, radii and graphs by each metric are those of the oracle") {
  const OpenDevice on = opened();
  std::mt19937 random(1);
  for (const Metric metric : all_metrics) {
    if (compares_bits(metric)) continue;
    for (const DoubleData kind : {DoubleData::map, DoubleData::float_ulp, DoubleData::huge}) {
      if (kind == DoubleData::huge && metric == Metric::negative_dot) continue;  // it may overflow
      CAPTURE(std::string(name(metric)));
      CAPTURE(static_cast<int>(kind));
      const DoubleMatrix train = double_rows(kind, n, columns, random),
                         queries = double_rows(kind, m, columns, random);
      const kith_index_options options = by(name(metric).data());
      const kith_rows rows = rows_of(train), asked = rows_of(queries);
      const Rows index = index_of(on.get(), rows, options);
      const auto all = all_by_oracle(metric, train, queries, every);
      const Neighbors right = nearest_by_oracle(metric, all, k);
      CHECK(searched(index.get(), queries) == right);
      std::vector<double> radii;
      for (std::int64_t q = 0; q < m; ++q) radii.push_back(right.distance64[size(q * k + q % k)]);
      const Within within = made<Within>([&](kith_within** out) {
        return kith_index_within_f64(index.get(), &asked, radii.data(), m, nullptr, out);
      });
      CHECK(doubles_of(within.get()) == within_by_oracle(metric, all, radii));
      Neighbors graph = room_for(n);
      CHECK(told(kith_knn_graph_f64(on.get(), &rows, k, &options, nullptr, graph.distance64.data(),
                                    graph.row.data())) == "ok");
      CHECK(graph == nearest_by_oracle(metric, all_by_oracle(metric, train, train, no_other), k));
    }
  }
}

TEST_CASE("c: doubles: rows that come and go, options of a search, and outputs that nobody wants") {
  const OpenDevice on = opened();
  std::mt19937 random(2);
  const DoubleMatrix train = double_rows(DoubleData::map, n, columns, random);
  const kith_rows rows = rows_of(train);
  const kith_rows first = part_of(train, 0, 100), rest = part_of(train, 100, n - 100);
  const kith_index_options l2 = by("l2");
  const Rows some = index_of(on.get(), first, l2);
  const Rows whole =
      made<Rows>([&](kith_index** out) { return kith_index_with(some.get(), &rest, nullptr, out); });
  const std::int64_t gone[] = {3, 70, 149};
  const Rows fewer =
      made<Rows>([&](kith_index** out) { return kith_index_without(whole.get(), gone, 3, out); });
  const Rows compact = made<Rows>([&](kith_index** out) { return kith_index_compact(fewer.get(), out); });
  const auto left = all_by_oracle(Metric::l2, train, train, [&](std::int64_t, std::int64_t row) {
    return row != 3 && row != 70 && row != 149;
  });
  const Neighbors right = nearest_by_oracle(Metric::l2, left, k);
  CHECK(searched(fewer.get(), train) == right);
  CHECK(searched(compact.get(), train) == right);
  kith_search_options options = KITH_INIT(kith_search_options);
  options.has_self = 1;
  const Neighbors others =
      nearest_by_oracle(Metric::l2, all_by_oracle(Metric::l2, train, train, no_other), k);
  CHECK(searched(whole.get(), train, &options) == others);
  std::vector<std::int64_t> row(others.row.size());
  std::vector<double> distance(others.row.size());
  CHECK(told(kith_index_search_f64(whole.get(), &rows, k, &options, nullptr, row.data())) == "ok");
  CHECK(told(kith_index_search_f64(whole.get(), &rows, k, &options, distance.data(), nullptr)) == "ok");
  CHECK(row == others.row);
  CHECK(distance == others.distance64);
}

TEST_CASE("c: doubles: floats enter an index in double precision as they are") {
  const OpenDevice on = opened();
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, columns, Metric::l2);
  const DoubleMatrix same{n, columns, {train.values.begin(), train.values.end()}};
  const Rows index = index_of(on.get(), c::rows_of(train), by("l2", "f64"));
  kith_index_info info = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(index.get(), &info)) == "ok");
  CHECK(std::string(info.arithmetic) == "f64");
  CHECK(searched(index.get(), same) ==
        nearest_by_oracle(Metric::l2, all_by_oracle(Metric::l2, same, same, every), k));
}

TEST_CASE("c: doubles: arrays of the other width are refused, and the right function is named") {
  const OpenDevice on = opened("cpu");
  std::mt19937 random(3);
  const DoubleMatrix doubles = double_rows(DoubleData::normal, 8, 2, random);
  const Matrix floats = matrix(2, {1, 2, 3, 4, 5, 6});
  const kith_rows wide = rows_of(doubles), narrow = c::rows_of(floats);
  const Rows in_doubles = index_of(on.get(), wide, by("l2")),
             in_floats = index_of(on.get(), narrow, by("l2"));
  kith_index_info info = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(in_floats.get(), &info)) == "ok");
  CHECK(std::string(info.arithmetic) == "f32");
  const std::string of_doubles =
                        "the index computes in double precision, and its distances are doubles; call ",
                    of_floats = "the index computes in single precision, and its distances are floats; call ";
  const double radius64 = 1;
  const float radius = 1;
  kith_within* within = nullptr;
  CHECK(told(kith_index_search(in_doubles.get(), &wide, 1, nullptr, nullptr, nullptr)) ==
        "2: kith_index_search: " + of_doubles + "kith_index_search_f64()");
  CHECK(told(kith_index_search_f64(in_floats.get(), &narrow, 1, nullptr, nullptr, nullptr)) ==
        "2: kith_index_search_f64: " + of_floats + "kith_index_search()");
  CHECK(told(kith_index_within(in_doubles.get(), &wide, &radius, 1, nullptr, &within)) ==
        "2: kith_index_within: " + of_doubles + "kith_index_within_f64()");
  CHECK(told(kith_index_within_f64(in_floats.get(), &narrow, &radius64, 1, nullptr, &within)) ==
        "2: kith_index_within_f64: " + of_floats + "kith_index_within()");
  CHECK(told(kith_knn_graph(on.get(), &wide, 1, nullptr, nullptr, nullptr, nullptr)) ==
        "2: kith_knn_graph: " + of_doubles + "kith_knn_graph_f64()");
  CHECK(told(kith_knn_graph_f64(on.get(), &narrow, 1, nullptr, nullptr, nullptr, nullptr)) ==
        "2: kith_knn_graph_f64: " + of_floats + "kith_knn_graph()");
  kith_device_answers answers = KITH_INIT(kith_device_answers);
  answers.where = KITH_CUDA;
  CHECK(told(kith_index_search_on_device(in_doubles.get(), &wide, 1, nullptr, &answers)) ==
        "2: search_into: distances of the index are f64, and the memory is for f32; give memory of that "
        "element");
  answers.element = KITH_F64;
  CHECK(told(kith_index_search_on_device(in_floats.get(), &narrow, 1, nullptr, &answers)) ==
        "2: search_into: distances of the index are f32, and the memory is for f64; give memory of that "
        "element");
  answers.element = KITH_I64 + 1;
  CHECK(told(kith_index_search_on_device(in_doubles.get(), &wide, 1, nullptr, &answers)) ==
        "6: kith_index_search_on_device: the answers have element = 10; this kith knows 0 to 9");
  CHECK(told(kith_index_search_f64(in_doubles.get(), &wide, 9, nullptr, nullptr, nullptr))
            .starts_with("2: search: k = 9 is out of range for an index of 8 rows"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_doubles
