// Tests an Index with a centre, which is subtracted in double precision from rows and queries:
// docs/contract.md, section 3. Its answers equal, bit for bit, those of an Index of rows prepared
// by Scaling::centre.
#include "common/data_files.hpp"
#include "common/elements.hpp"
#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "kith/centre.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/index_file.hpp"
#include "kith/preparation.hpp"
#include "kith/regressor.hpp"

namespace kith::tests::test_search_centre {
namespace {

using data_files::Folder;
using Doubles = std::vector<double>;

constexpr std::int64_t n = 700, m = 40, k = 5;

MatrixView<const double> view(const Doubles& values, std::int64_t first = 0, std::int64_t rows = -1) {
  const auto all = static_cast<std::int64_t>(values.size()) / 3;
  return {values.data() + 3 * first, rows < 0 ? all - first : rows, 3};
}

IndexOptions learning() {
  return {.learn_centre = true};
}

IndexOptions given(Doubles centre) {
  return {.centre = std::move(centre)};
}

/// Holds map points, queries, and both as a preparation makes them.
struct Map {
  Doubles train = map_points(n, 1), queries = map_points(m, 2);
  Preparation centre{view(train), {{Scaling::centre}, {}}};
  Doubles shift = centre.learned().columns[0].shift;
  std::vector<float> rows = centre.apply(view(train)), asked = centre.apply(view(queries));

  Index plain(Metric metric, const IndexOptions& options = {}) const {
    return Index(device(), RowsView(rows.data(), n, 3), metric, options);
  }
  RowsView plain_queries() const { return {asked.data(), m, 3}; }
};

/// Checks that all searches of `index` for doubles equal those of `plain` for prepared queries.
void check_same(const Map& map, const Index& index, const Index& plain) {
  const RowsView doubles = view(map.queries), floats = map.plain_queries();
  const Neighbors right = plain.search(floats, k);
  CHECK(index.search(doubles, k) == right);
  CHECK(index.search_keys(doubles, k) == plain.search_keys(floats, k));
  const float radius = right.distance[2];
  CHECK(index.within(doubles, {&radius, 1}) == plain.within(floats, {&radius, 1}));
  CHECK(index.within_keys(doubles, {&radius, 1}) == plain.within_keys(floats, {&radius, 1}));
  CHECK(index.centre() == map.shift);
}

std::string refused(const RowsView& rows, const IndexOptions& options, Metric metric = Metric::l2) {
  return error_of([&] { Index(device(), rows, metric, options); });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("centre: points of a map in metres keep the neighbours that they have in double") {
  const Doubles train = map_points(3000, 1), queries = map_points(300, 2);
  const std::vector<std::int64_t> right = nearest_in_double(queries, train);
  const Index index(device(), view(train), Metric::l2, learning());
  CHECK(index.search(view(queries), 1).row == right);
  const std::vector<float> rounded(train.begin(), train.end()), asked(queries.begin(), queries.end());
  const Index without(device(), RowsView(rounded.data(), 3000, 3));
  CHECK(without.search(RowsView(asked.data(), 300, 3), 1).row != right);
}

TEST_CASE("centre: each metric that takes one, learned or given, of doubles and floats, wherever they lie") {
  const Map map;
  for (const Metric metric : {Metric::l2, Metric::squared_l2, Metric::l1, Metric::linf}) {
    CAPTURE(std::string(name(metric)));
    const Index plain = map.plain(metric);
    check_same(map, Index(device(), view(map.train), metric, learning()), plain);
    check_same(map, Index(device(), view(map.train), metric, given(map.shift)), plain);
  }
  // Floats count as the doubles that they equal, and neither need be aligned.
  const std::vector<float> floats(map.train.begin(), map.train.end());
  const Doubles wide(floats.begin(), floats.end());
  const Index of_floats(device(), RowsView(floats.data(), n, 3), Metric::l2, learning());
  std::vector<unsigned char> odd(1 + static_cast<std::size_t>(n) * 29);
  for (std::int64_t r = 0; r < n; ++r)
    std::memcpy(odd.data() + 1 + r * 29, wide.data() + 3 * r, 3 * sizeof(double));
  const Index of_odd(device(), RowsView(odd.data() + 1, Element::f64, n, 3, 29), Metric::l2, learning());
  CHECK(of_floats.centre() == of_odd.centre());
  CHECK(of_floats.search(view(map.queries), k) == of_odd.search(view(map.queries), k));
  CHECK(of_floats.search(RowsView(floats.data(), 9, 3), k) == of_odd.search(view(wide, 0, 9), k));
}

TEST_CASE("centre: rows that are added, removed and compacted, with ids, go by the one that was learned") {
  const Map map;
  const Index whole = map.plain(Metric::l2);
  const Index some(device(), view(map.train, 0, 300), Metric::l2, given(map.shift));
  const Index grown = some.with(view(map.train, 300, 200)).with(view(map.train, 500));
  check_same(map, grown, whole);
  const std::vector<std::int64_t> gone{0, 5, 299, 300, 650};
  check_same(map, grown.without(gone), whole.without(gone));
  check_same(map, grown.without(gone).compact(), whole.without(gone).compact());
  check_same(map, grown.compact(), whole);
  check_same(map, grown.without(gone).compact().with(view(map.train, 10, 3)),
             whole.without(gone).with(RowsView(map.rows.data() + 30, 3, 3)));
  IndexOptions ids = learning(), plain_ids;
  for (std::int64_t r = 0; r < n; ++r) plain_ids.ids.push_back((r * 37) % n + 11);
  ids.ids = plain_ids.ids;
  check_same(map, Index(device(), view(map.train), Metric::l2, ids), map.plain(Metric::l2, plain_ids));
  const Index learned = Index(device(), view(map.train, 0, 300), Metric::l2, learning());
  const Preparation first(view(map.train, 0, 300), {{Scaling::centre}, {}});
  CHECK(learned.centre() == first.learned().columns[0].shift);
  CHECK(learned.with(view(map.train, 300)).centre() == learned.centre());
}

TEST_CASE("centre: a graph, classes, values and filters see rows and queries alike") {
  const Map map;
  const Index index(device(), view(map.train), Metric::l2, learning()), plain = map.plain(Metric::l2);
  SearchOptions own{.self = 0};
  CHECK(index.search(view(map.train), k, own) == plain.search(RowsView(map.rows.data(), n, 3), k, own));
  std::vector<std::uint32_t> words(static_cast<std::size_t>(n + 31) / 32, 0x55555555u);
  SearchOptions half{.filter = {words.data(), 1, static_cast<std::int64_t>(words.size())}};
  CHECK(index.search(view(map.queries), k, half) == plain.search(map.plain_queries(), k, half));
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  for (std::int64_t r = 0; r < n; ++r) {
    labels.push_back(r % 3);
    values.push_back(static_cast<double>(r % 7));
  }
  const Classifier of_doubles(index, {labels.data(), n, 1}), of_floats(plain, {labels.data(), n, 1});
  CHECK(of_doubles.predict(view(map.queries), k) == of_floats.predict(map.plain_queries(), k));
  const float radius = 20;
  CHECK(of_doubles.classify_within(view(map.queries), {&radius, 1}).label ==
        of_floats.classify_within(map.plain_queries(), {&radius, 1}).label);
  CHECK(evaluate(of_doubles, view(map.queries), {labels.data(), static_cast<std::size_t>(m)}, 4) ==
        evaluate(of_floats, map.plain_queries(), {labels.data(), static_cast<std::size_t>(m)}, 4));
  const Regressor doubles(index, {values.data(), n, 1}), floats(plain, {values.data(), n, 1});
  CHECK(doubles.predict(view(map.queries), k) == floats.predict(map.plain_queries(), k));
}

TEST_CASE("centre: columns that do not count are neither shifted nor looked at") {
  Map map;
  for (std::int64_t r = 0; r < n; ++r) map.train[static_cast<std::size_t>(3 * r + 1)] = std::nan("");
  for (std::int64_t r = 0; r < m; ++r)
    map.queries[static_cast<std::size_t>(3 * r + 1)] = std::numeric_limits<double>::max();
  IndexOptions options = learning(), plain;
  options.features = plain.features = {0, 2};
  map.shift[1] = 0;
  check_same(map, Index(device(), view(map.train), Metric::l2, options), map.plain(Metric::l2, plain));
  const Folder folder;
  const Index index(device(), view(map.train), Metric::l2, options);
  save(index, folder / "a.kidx");
  check_same(map, open_index(folder / "a.kidx", device()), map.plain(Metric::l2, plain));
  CHECK(read_index_rows(folder / "a.kidx").centre == Doubles{map.shift[0], map.shift[2]});
}

TEST_CASE("centre: index files keep it, whole and in parts, and those without one stay as they are") {
  const Map map;
  const Folder folder;
  const Index index(device(), view(map.train), Metric::l1, learning()), plain = map.plain(Metric::l1);
  save(index, folder / "a.kidx");
  save(plain, folder / "plain.kidx");
  const Index opened = open_index(folder / "a.kidx", device());
  check_same(map, opened, plain);
  const Index more = opened.with(view(map.train, 0, 9));
  check_same(map, more, plain.with(RowsView(map.rows.data(), 9, 3)));
  save(more, folder / "more.kidx");
  check_same(map, open_index(folder / "more.kidx", open_device("cpu")),
             plain.with(RowsView(map.rows.data(), 9, 3)));
  save(opened, folder / "again.kidx");
  CHECK(folder.read("again.kidx") == folder.read("a.kidx"));
  const IndexFileInfo info = index_file_info(folder / "a.kidx");
  CHECK(info.version == 1);
  CHECK(info.centred);
  CHECK(info.sections[0].name == "centre");
  CHECK(info.sections[0].needed);
  CHECK(!index_file_info(folder / "plain.kidx").centred);
  CHECK(index_file_info(folder / "plain.kidx").sections.size() == 1);
  OpenOptions first, second;
  first.rows = second.first = 123;
  const std::vector<Keys> keys = {
      open_index(folder / "a.kidx", device(), first).search_keys(view(map.queries), k),
      open_index(folder / "a.kidx", device(), second).search_keys(view(map.queries), k)};
  CHECK(merge(keys) == index.search_keys(view(map.queries), k));
  CHECK(read_index_rows(folder / "a.kidx").centre == map.shift);
}

TEST_CASE("centre: rows of sources, resident, streamed and quantized, from memory and from index files") {
  const Map map;
  const Folder folder;
  const Index plain = map.plain(Metric::l2);
  save(Index(device(), view(map.train), Metric::l2, learning()), folder / "a.kidx");
  for (const Residence residence : {Residence::resident, Residence::stream, Residence::quantized}) {
    CAPTURE(std::string(name(residence)));
    IndexOptions kept, learned = learning(), told = given(map.shift);
    for (IndexOptions* options : {&kept, &learned, &told}) {
      options->residence = residence;
      options->chunk_rows = residence == Residence::stream ? 100 : 0;
    }
    const auto copied = std::make_shared<CopiedRows>(view(map.train));
    try {
      check_same(map, Index(device(), memory_source(view(map.train)), Metric::l2, learned), plain);
      check_same(map, Index(device(), copied, Metric::l2, told), plain);
      check_same(map, Index(device(), file_source(folder / "a.kidx"), Metric::l2, kept), plain);
    } catch (const Error& error) {  // quantized on a device without proposer int8
      CHECK(residence == Residence::quantized);
      CHECK(error.code() == Errc::unsupported);
    }
    CHECK(error_of([&] { Index(device(), file_source(folder / "a.kidx"), Metric::l2, learned); }) ==
          "invalid_argument: index: " + (folder / "a.kidx") +
              " has a centre already, which is kept; leave the centre out");
    CHECK(error_of([&] {
            Index(device(), file_source(folder / "a.kidx"), Metric::cosine, kept);
          }).starts_with("invalid_argument: index: a centre is for differences of values, and cosine"));
  }
  CHECK(memory_source(view(map.train))->centre().empty());
  CHECK(Index(device(), memory_source(view(map.train))).arithmetic() == Arithmetic::f64);
}

TEST_CASE("centre: sets of devices, split and replicated, from memory, files and sources") {
  const Map map;
  const Folder folder;
  const Index plain = map.plain(Metric::l2);
  save(Index(device(), view(map.train), Metric::l2, learning()), folder / "a.kidx");
  for (const Placement placement : {Placement::split, Placement::replicate}) {
    IndexOptions options = learning();
    options.placement = placement;
    OpenOptions open{.placement = placement};
    check_same(map, Index(set_of(3), view(map.train), Metric::l2, options), plain);
    check_same(map, open_index(folder / "a.kidx", set_of(2), open), plain);
    if (placement == Placement::split)
      check_same(map, Index(set_of(2), file_source(folder / "a.kidx"), Metric::l2, streamed(50)), plain);
  }
}

TEST_CASE("centre: what is refused") {
  const Doubles rows{1e9, 1, 2, /**/ 1e9 + 1, 3, 4};
  const RowsView doubles = view(rows);
  const std::string none = " is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these";
  for (const Metric metric : {Metric::cosine, Metric::negative_dot}) {
    const std::string why = "invalid_argument: index: a centre is for differences of values, and " +
                            std::string(name(metric)) + none;
    CHECK(refused(doubles, learning(), metric) == why);
    CHECK(refused(doubles, given({1, 2, 3}), metric) == why);
  }
  CHECK(refused(Stored(Element::bits, 2, 8).view(), learning(), Metric::hamming) ==
        "invalid_argument: index: a centre is for differences of values, and hamming" + none);
  for (const Element element : {Element::f16, Element::bf16, Element::u8, Element::i8}) {
    const std::string text(name(element));
    const Stored stored(matrix(3, {1, 2, 3, 4, 5, 6}), element);
    CHECK(refused(stored.view(), learning()) ==
          "invalid_argument: index: the training rows are " + text +
              ", and a centre is for f32 and f64; give these, or leave the centre out");
    const Index index(device(), doubles, Metric::l2, learning());
    CHECK(error_of([&] { index.with(stored.view()); }) ==
          "invalid_argument: index: the added rows are " + text +
              ", and a centre is for f32 and f64; give these, or leave the centre out");
    CHECK(error_of([&] {
            index.search(stored.view(), 1);
          }).starts_with("invalid_argument: search: the query rows are " + text));
  }
  CHECK(refused(doubles, given({1, 2})) ==
        "invalid_argument: index: the centre has 2 values for rows of 3 columns; give one a column");
  CHECK(refused(doubles, given({1, std::nan(""), 3})) ==
        "invalid_argument: index: the centre of column 1 is nan; give a finite number");
  IndexOptions both = learning();
  both.centre = {1, 2, 3};
  CHECK(refused(doubles, both) ==
        "invalid_argument: index: a centre is given, and one is to be learned; leave one of them out");
  CHECK(refused(doubles, {.arithmetic = Arithmetic::f32}) ==
        "unsupported: index: the training rows are f64, which a preparation, an index with a centre and an "
        "index "
        "in double precision take; give one of these, or round the rows to f32");
  const Doubles bad{1, 2, 3, /**/ 4, std::numeric_limits<double>::infinity(), 6};
  CHECK(refused(view(bad), learning()) ==
        "invalid_argument: index: training row 1, column 1 holds an infinity; make every value finite, or "
        "leave the row out");
  const Doubles large{1, 2, 3, /**/ 4, 5, 1e300};
  CHECK(refused(view(large), given({0, 0, 0})) ==
        "invalid_argument: index: training row 1, column 2 less the centre is 1e+300, which is too large for "
        "a float (3.40282347e+38); leave the row out, or scale the column");
  const Index index(device(), doubles, Metric::l2, learning());
  CHECK(error_of([&] { index.search(MatrixView<const double>(rows.data(), 3, 2), 1); }) ==
        "invalid_argument: search: the query rows have 2 columns but the index has 3; give as many");
  const Index plain(device(), matrix(3, {1, 2, 3}));
  CHECK(
      error_of([&] { plain.search(doubles, 1); }) ==
      "unsupported: search: the query rows are f64, which a preparation, an index with a centre and an index "
      "in double precision take; give one of these, or round the rows to f32");
  CHECK(error_of([&] { plain.with(doubles); }).starts_with("unsupported: index: the added rows are f64"));
  CHECK(index.search(view(rows, 0, 0), 1).row.empty());
}

TEST_SUITE_END();

TEST_CASE("centre: sums of columns in parts are those of the whole, and those of a preparation") {
  const Map map;
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{7}, n}) {
    ColumnSums sums;
    for (std::int64_t first = 0; first < n; first += step)
      sums.add(view(map.train, first, std::min(step, n - first)));
    CHECK(sums.rows == n);
    CHECK(sums.means() == map.shift);
    CHECK(sums.centre() == map.shift);
  }
  ColumnSums sums;
  sums.add(view(map.train));
  CHECK(error_of([&] { sums.add(MatrixView<const double>(map.train.data(), 3, 2)); }) ==
        "invalid_argument: centre: the given rows have 2 columns, and those before 3; give as many");
  CHECK(error_of([&] { sums.add(Stored(Element::u8, 2, 3).view()); }) ==
        "invalid_argument: centre: the given rows are u8, and a centre is for f32 and f64; give these, or "
        "leave the centre out");
  const double infinity = std::numeric_limits<double>::infinity();
  ColumnSums bad;
  bad.add(view({1, infinity, 3, /**/ 3, 1, 3}));
  CHECK(bad.centre() == Doubles{2, 0, 3});
}

}  // namespace
}  // namespace kith::tests::test_search_centre
