// kith.h: an index with a centre, or in a periodic box, answers as that of C++.
#include "c_api/c_support.hpp"
#include "common/folder.hpp"
#include "kith/centre.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_c_search_centre {
namespace {

using namespace c;
using Doubles = std::vector<double>;

constexpr std::int64_t n = 200, m = 11, k = 4;

kith_index_options learning() {
  kith_index_options options = KITH_INIT(kith_index_options);
  options.learn_centre = 1;
  return options;
}

Neighbors found(const kith_index* index, const kith_rows& queries) {
  Neighbors lists{queries.rows, k, std::vector<float>(size(queries.rows * k)),
                  std::vector<std::int64_t>(size(queries.rows * k))};
  REQUIRE(told(kith_index_search(index, &queries, k, nullptr, lists.distance.data(), lists.row.data())) ==
          "ok");
  return lists;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: a centre, learned and given, of an index, its file, more rows and a graph") {
  const Doubles train = map_points(n, 1), asked = map_points(m, 2);
  const kith_rows rows = rows_of_doubles(train), queries = rows_of_doubles(asked);
  const MatrixView<const double> train_view(train.data(), n, 3), query_view(asked.data(), m, 3);
  IndexOptions learn{.learn_centre = true};
  const Index beside(device(), train_view, Metric::l2, learn);
  const Neighbors right = beside.search(query_view, k);
  const OpenDevice on = opened();
  kith_index_options options = learning();
  const Rows learned =
      made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &options, out); });
  CHECK(found(learned.get(), queries) == right);
  kith_index_info info = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(learned.get(), &info)) == "ok");
  CHECK(Doubles(info.centre, info.centre + 3) == beside.centre());
  options = KITH_INIT(kith_index_options);
  options.centre = beside.centre().data();
  options.centre_count = 3;
  const Rows given =
      made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &options, out); });
  CHECK(found(given.get(), queries) == right);
  const Rows more =
      made<Rows>([&](kith_index** out) { return kith_index_with(given.get(), &queries, nullptr, out); });
  CHECK(found(more.get(), queries) == beside.with(query_view).search(query_view, k));
  const test_support::TemporaryFolder folder;
  REQUIRE(told(kith_index_save(learned.get(), (folder / "a.kidx").c_str(), nullptr, nullptr, nullptr)) ==
          "ok");
  const Rows read = made<Rows>(
      [&](kith_index** out) { return kith_index_open(on.get(), (folder / "a.kidx").c_str(), nullptr, out); });
  CHECK(found(read.get(), queries) == right);
  kith_index_file_info file = KITH_INIT(kith_index_file_info);
  REQUIRE(told(kith_index_file_describe((folder / "a.kidx").c_str(), &file)) == "ok");
  CHECK(file.centred == 1);
  kith_index_options source = KITH_INIT(kith_index_options);
  source.residence = "stream";
  const Rows streamed = made<Rows>([&](kith_index** out) {
    return kith_index_from_file(on.get(), (folder / "a.kidx").c_str(), &source, out);
  });
  CHECK(found(streamed.get(), queries) == right);
  Neighbors graph{n, k, std::vector<float>(size(n * k)), std::vector<std::int64_t>(size(n * k))};
  options = learning();
  REQUIRE(told(kith_knn_graph(on.get(), &rows, k, &options, nullptr, graph.distance.data(),
                              graph.row.data())) == "ok");
  SearchOptions own{.self = 0};
  CHECK(graph == beside.search(train_view, k, own));
  options = KITH_INIT(kith_index_options);
  options.arithmetic = "f32";
  kith_index* none = nullptr;
  CHECK(told(kith_index_new(on.get(), &rows, &options, &none))
            .starts_with("6: index: the training rows are f64"));
  options.learn_centre = 2;
  CHECK(told(kith_index_new(on.get(), &rows, &options, &none)) ==
        "2: kith_index_new: learn_centre = 2; choose 0 or 1");
}

TEST_CASE("c: a periodic box of an index and its file") {
  const Doubles train = map_points(n, 1), asked = map_points(m, 2), box{70, 0, 9};
  const kith_rows rows = rows_of_doubles(train), queries = rows_of_doubles(asked);
  IndexOptions in_box{.box = box};
  in_box.arithmetic = Arithmetic::f32;
  const Neighbors right = Index(device(), MatrixView<const double>(train.data(), n, 3), Metric::l2, in_box)
                              .search(MatrixView<const double>(asked.data(), m, 3), k);
  const OpenDevice on = opened();
  kith_index_options options = KITH_INIT(kith_index_options);
  options.box = box.data();
  options.box_count = 3;
  options.arithmetic = "f32";
  const Rows index =
      made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &options, out); });
  CHECK(found(index.get(), queries) == right);
  kith_index_info info = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(index.get(), &info)) == "ok");
  CHECK(Doubles(info.box, info.box + 3) == box);
  CHECK(info.centre == nullptr);
  const test_support::TemporaryFolder folder;
  const std::string path = folder / "a.kidx";
  REQUIRE(told(kith_index_save(index.get(), path.c_str(), nullptr, nullptr, nullptr)) == "ok");
  const Rows read =
      made<Rows>([&](kith_index** out) { return kith_index_open(on.get(), path.c_str(), nullptr, out); });
  CHECK(found(read.get(), queries) == right);
  kith_index_file_info file = KITH_INIT(kith_index_file_info);
  REQUIRE(told(kith_index_file_describe(path.c_str(), &file)) == "ok");
  CHECK(file.periodic == 1);
  options.box_count = 2;
  kith_index* none = nullptr;
  CHECK(told(kith_index_new(on.get(), &rows, &options, &none))
            .starts_with("2: index: the box has 2 lengths for rows of 3 columns"));
}

TEST_CASE("c: a centre that several learn one after the other is that of all rows") {
  const Doubles train = map_points(n, 3);
  Doubles state(6), centre(3);
  for (std::int64_t first = 0; first < n; first += 60) {
    kith_rows part = rows_of_doubles(train);
    part.offset_bytes = first * 24;
    part.rows = std::min<std::int64_t>(60, n - first);
    REQUIRE(told(kith_centre_learn(&part, first, state.data(), centre.data())) == "ok");
  }
  ColumnSums sums;
  sums.add(MatrixView<const double>(train.data(), n, 3));
  CHECK(centre == sums.centre());
  kith_rows part = rows_of_doubles(train);
  CHECK(told(kith_centre_learn(&part, -1, state.data(), nullptr)) ==
        "2: kith_centre_learn: before = -1; give 0 or more");
  CHECK(kith_centre_learn(&part, 0, nullptr, nullptr) == KITH_INVALID_ARGUMENT);
  CHECK(kith_centre_learn(nullptr, 0, state.data(), nullptr) == KITH_INVALID_ARGUMENT);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_search_centre
