// Tests an Index in a periodic box: docs/contract.md, section 3. The oracle here is written from
// the contract.
#include <cmath>

#include "common/data_files.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "kith/classifier.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "kith/knn_graph.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;
using Lengths = std::vector<double>;

constexpr Metric box_metrics[] = {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf};

IndexOptions in_box(Lengths lengths) {
  return {.box = std::move(lengths)};
}

// ---- The oracle ----------------------------------------------------------------------------------

/// Moves a value into the box, in double precision, and rounds it.
float moved_by_contract(double x, double length) {
  if (length == 0) return static_cast<float>(x);
  double rest = std::fmod(x, length);
  if (rest < 0) rest += length;
  const auto rounded = static_cast<float>(rest);
  return rounded >= static_cast<float>(length) ? 0.0f : rounded;
}

std::vector<float> moved_by_contract(const std::vector<double>& rows, const Lengths& box) {
  std::vector<float> moved;
  for (std::size_t i = 0; i < rows.size(); ++i)
    moved.push_back(moved_by_contract(rows[i], box[i % box.size()]));
  return moved;
}

/// Returns the chain of a query and a row that are in the box.
float chain_in_box(Metric metric, const float* query, const float* row, const Lengths& box) {
  float s = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    float t = std::fabs(query[d] - row[d]);
    if (box[d] > 0) t = std::min(t, static_cast<float>(box[d]) - t);
    s = metric == Metric::l1 ? s + t : metric == Metric::linf ? std::max(s, t) : std::fma(t, t, s);
  }
  return s;
}

/// Holds rows, queries, and the keys of all pairs, ascending.
struct Boxed {
  Lengths box;
  std::vector<double> train, queries;
  Metric metric;

  std::int64_t dims() const { return static_cast<std::int64_t>(box.size()); }
  std::int64_t n() const { return static_cast<std::int64_t>(train.size()) / dims(); }
  std::int64_t m() const { return static_cast<std::int64_t>(queries.size()) / dims(); }
  MatrixView<const double> rows() const { return {train.data(), n(), dims()}; }
  MatrixView<const double> asked() const { return {queries.data(), m(), dims()}; }
  Index index(const IndexOptions& options = {}) const {
    IndexOptions own = options;
    own.box = box;
    own.arithmetic = Arithmetic::f32;
    return Index(device(), rows(), metric, own);
  }

  std::vector<std::vector<Key>> keys() const {
    const std::vector<float> b = moved_by_contract(train, box), a = moved_by_contract(queries, box);
    std::vector<std::vector<Key>> all;
    for (std::int64_t q = 0; q < m(); ++q) {
      std::vector<Key> list;
      for (std::int64_t t = 0; t < n(); ++t)
        list.push_back(make_key(chain_in_box(metric, a.data() + q * dims(), b.data() + t * dims(), box),
                                static_cast<std::uint32_t>(t)));
      std::sort(list.begin(), list.end());
      all.push_back(std::move(list));
    }
    return all;
  }
  float shown(Key key) const {
    const float value = value_of(key);
    return metric == Metric::l2 ? std::sqrt(value) : value;
  }
  Neighbors nearest(std::int64_t k) const {
    Neighbors right{m(), k, {}, {}};
    for (const std::vector<Key>& list : keys())
      for (std::int64_t i = 0; i < k; ++i) {
        right.distance.push_back(shown(list[size(i)]));
        right.row.push_back(row_of(list[size(i)]));
      }
    return right;
  }
  RadiusNeighbors within(double radius) const {
    RadiusNeighbors right{m(), {0}, {}, {}};
    for (const std::vector<Key>& list : keys()) {
      for (const Key key : list) {
        if (static_cast<double>(shown(key)) > radius) break;
        right.distance.push_back(shown(key));
        right.row.push_back(row_of(key));
      }
      right.first.push_back(static_cast<std::int64_t>(right.row.size()));
    }
    return right;
  }
};

/// Returns values from `least` to `most`.
std::vector<double> spread_values(std::size_t count, double least, double most, std::uint64_t seed) {
  std::vector<double> values;
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(least + (most - least) * (static_cast<double>(state >> 11u) * 0x1p-53));
  }
  return values;
}

Boxed some_boxed(Lengths box, Metric metric, std::int64_t n, std::int64_t m) {
  const std::size_t dims = box.size();
  return {std::move(box), spread_values(size(n) * dims, -7, 13, 5), spread_values(size(m) * dims, -9, 12, 6),
          metric};
}

/// Checks all searches of an Index of `of`, by boxes where `boxes` says so.
void check_all(const Boxed& of, const Index& index, std::optional<bool> boxes) {
  SearchOptions how{.boxes = boxes};
  CHECK(difference(index.search(of.asked(), 7, how), of.nearest(7)) == "");
  for (const double radius : {0.0, 0.9, 2.5}) {
    CAPTURE(radius);
    const RadiusNeighbors right = of.within(radius);
    const auto rounded = static_cast<float>(radius);
    CHECK(index.within(of.asked(), {&rounded, 1}, how) == of.within(static_cast<double>(rounded)));
    const std::vector<double> radii{radius};
    std::vector<std::int64_t> counts;
    for (std::size_t q = 0; q + 1 < right.first.size(); ++q)
      counts.push_back(right.first[q + 1] - right.first[q]);
    CHECK(index.count(of.asked(), {.radius = {radii.data(), 1, 1}}, how) == counts);
  }
}

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

std::string refused_box(const Lengths& box, IndexOptions options = {}, Metric metric = Metric::l2) {
  const std::vector<float> rows{1, 2, 3, 4};
  options.box = box;
  return error_of([&] { Index(device(), RowsView(rows.data(), 2, 2), metric, options); });
}

TEST_CASE("periodic: what is refused") {
  CHECK(
      refused_box({1}) ==
      "invalid_argument: index: the box has 1 length for rows of 2 columns; give one a column, 0 for an open "
      "one");
  CHECK(refused_box({1, 2, 3}).starts_with(
      "invalid_argument: index: the box has 3 lengths for rows of 2 columns"));
  const std::string advice = "; give a length above 0 that a float can have, or 0 for an open column";
  CHECK(refused_box({1, -2}) == "invalid_argument: index: the box is -2 long in column 1" + advice);
  CHECK(refused_box({std::nan(""), 2}) ==
        "invalid_argument: index: the box is nan long in column 0" + advice);
  CHECK(refused_box({HUGE_VAL, 2}) == "invalid_argument: index: the box is inf long in column 0" + advice);
  CHECK(refused_box({1e-60, 2}) == "invalid_argument: index: the box is 1e-60 long in column 0" + advice);
  CHECK(refused_box({1, 1e60}) == "invalid_argument: index: the box is 1e+60 long in column 1" + advice);
  for (const Metric metric : {Metric::cosine, Metric::negative_dot})
    CHECK(refused_box({1, 2}, {}, metric) ==
          "invalid_argument: index: a box is for differences of values, and " + std::string(name(metric)) +
              " is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
  CHECK(refused_box({1, 2}, {.centre = {1, 2}}) ==
        "invalid_argument: index: there are a box, into which values are moved, and a centre; leave one of "
        "them "
        "out");
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4};
  CHECK(error_of([&] {
          Index(device(), RowsView(bytes.data(), Element::u8, 2, 2), Metric::l2, in_box({9, 9}));
        }) ==
        "invalid_argument: index: the training rows are u8, and a box is for f32 and f64; give these, or "
        "leave the "
        "box out");
  const double large[] = {1e300, 1e300};
  IndexOptions rounds = in_box({9, 0});
  rounds.arithmetic = Arithmetic::f32;
  CHECK(
      error_of([&] { Index(device(), MatrixView<const double>(large, 1, 2), Metric::l2, rounds); })
          .starts_with(
              "invalid_argument: index: training row 0, column 1 is 1e+300, which is too large for a float"));
  const float bad[] = {1, NAN};
  CHECK(error_of([&] {
          Index(device(), RowsView(bad, 1, 2), Metric::l2, in_box({9, 9}));
        }).starts_with("invalid_argument: index: training row 0, column 1"));
  const std::vector<float> few{1, 2, 3, 4};
  const Index index(device(), RowsView(few.data(), 2, 2), Metric::l2, in_box({9, 9}));
  CHECK(
      error_of([&] { index.search(RowsView(few.data(), 2, 2), 1, {.proposer = Proposer::gemm}); }) ==
      "unsupported: search: proposer gemm works by inner products, from which l2 in a periodic box does not "
      "follow; choose proposer none");
  CHECK(error_of([&] { index.search(RowsView(few.data(), 2, 2), 1, {.fused = true}); }) ==
        "unsupported: search: the fused step is not for rows in a periodic box; drop the demand for it");
  CHECK(error_of([&] {
          Index(device(), memory_source(RowsView(few.data(), 2, 2)), Metric::l2,
                {.residence = Residence::stream, .box = {9, 9}});
        }) ==
        "unsupported: index: there is a box, into which rows that stay in a source cannot be moved; choose "
        "residence resident");
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

/// Returns the chain in double precision of values that are moved into the box first.
double double_chain_in_box(Metric metric, const double* query, const double* row, const Lengths& box) {
  const auto moved = [](double x, double length) {
    if (length == 0) return x;
    const double rest = std::fmod(x, length), inside = rest < 0 ? rest + length : rest;
    return inside >= length ? 0 : inside;
  };
  double s = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    double t = std::fabs(moved(query[d], box[d]) - moved(row[d], box[d]));
    if (box[d] > 0) t = std::min(t, box[d] - t);
    s = metric == Metric::l1 ? s + t : metric == Metric::linf ? std::max(s, t) : std::fma(t, t, s);
  }
  return s;
}

/// Checks all searches in double precision of `of`, whose rows are near each other by less than floats tell.
void check_doubles(const Boxed& of, const Index& index) {
  REQUIRE(index.arithmetic() == Arithmetic::f64);
  Neighbors right{of.m(), 6, {}, {}, Arithmetic::f64, {}};
  std::vector<std::int64_t> counts;
  for (std::int64_t q = 0; q < of.m(); ++q) {
    std::vector<std::pair<double, std::int64_t>> list;
    for (std::int64_t t = 0; t < of.n(); ++t)
      list.emplace_back(double_chain_in_box(of.metric, of.queries.data() + q * of.dims(),
                                            of.train.data() + t * of.dims(), of.box),
                        t);
    std::sort(list.begin(), list.end());
    const auto shown = [&](double value) { return of.metric == Metric::l2 ? std::sqrt(value) : value; };
    for (std::size_t i = 0; i < 6; ++i) {
      right.distance64.push_back(shown(list[i].first));
      right.row.push_back(list[i].second);
    }
    const double radius = of.box[0] / 8;
    counts.push_back(
        std::count_if(list.begin(), list.end(), [&](const auto& one) { return shown(one.first) <= radius; }));
  }
  const Neighbors found = index.search(of.asked(), 6);
  CHECK(found.row == right.row);
  CHECK(found.distance64 == right.distance64);
  const std::vector<double> radius{of.box[0] / 8};
  CHECK(index.count(of.asked(), {.radius = {radius.data(), 1, 1}}) == counts);
  const RadiusNeighbors near = index.within(of.asked(), radius);
  for (std::size_t q = 0; q < counts.size(); ++q) CHECK(near.first[q + 1] - near.first[q] == counts[q]);
}

TEST_CASE("periodic: doubles have the bits of the chain of doubles, at any scale") {
  for (const Metric metric : box_metrics)
    for (const double scale : {1.0, 1e-30, 3e30})
      for (const int open : {0, 2, 6}) {
        CAPTURE(std::string(name(metric)));
        CAPTURE(scale);
        CAPTURE(open);
        Lengths box{10 * scale, open & 2 ? 0 : 3.7 * scale, open & 4 ? 0 : 0.1 * scale};
        Boxed of{box, spread_values(3 * 700, -7 * scale, 13 * scale, 5),
                 spread_values(3 * 12, -9 * scale, 12 * scale, 6), metric};
        for (std::size_t i = 30; i < of.train.size();
             i += 7)  // some lie nearer than floats tell, in other cells
          of.train[i] = of.train[i % 3] + 1e-10 * scale * static_cast<double>(i) +
                        box[i % 3] * static_cast<double>(i % 5);
        of.train[3] = -1e-25 * scale;
        of.train[6] = box[0] * (1 - 0x1p-40);
        const Index index(device(), of.rows(), metric, in_box(box));
        check_doubles(of, index);
        const Boxed half{box, {of.train.begin(), of.train.begin() + 600}, {}, metric};
        const MatrixView<const double> rest(of.train.data() + 600, 500, 3);
        check_doubles(of, Index(device(), half.rows(), metric, in_box(box)).with(rest));
        const Folder folder;
        save(index, folder / "a.kidx");
        const Index opened = open_index(folder / "a.kidx", device());
        CHECK(opened.box() == box);
        check_doubles(of, opened);
      }
}

TEST_CASE("periodic: a device that ignores the box is found, and refused") {
  if (device().info().backend != "planted") return;
  const Device wrong = open_device("planted:18");
  const std::vector<float> rows{1, 2, 3, 4};
  const Index index(wrong, RowsView(rows.data(), 2, 2), Metric::l1, in_box({9, 0}));
  const std::string why =
      "planted:18: distances by l1 in a periodic box were wrong in a test of 77 rows; choose boxes, or "
      "update the "
      "device's driver";
  CHECK(error_of([&] { index.search(RowsView(rows.data(), 2, 2), 1); }) == "unsupported: search: " + why);
  const float radius = 1;
  CHECK(error_of([&] {
          index.within(RowsView(rows.data(), 2, 2), {&radius, 1});
        }) == "unsupported: within: " + why);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
