// Tests that an Index which keeps equal rows once answers as one that keeps each.
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "common/parted/repeated_rows.hpp"
#include "common/parted/sets.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "kith/knn_graph.hpp"
#include "kith/regressor.hpp"
#include "kith/structure.hpp"

namespace kith::tests {
namespace {

constexpr Metric of_numbers[] = {Metric::l2,   Metric::squared_l2, Metric::l1,
                                 Metric::linf, Metric::cosine,     Metric::negative_dot};

/// Returns filters by which about one row in `one_in` counts.
RowFilter filters_by_chance(std::mt19937& random, std::int64_t rows, std::int64_t filters,
                            std::uint32_t one_in) {
  RowFilter filter(rows, filters, false);
  for (std::int64_t f = 0; f < filters; ++f)
    for (std::int64_t r = 0; r < rows; ++r) filter.set(r, random() % one_in == 0, f);
  return filter;
}

/// Returns the row from which a second leave-one-out begins.
constexpr std::int64_t middle = 100;

TEST_SUITE_BEGIN("device");

TEST_CASE("repeated rows: the nearest of each metric, with ties among copies and among distinct rows") {
  std::mt19937 random(5);
  for (const Metric metric : of_numbers) {
    const Matrix rows = repeated_rows(random, 300, 3, 40), queries = repeated_rows(random, 20, 3, 20);
    const OnceAndEach both(device(), rows, metric);
    CAPTURE_ALL(name(metric));
    for (const std::int64_t k : {1, 2, 10, 39, 40, 41, 150, 300}) both.check(queries, k);
    const float most = metric == Metric::negative_dot ? -20.0f : 2.0f;
    both.check_within(queries, std::vector<float>{most});
    CHECK(both.once.memory_bytes() < both.each.memory_bytes());
  }
}

TEST_CASE("repeated rows: all rows equal, or none") {
  std::mt19937 random(6);
  const Matrix queries = repeated_rows(random, 9, 4, 9);
  for (const std::int64_t distinct : {1, 257}) {
    Matrix rows{257, 4, {}};
    for (std::int64_t i = 0; i < 257 * 4; ++i)
      rows.values.push_back(distinct == 1 ? static_cast<float>(i % 4) : static_cast<float>(i / 4));
    const OnceAndEach both(device(), rows, Metric::squared_l2);
    for (const std::int64_t k : {1, 5, 256, 257}) both.check(queries, k);
    both.check_within(queries, std::vector<float>(9, 1000.0f));
    both.check(rows, 256, {.self = 0});
    CHECK(both.once.plan(9, 5).reason.ends_with(
        "; equal rows are searched once: " + std::to_string(distinct) + " distinct of 257"));
    CHECK(both.each.plan(9, 5).reason.find("equal rows") == std::string::npos);
  }
}

TEST_CASE("repeated rows: filters leave copies out, those that come first among them") {
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t dims = 1 + round % 3;
    const Matrix rows = repeated_rows(random, 260, dims, 30), queries = repeated_rows(random, 17, dims, 17);
    const OnceAndEach both(device(), rows, round % 2 ? Metric::l1 : Metric::l2);
    for (const std::uint32_t one_in : {2u, 9u, 200u})
      for (const std::int64_t filters : {1, 17}) {
        const RowFilter filter = filters_by_chance(random, 260, filters, one_in);
        SearchOptions options{.filter = filter};
        CAPTURE_ALL(round, one_in, filters);
        for (const std::int64_t k : {1, 3, 8, 100}) both.check(queries, k, options);
        both.check_within(queries, std::vector<float>{1.5f}, options);
        if (device().info().backend == "planted") continue;  // it has no boxes
        options.boxes = true;
        both.check(queries, 3, options);
        both.check_within(queries, std::vector<float>{1.5f}, options);
      }
    const RowFilter none(260, 1, false);
    both.check(queries, 3, {.filter = none});
  }
}

TEST_CASE("repeated rows: equally near distinct rows, of which a filter takes the first copy") {
  // Of rows 0 ... 5 the values are 1 and -1; both are as far from 0.
  const Matrix rows = matrix(1, {1, -1, 1, 7, -1, 7}), zero = matrix(1, {0});
  const OnceAndEach both(device(), rows, Metric::l1);
  RowFilter filter(6);
  filter.set(0, false);
  CHECK(both.once.search(zero, 1, {.filter = filter}) == Neighbors{1, 1, {1}, {1}});
  CHECK(both.once.search(zero, 3, {.filter = filter}) == Neighbors{1, 3, {1, 1, 1}, {1, 2, 4}});
  filter.set(1, false);
  CHECK(both.once.search(zero, 1, {.filter = filter}) == Neighbors{1, 1, {1}, {2}});
  CHECK(both.once.search(zero, 2, {.filter = filter}) == Neighbors{1, 2, {1, 1}, {2, 4}});
  const std::vector<std::int64_t> first{0};
  CHECK(both.once.without(first).search(zero, 2) == Neighbors{1, 2, {1, 1}, {1, 2}});
  CHECK(both.once.without(first).compact().search(zero, 2) == Neighbors{1, 2, {1, 1}, {1, 2}});
}

TEST_CASE("repeated rows: a row is not its own neighbour, but its copies are") {
  std::mt19937 random(8);
  const Matrix rows = repeated_rows(random, 300, 2, 50);
  const OnceAndEach both(device(), rows, Metric::l2);
  for (const std::int64_t k : {1, 7, 60, 299}) both.check(rows, k, {.self = 0});
  const Matrix some{50, 2, {rows.values.begin() + 2 * middle, rows.values.begin() + 2 * (middle + 50)}};
  const RowFilter filter = filters_by_chance(random, 300, 50, 3);
  both.check(some, 9, {.filter = filter, .self = middle});
  both.check_within(some, std::vector<float>{1.0f}, {.filter = filter, .self = middle});
  CHECK(knn_graph(device(), rows, 5, Metric::l2, {}, nullptr, keeping({}, true)) ==
        knn_graph(device(), rows, 5, Metric::l2, {}, nullptr, keeping({}, false)));
  const std::string refusal = error_of([&] { both.once.search(rows, 300, {.self = 0}); });
  CHECK(refusal == error_of([&] { both.each.search(rows, 300, {.self = 0}); }));
  CHECK(error_of([&] { both.once.plan(4, 301); }) == error_of([&] { both.each.plan(4, 301); }));
}

TEST_CASE("repeated rows: ids, rows that come and go, and files") {
  std::mt19937 random(9);
  const test_support::TemporaryFolder folder;
  for (int round = 0; round < 6; ++round) {
    const Matrix rows = repeated_rows(random, 200, 2, 30), queries = repeated_rows(random, 11, 2, 11);
    IndexOptions options;
    if (round % 2)
      for (std::int64_t i = 0; i < 200; ++i) options.ids.push_back((i * 37) % 200 * 3 + 1);
    if (round % 3 == 0) options.features = {1};
    OnceAndEach both(device(), rows, Metric::squared_l2, options);
    CAPTURE_ALL(round);
    for (int step = 0; step < 8; ++step) {
      if (random() % 2) both.add(repeated_rows(random, 1 + static_cast<std::int64_t>(random() % 90), 2, 30));
      std::vector<std::int64_t> gone = both.each.numbers();
      std::shuffle(gone.begin(), gone.end(), random);
      gone.resize(random() % 40);
      both.remove(gone);
      if (random() % 3 == 0) both.compact();
      CHECK(both.once.numbers() == both.each.numbers());
      for (const std::int64_t k : {1, 6, 70}) both.check(queries, k);
      both.check_within(queries, std::vector<float>{1.0f});
      SearchOptions half;
      half.filter = filters_by_chance(random, both.each.positions(), 1, 2);
      both.check(queries, 5, half);
    }
    save(both.once, folder / "once.kidx");
    save(both.each, folder / "each.kidx");
    for (const char* const file : {"once.kidx", "each.kidx"}) {
      const Index opened = open_index(folder / file, device());
      CHECK(opened.search(queries, 9) == both.each.search(queries, 9));
      CHECK(opened.numbers() == both.each.numbers());
    }
  }
}

TEST_CASE("repeated rows: of each element") {
  std::mt19937 random(10);
  const Matrix rows = repeated_rows(random, 300, 5, 40), queries = repeated_rows(random, 12, 5, 12);
  for (const Element element : {Element::f16, Element::bf16, Element::u8, Element::i8})
    for (const std::int64_t reserve : {0, 1000}) {
      const Stored stored(rows, element, 3), asked(queries, element);
      OnceAndEach both(device(), stored.view(), Metric::l2, {.reserve = reserve});
      CAPTURE_ALL(name(element), reserve);
      for (const std::int64_t k : {1, 20, 300}) both.check(asked.view(), k);
      both.add(stored.view());
      both.remove(std::vector<std::int64_t>{0, 1, 2, 3, 310, 599});
      both.check(asked.view(), 9);
      both.compact();
      both.check(asked.view(), 9);
      both.check_within(queries, std::vector<float>{1.5f});
    }
  const Stored bits = random_bits(9, 40, 3);
  Stored copies(Element::bits, 200, 40);
  for (std::int64_t r = 0; r < 200; ++r) std::copy_n(Stored(bits).row(r * r % 9), 5, copies.row(r));
  OnceAndEach both(device(), copies.view(), Metric::hamming);
  for (const std::int64_t k : {1, 30, 200}) both.check(bits.view(), k);
  both.remove(std::vector<std::int64_t>{0, 1, 2, 3});
  both.compact();
  both.check(bits.view(), 30);
}

/// Checks doubles or whole numbers of which many are equal, in the arithmetic of `options`.
template <class T>
void check_wide(const Matrix& rows, const Matrix& queries, const IndexOptions& options) {
  const std::vector<T> values(rows.values.begin(), rows.values.end()),
      asked(queries.values.begin(), queries.values.end());
  const MatrixView<const T> train(values.data(), rows.rows, rows.cols),
      those(asked.data(), queries.rows, queries.cols);
  OnceAndEach both(device(), train, Metric::l2, options);
  for (const std::int64_t k : {1, 20, 300}) both.check(those, k);
  both.check(train, 7, {.self = 0});
  both.check_within(those, std::vector<float>{1.5f});
  both.add(train);
  both.remove(std::vector<std::int64_t>{0, 1, 2, 3, 310, 599});
  both.check(those, 9);
  both.compact();
  both.check(those, 9);
}

TEST_CASE("repeated rows: in double precision, and whole numbers") {
  std::mt19937 random(14);
  const Matrix rows = repeated_rows(random, 300, 5, 40), queries = repeated_rows(random, 12, 5, 12);
  IndexOptions doubles, floats;
  doubles.arithmetic = Arithmetic::f64;
  floats.learn_centre = true;
  check_wide<double>(rows, queries, doubles);
  check_wide<std::int32_t>(rows, queries, doubles);
  check_wide<std::int32_t>(rows, queries, {});
  check_wide<double>(rows, queries, floats);
}

TEST_CASE("repeated rows: on sets of devices") {
  std::mt19937 random(11);
  for (int round = 0; round < 8; ++round) {
    const auto [set, options] = set_by_chance(random, 4);
    const Matrix rows = repeated_rows(random, 400, 3, 40), queries = repeated_rows(random, 13, 3, 13);
    OnceAndEach both(set, rows, Metric::l2, options);
    CAPTURE_ALL(round);
    both.check(queries, 30);
    both.check(rows, 3, {.self = 0});
    both.check_within(queries, std::vector<float>{1.0f}, {.boxes = true});
    both.add(rows);
    both.remove(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 401, 799});
    both.check(queries, 50);
    both.compact();
    both.check(queries, 50);
    both.once.prepare(13, 5);
    CHECK(both.once.plan(13, 5).reason.find("equal rows are searched once") != std::string::npos);
  }
}

TEST_CASE("repeated rows: votes and averages") {
  std::mt19937 random(12);
  const Matrix rows = repeated_rows(random, 300, 2, 30), queries = repeated_rows(random, 25, 2, 25);
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  for (std::int64_t r = 0; r < 300; ++r) {
    labels.push_back(static_cast<std::int64_t>(random() % 4));
    values.push_back(static_cast<double>(random() % 100));
  }
  const Classifier once(device(), rows, labels, Metric::l2, keeping({}, true)),
      each(device(), rows, labels, Metric::l2, keeping({}, false));
  const Regressor first(device(), rows, values, Metric::l2, keeping({}, true)),
      second(device(), rows, values, Metric::l2, keeping({}, false));
  for (const std::int64_t k : {1, 8, 200}) {
    CHECK(once.predict(queries, k) == each.predict(queries, k));
    CHECK(once.predict_proba(queries, k) == each.predict_proba(queries, k));
    CHECK(first.predict(queries, k) == second.predict(queries, k));
  }
}

TEST_CASE("repeated rows: kept once by themselves if at least half repeat others") {
  std::mt19937 random(13);
  const auto says = [](const Index& index) {
    return index.plan(10, 5).reason.find("equal rows") != std::string::npos;
  };
  constexpr std::int64_t n = 1 << 14;
  const auto of = [&](std::int64_t rows, std::int64_t different) {  // copies of row r are `different` apart
    Matrix made{rows, 2, {}};
    for (std::int64_t r = 0; r < rows; ++r)
      for (const std::int64_t value : {r % different, r % different % 7})
        made.values.push_back(static_cast<float>(value));
    return made;
  };
  CHECK(says(Index(device(), of(n, n / 2))));
  CHECK(says(Index(device(), of(n, 3))));
  CHECK_FALSE(says(Index(device(), of(n, n))));
  CHECK_FALSE(says(Index(device(), of(n, n / 2 + 1))));
  CHECK_FALSE(says(Index(device(), of(n - 1, 3))));
  CHECK_FALSE(says(Index(device(), of(n, 3), Metric::l2, keeping({}, false))));
  CHECK(says(Index(device(), of(5, 3), Metric::l2, keeping({}, true))));
}

TEST_CASE("repeated rows: refusals name rows by their own numbers, and say what to do") {
  Matrix rows = matrix(1, {1, 1, 1, 2, 2, 3, 3, 3});
  rows.values[6] = std::numeric_limits<float>::quiet_NaN();
  const auto refusal = [&](bool once) {
    return error_of([&] { Index(device(), rows, Metric::l2, keeping({}, once)); });
  };
  CHECK(refusal(true) == refusal(false));
  CHECK(refusal(true).find("row 6") != std::string::npos);
  const auto source = [&](Residence residence) {
    IndexOptions options = keeping({}, true);
    options.residence = residence;
    Index(device(), memory_source(matrix(1, {1, 1, 2})), Metric::l2, options);
  };
  CHECK(
      error_of([&] { source(Residence::stream); }) ==
      "unsupported: index: deduplicate, but rows of a source stay where they are, and are all read; leave it "
      "out, or choose residence resident");
  CHECK(error_of([&] { source(Residence::resident); }) == "nothing was thrown");
  CHECK(error_of([&] {
          Structure(device(), matrix(1, {1, 1, 2}), std::vector<std::int64_t>{0, 0, 1}, Metric::l2,
                    keeping({}, true));
        }) == "unsupported: structure: deduplicate, but sums need every sample; leave it out");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
