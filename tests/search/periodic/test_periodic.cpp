// Tests an Index in a periodic box: docs/contract.md, section 3.
#include <cmath>

#include "common/data_files.hpp"
#include "common/parted/sets.hpp"
#include "kith/classifier.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "kith/knn_graph.hpp"
#include "search/periodic/boxed.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

TEST_SUITE_BEGIN("device");

TEST_CASE("periodic: every mask of open axes, by each metric, by boxes and without") {
  for (const Metric metric : box_metrics)
    for (int mask = 0; mask < 8; ++mask) {
      CAPTURE(std::string(name(metric)));
      CAPTURE(mask);
      const Lengths all{10, 3.7, 0x1p3};
      Lengths box;
      for (std::size_t d = 0; d < 3; ++d) box.push_back(mask >> d & 1 ? 0 : all[d]);
      const Boxed of = some_boxed(box, metric, 2200, 23);
      const Index index = of.index();
      CHECK(index.box() == box);
      check_all(of, index, false);
      if (device().info().boxes_max_k >= 7) check_all(of, index, true);
    }
}

TEST_CASE("periodic: other numbers of columns, and few rows") {
  for (const std::size_t dims : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{17}}) {
    CAPTURE(dims);
    Lengths box;
    for (std::size_t d = 0; d < dims; ++d) box.push_back(d % 4 == 3 ? 0 : 3.3 + static_cast<double>(d));
    for (const Metric metric : box_metrics) {
      check_all(some_boxed(box, metric, 60, 5), some_boxed(box, metric, 60, 5).index(), {});
      check_all(some_boxed(box, metric, 900, 140), some_boxed(box, metric, 900, 140).index(), false);
    }
  }
}

/// The squared distance to the nearest of the 3^d images of a row, where every operation is exact.
double nearest_image(const double* query, const double* row, const Lengths& box) {
  double best = std::numeric_limits<double>::infinity();
  for (int image = 0; image < 27; ++image) {
    double sum = 0;
    for (int d = 0, rest = image; d < 3; ++d, rest /= 3) {
      const double moved = row[d] + (rest % 3 - 1) * box[static_cast<std::size_t>(d)];
      sum += (query[d] - moved) * (query[d] - moved);
    }
    best = std::min(best, sum);
  }
  return best;
}

TEST_CASE("periodic: on a dyadic grid the distance is that of the nearest image of 27") {
  const Lengths box{8, 4, 16};
  Boxed of{box, spread_values(3 * 500, -8, 16, 1), spread_values(3 * 60, -8, 16, 2), Metric::squared_l2};
  for (std::vector<double>* values : {&of.train, &of.queries})
    for (double& value : *values) value = std::floor(value * 8) / 8;
  const Neighbors found = of.index().search(of.asked(), of.n());
  for (std::int64_t q = 0; q < of.m(); ++q)
    for (std::int64_t i = 0; i < of.n(); ++i) {
      const std::size_t at = size(q * of.n() + i);
      double query[3], row[3];
      for (std::size_t d = 0; d < 3; ++d) {
        query[d] = of.queries[size(q) * 3 + d] - box[d] * std::floor(of.queries[size(q) * 3 + d] / box[d]);
        row[d] = of.train[size(found.row[at]) * 3 + d];
        row[d] -= box[d] * std::floor(row[d] / box[d]);
      }
      REQUIRE(static_cast<double>(found.distance[at]) == nearest_image(query, row, box));
    }
}

TEST_CASE("periodic: values at the border, far outside, tiny, and far apart in an open column") {
  const Lengths box{10, 0, 0.1};
  const std::vector<double> values{0,     -0.0,   10,    -10,   1e-300, -1e-300, 9.9999999999, 10.000000001,
                                   -1e-9, 1e15,   -1e15, 5,     -5,     4.9999,  0.05,         0.0999999999,
                                   1e-46, -1e-46, 3e38,  -3e38, 1e-40,  25,      -25,          0.1};
  std::vector<double> rows;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      rows.push_back(values[i]);
      rows.push_back(values[(i * 7 + j) % values.size()]);
      rows.push_back(values[(i * 3 + 5 * j) % values.size()]);
    }
  for (const Metric metric : box_metrics) {
    const Boxed of{box, rows, rows, metric};
    CHECK(difference(of.index().search(of.asked(), of.n()), of.nearest(of.n())) == "");
    if (device().info().boxes_max_k >= 16)
      CHECK(difference(of.index().search(of.asked(), 16, {.boxes = true}), of.nearest(16)) == "");
  }
}

TEST_CASE("periodic: floats count as the doubles that they equal, and copies in other cells are equal rows") {
  const Boxed of = some_boxed({4, 0, 2.5}, Metric::l2, 300, 20);
  const std::vector<float> rows(of.train.begin(), of.train.end()),
      asked(of.queries.begin(), of.queries.end());
  const Boxed rounded{of.box, {rows.begin(), rows.end()}, {asked.begin(), asked.end()}, of.metric};
  const Index index(device(), RowsView(rows.data(), 300, 3), Metric::l2, in_box(of.box));
  CHECK(index.arithmetic() == Arithmetic::f32);
  CHECK(difference(index.search(RowsView(asked.data(), 20, 3), 9), rounded.nearest(9)) == "");
  CHECK(difference(index.search(rounded.asked(), 9), rounded.nearest(9)) == "");
  const Lengths cell{8};
  const std::vector<double> images{1, 9, -7, 3, 801};
  const Index same = Boxed{cell, images, {}, Metric::l2}.index({.deduplicate = true});
  const double query = 17;
  const Neighbors found = same.search(MatrixView<const double>(&query, 1, 1), 5);
  CHECK(found.row == std::vector<std::int64_t>{0, 1, 2, 4, 3});
  CHECK(found.distance == std::vector<float>{0, 0, 0, 0, 2});
}

TEST_CASE("periodic: rows that are added, removed, compacted and filtered, a graph, pairs and a radius") {
  const Boxed of = some_boxed({10, 5, 0}, Metric::l2, 800, 40);
  const Index whole = of.index();
  const Boxed half{of.box, {of.train.begin(), of.train.begin() + 1200}, {}, of.metric};
  const MatrixView<const double> rest(of.train.data() + 1200, 400, 3);
  check_all(of, half.index().with(rest), false);
  check_all(of, half.index().with(rest).compact(), {});
  const std::vector<std::int64_t> gone{3, 400, 799};
  CHECK(whole.without(gone).search(of.asked(), 6) == whole.without(gone).compact().search(of.asked(), 6));
  Boxed fewer = of;
  for (std::size_t i = gone.size(); i-- > 0;)
    fewer.train.erase(fewer.train.begin() + 3 * gone[i], fewer.train.begin() + 3 * gone[i] + 3);
  CHECK(whole.without(gone).search(of.asked(), 6).distance == fewer.nearest(6).distance);
  std::vector<std::uint32_t> words(25, 0x0F0F0F0Fu);
  Neighbors kept{of.m(), 5, {}, {}};
  for (const std::vector<Key>& list : of.keys())
    for (std::size_t i = 0, found = 0; found < 5; ++i)
      if (words[row_of(list[i]) / 32] >> row_of(list[i]) % 32 & 1) {
        kept.distance.push_back(of.shown(list[i]));
        kept.row.push_back(row_of(list[i]));
        ++found;
      }
  for (const bool boxes : {false, true}) {
    if (boxes && device().info().boxes_max_k < 5) continue;
    CHECK(whole.search(of.asked(), 5,
                       {.boxes = boxes,
                        .filter = FilterWords(MatrixView<const std::uint32_t>(words.data(), 1, 25))}) ==
          kept);
  }
  const Boxed own{of.box, of.train, of.train, of.metric};
  Neighbors others{of.n(), 4, {}, {}};
  std::int64_t q = 0;
  for (const std::vector<Key>& list : own.keys()) {
    for (std::size_t i = 0, found = 0; found < 4; ++i)
      if (row_of(list[i]) != static_cast<std::uint32_t>(q)) {
        others.distance.push_back(of.shown(list[i]));
        others.row.push_back(row_of(list[i]));
        ++found;
      }
    ++q;
  }
  CHECK(difference(whole.search(of.rows(), 4, {.self = 0}), others) == "");
  const RadiusNeighbors near = own.within(0.7);
  std::vector<std::int64_t> first, second;
  for (std::size_t row = 0; row + 1 < near.first.size(); ++row)
    for (std::size_t i = size(near.first[row]); i < size(near.first[row + 1]); ++i)
      if (near.row[i] > static_cast<std::int64_t>(row)) {
        first.push_back(static_cast<std::int64_t>(row));
        second.push_back(near.row[i]);
      }
  std::vector<std::int64_t> found_first, found_second;
  PairSearch pairs = whole.pairs(0.7);
  for (Pairs block; pairs.next(block);) {
    found_first.insert(found_first.end(), block.first.begin(), block.first.end());
    found_second.insert(found_second.end(), block.second.begin(), block.second.end());
  }
  CHECK(found_first == first);
  CHECK(found_second == second);
}

TEST_CASE("periodic: columns that do not count, shards, classes, sets and groups") {
  const Boxed of = some_boxed({10, 5}, Metric::l1, 500, 30);
  std::vector<double> wide, asked;
  for (std::size_t i = 0; i < of.train.size(); i += 2)
    wide.insert(wide.end(), {of.train[i], std::nan(""), of.train[i + 1]});
  for (std::size_t i = 0; i < of.queries.size(); i += 2)
    asked.insert(asked.end(), {of.queries[i], 1e300, of.queries[i + 1]});
  IndexOptions options = in_box({10, -4, 5});
  options.features = {2, 0};
  options.arithmetic = Arithmetic::f32;
  const Index index(device(), MatrixView<const double>(wide.data(), 500, 3), Metric::l1, options);
  CHECK(index.box() == Lengths{10, 0, 5});
  CHECK(difference(index.search(MatrixView<const double>(asked.data(), 30, 3), 6), of.nearest(6)) == "");
  const Boxed one{of.box, {of.train.begin(), of.train.begin() + 400}, {}, of.metric};
  const Boxed two{of.box, {of.train.begin() + 400, of.train.end()}, {}, of.metric};
  const std::vector<Keys> keys{one.index().search_keys(of.asked(), 6),
                               two.index({.first_row = 200}).search_keys(of.asked(), 6)};
  CHECK(merge(keys) == of.index().search_keys(of.asked(), 6));
  for (const Placement placement : {Placement::split, Placement::replicate}) {
    IndexOptions set = in_box(of.box);
    set.placement = placement;
    set.arithmetic = Arithmetic::f32;
    check_all(of, Index(set_of(2), of.rows(), of.metric, set), false);
    CHECK(difference(Index(set_of(3), of.rows(), of.metric, set).with(of.rows()).search(of.asked(), 1),
                     of.nearest(1)) == "");
  }
  std::vector<std::int64_t> labels;
  for (std::int64_t t = 0; t < 500; ++t) labels.push_back(t % 3);
  std::vector<std::int64_t> nearest;
  for (const std::int64_t row : of.nearest(1).row) nearest.push_back(row % 3);
  CHECK(Classifier(of.index(), {labels.data(), 500, 1}).predict(of.asked(), 1) == nearest);
  const Index grouped = of.index({.groups = {0, 400 / 2, 500}});
  const Neighbors of_groups = grouped.search(of.asked(), 3, {.groups = {0, 15, 30}});
  CHECK(difference(Neighbors{15,
                             3,
                             {of_groups.distance.begin(), of_groups.distance.begin() + 45},
                             {of_groups.row.begin(), of_groups.row.begin() + 45}},
                   one.index().search(MatrixView<const double>(of.queries.data(), 15, 2), 3)) == "");
}

TEST_CASE("periodic: index files keep the box, whole and in parts") {
  const Boxed of = some_boxed({10, 0, 2.5}, Metric::l2, 400, 20);
  const Folder folder;
  const Index index = of.index();
  save(index, folder / "a.kidx");
  const Index opened = open_index(folder / "a.kidx", device());
  CHECK(opened.box() == of.box);
  check_all(of, opened, {});
  save(opened, folder / "again.kidx");
  CHECK(folder.read("again.kidx") == folder.read("a.kidx"));
  CHECK(opened.with(of.rows()).search(of.asked(), 1) == index.search(of.asked(), 1));
  CHECK(index_file_info(folder / "a.kidx").periodic);
  CHECK(read_index_rows(folder / "a.kidx").box == of.box);
  OpenOptions first{.rows = 123}, second{.first = 123};
  const std::vector<Keys> keys{open_index(folder / "a.kidx", device(), first).search_keys(of.asked(), 5),
                               open_index(folder / "a.kidx", device(), second).search_keys(of.asked(), 5)};
  CHECK(merge(keys) == index.search_keys(of.asked(), 5));
  CHECK(
      error_of([&] { file_source(folder / "a.kidx"); })
          .ends_with(
              "the rows are in a periodic box, which a source of rows does not have; open the index itself"));
}

TEST_CASE("periodic: a count takes away the row that a query is not, by its image") {
  const Boxed of = some_boxed({10, 5, 0}, Metric::l1, 300, 40);
  const std::vector<double> radii{1, 3, 6};
  const std::vector<std::int64_t> all = of.index().count(of.asked(), {.radius = {radii.data(), 1, 3}});
  std::vector<std::int64_t> others = all;
  const std::vector<std::vector<Key>> keys = of.keys();
  for (std::size_t q = 0; q < keys.size(); ++q)
    for (const Key key : keys[q])
      for (std::size_t r = 0; r < 3; ++r)
        if (row_of(key) == q + 7 && static_cast<double>(of.shown(key)) <= radii[r]) --others[3 * q + r];
  CHECK(of.index().count(of.asked(), {.radius = {radii.data(), 1, 3}}, {.self = 7}) == others);
  CHECK(all != others);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
