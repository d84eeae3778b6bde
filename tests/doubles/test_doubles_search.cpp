// Tests an Index in double precision against an oracle: docs/contract.md, sections 1 to 3.
#include "doubles/doubles_oracle.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

/// Shows the kind of data as a number.
int number_of(DoubleData kind) {
  return static_cast<int>(kind);
}

void check_all_searches(Metric metric, DoubleData kind, std::mt19937& random) {
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random()) % most; };
  const std::int64_t cols = 1 + below(6), n = 1 + below(300), m = 1 + below(20);
  const DoubleMatrix train = double_rows(kind, n, cols, random);
  DoubleMatrix queries = double_rows(kind, m, cols, random);
  for (std::int64_t q = 0; q < m; q += 3)  // some are training rows
    std::copy_n(train.values.begin() + below(n) * cols, cols, queries.values.begin() + q * cols);
  const std::int64_t k = 1 + below(std::min<std::int64_t>(n, 12));
  CAPTURE_ALL(name(metric), number_of(kind), n, m, cols, k);
  const Index index(device(), train, metric);
  REQUIRE(index.arithmetic() == Arithmetic::f64);
  const auto all = all_by_oracle(metric, train, queries, every_row);
  const Neighbors right = nearest_by_oracle(metric, all, k);
  CHECK(index.search(queries, k) == right);
  std::vector<double> radii;
  for (std::int64_t q = 0; q < m; ++q)
    radii.push_back(right.distance64[static_cast<std::size_t>((q + 1) * k - 1)]);
  CHECK(index.within(queries, radii) == within_by_oracle(metric, all, radii));
  for (double& radius : radii) radius = std::nextafter(radius, -1e300);
  CHECK(index.within(queries, radii) == within_by_oracle(metric, all, radii));
}

TEST_SUITE("device") {
  TEST_CASE("doubles: k nearest and radii equal the oracle, by every metric and kind of data") {
    std::mt19937 random(1);
    for (const Metric metric : number_metrics)
      for (const DoubleData kind : all_double_data)
        for (int turn = 0; turn < 4; ++turn) {
          if (metric == Metric::negative_dot && kind == DoubleData::huge) continue;  // products overflow
          check_all_searches(metric, kind, random);
        }
  }

  TEST_CASE("doubles: a filter, and leaving each row out of its own list") {
    std::mt19937 random(2);
    for (const Metric metric : number_metrics)
      for (const DoubleData kind :
           {DoubleData::map, DoubleData::grid, DoubleData::one_ulp, DoubleData::equal}) {
        const std::int64_t n = 200, k = 4;
        CAPTURE_ALL(name(metric), number_of(kind));
        const DoubleMatrix train = double_rows(kind, n, 3, random);
        const Index index(device(), train, metric);
        SearchOptions own;
        own.self = 0;
        const auto others = all_by_oracle(metric, train, train, [](auto q, auto t) { return q != t; });
        CHECK(index.search(train, k, own) == nearest_by_oracle(metric, others, k));
        const std::vector<double> radius = {shown_by_oracle(metric, others[7][3].value)};
        CHECK(index.within(train, radius, own) == within_by_oracle(metric, others, radius));

        std::vector<std::uint32_t> words(static_cast<std::size_t>(n * ((n + 31) / 32)));
        for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
        const auto counts = [&](std::int64_t q, std::int64_t t) {
          return q != t && (words[static_cast<std::size_t>(q * 7 + t / 32)] >> t % 32 & 1) != 0;
        };
        own.filter = {words.data(), n, 7};
        const auto some = all_by_oracle(metric, train, train, counts);
        CHECK(index.search(train, 120, own) == nearest_by_oracle(metric, some, 120));
        CHECK(index.within(train, radius, own) == within_by_oracle(metric, some, radius));
      }
  }

  TEST_CASE("doubles: rows are added, removed and compacted, with ids") {
    std::mt19937 random(3);
    for (const Metric metric : number_metrics) {
      CAPTURE(name(metric));
      const DoubleMatrix first = double_rows(DoubleData::map, 60, 3, random),
                         second = double_rows(DoubleData::mixed_scales, 40, 3, random),
                         queries = double_rows(DoubleData::map, 9, 3, random);
      DoubleMatrix all{100, 3, first.values};
      all.values.insert(all.values.end(), second.values.begin(), second.values.end());
      const Index grown = Index(device(), first, metric).with(second);
      CHECK(grown.search(queries, 7) ==
            nearest_by_oracle(metric, all_by_oracle(metric, all, queries, every_row), 7));
      const std::vector<std::int64_t> gone = {0, 3, 59, 60, 99};
      const Index less = grown.without(gone);
      const auto left = all_by_oracle(metric, all, queries, [&](auto, auto t) {
        return std::find(gone.begin(), gone.end(), t) == gone.end();
      });
      CHECK(less.search(queries, 7) == nearest_by_oracle(metric, left, 7));
      CHECK(less.compact().search(queries, 7) == nearest_by_oracle(metric, left, 7));
      CHECK(less.compact().with(first).rows() == 155);
    }
    const DoubleMatrix train{3, 1, {3, 1, 2}}, query{1, 1, {1}};
    IndexOptions named;
    named.ids = {70, 90, 80};
    CHECK(Index(device(), train, Metric::l1, named).search(query, 3).row ==
          std::vector<std::int64_t>{90, 80, 70});
  }

  TEST_CASE("doubles: a compacted index knows nothing of rows that are gone") {
    const DoubleMatrix train{4, 1, {1, 1e308, 2, 3}}, query{1, 1, {100}};
    const std::vector<std::int64_t> gone = {1};
    const Index less = Index(device(), train, Metric::negative_dot).without(gone);
    CHECK(error_of([&] {
            less.search(query, 1);
          }).starts_with("invalid_argument: search: query row 0 reaches 100 and the training rows 1e+308"));
    const Neighbors found = less.compact().search(query, 3);
    CHECK(found.row == std::vector<std::int64_t>{3, 2, 0});
    CHECK(found.distance64 == std::vector<double>{-300, -200, -100});
  }

  TEST_CASE("doubles: bounds of a compacted index are those of its rows alone") {
    std::mt19937 random(4);
    const DoubleMatrix train = double_rows(DoubleData::map, 500, 3, random), far{1, 3, {0x1p45, 1, 1}};
    const Index index(device(), train, Metric::negative_dot);
    const std::vector<std::int64_t> gone = {500};
    Trace with_it, without_it, before;
    index.search(train, 3, {}, &before);
    const Index grown = index.with(far);
    grown.search(train, 3, {}, &with_it);
    grown.without(gone).compact().search(train, 3, {}, &without_it);
    CHECK(with_it.repeated_doubles > before.repeated_doubles);
    CHECK(without_it.repeated_doubles == before.repeated_doubles);
  }

  TEST_CASE("doubles: the memory of an answer may hold one of the other precision later") {
    const DoubleMatrix train{3, 1, {1, 2, 4}};
    IndexOptions rounded;
    rounded.arithmetic = Arithmetic::f32;
    rounded.centre = {0};
    const Index doubles(device(), train, Metric::l2), floats(device(), train, Metric::l2, rounded);
    Neighbors found;
    for (const Index* index : {&doubles, &floats, &doubles}) {
      index->search_into(train, 2, found);
      CHECK(found == index->search(train, 2));
      CHECK(found.arithmetic == index->arithmetic());
    }
  }

  TEST_CASE("doubles: queries that find all rows are looked for some at a time") {
    DoubleMatrix train{20000, 1, {}}, queries{900, 1, {}};
    for (std::int64_t t = 0; t < train.rows; ++t) train.values.push_back(static_cast<double>(t));
    // Bounds of every second query behind the first 20 are infinite.
    for (std::int64_t q = 0; q < queries.rows; ++q)
      queries.values.push_back(q < 20 || q % 2 == 0 ? static_cast<double>(q) : 1e300);
    const Index index(device(), train, Metric::l1);
    const Neighbors found = index.search(queries, 1);
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      const bool near = queries.values[static_cast<std::size_t>(q)] < 1e300;
      CHECK(found.row[static_cast<std::size_t>(q)] == (near ? q : 0));
      CHECK(found.distance64[static_cast<std::size_t>(q)] == (near ? 0 : 1e300));
    }
  }

  TEST_CASE("doubles: the progress of a radius search is that of all queries") {
    std::mt19937 random(5);
    const DoubleMatrix train = double_rows(DoubleData::map, 300, 3, random);
    std::vector<double> seen;
    SearchOptions options;
    options.progress = [&](const Progress& progress) { seen.push_back(progress.fraction); };
    const std::vector<double> radius = {1};
    Index(device(), train, Metric::l2).within(train, radius, options);
    REQUIRE(seen.size() > 1);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(seen.front() < 1);
    CHECK(seen.back() == 1);
    CHECK(std::count(seen.begin(), seen.end(), 1.0) == 1);
  }

  TEST_CASE("doubles: rows of other elements enter exactly, and features choose columns") {
    const std::vector<std::uint8_t> bytes = {0, 9, 200, 9, 255, 9};
    const DoubleMatrix query{1, 2, {0x1p-40, 77}};
    IndexOptions doubles;
    doubles.arithmetic = Arithmetic::f64;
    doubles.features = {0};
    const Index index(device(), RowsView(bytes.data(), Element::u8, 3, 2), Metric::l1, doubles);
    const Neighbors found = index.search(query, 3);
    CHECK(found.distance64 == std::vector<double>{0x1p-40, 200 - 0x1p-40, 255 - 0x1p-40});
    CHECK(found.row == std::vector<std::int64_t>{0, 1, 2});
    CHECK(found.distance.empty());
    const std::vector<float> single = {0.1f, 0};
    CHECK(index.search(RowsView(single.data(), 1, 2), 1).distance64 ==
          std::vector<double>{static_cast<double>(0.1f)});
  }

  TEST_CASE("doubles: integers of 32 and 64 bits make an Index in double precision") {
    constexpr std::int64_t most = std::int64_t{1} << 53;
    const std::vector<std::int32_t> small = {INT32_MIN, -1, INT32_MAX};
    const std::vector<std::uint32_t> positive = {0, 16777217, UINT32_MAX};
    const std::vector<std::int64_t> wide = {-most, most - 1, most};
    const auto found = [&](const auto& train, std::int64_t asked) {
      const Index index(device(), MatrixView(train.data(), 3, 1), Metric::l1);
      CHECK(index.arithmetic() == Arithmetic::f64);
      return index.search(MatrixView<const std::int64_t>(&asked, 1, 1), 2);
    };
    CHECK(found(small, 2147483640).distance64 == std::vector<double>{7, 2147483641});
    CHECK(found(positive, 16777216).row == std::vector<std::int64_t>{1, 0});
    CHECK(found(positive, 16777216).distance64 == std::vector<double>{1, 16777216});
    CHECK(found(wide, most - 2).row == std::vector<std::int64_t>{1, 2});
    CHECK(found(wide, most - 2).distance64 == std::vector<double>{1, 2});
    const Index streamed(device(), memory_source(MatrixView<const std::int64_t>(wide.data(), 3, 1)),
                         Metric::l1, {.residence = Residence::stream});
    CHECK(streamed.search(MatrixView<const std::int64_t>(&wide[1], 1, 1), 1).row[0] == 1);
    CHECK(largest_element(MatrixView<const std::int64_t>(wide.data(), 3, 1)) == 0x1p53f);
  }

  TEST_CASE("doubles: a row far from all others makes no other row uncertain") {
    std::mt19937 random(14);
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::linf}) {
      CAPTURE(name(metric));
      DoubleMatrix train = double_rows(DoubleData::map, 3000, 3, random);
      for (std::size_t d = 0; d < 3; ++d) train.values[d] = 1e14;
      const DoubleMatrix queries = double_rows(DoubleData::map, 40, 3, random);
      Trace trace;
      CHECK(Index(device(), train, metric).search(queries, 5, {}, &trace) ==
            nearest_by_oracle(metric, all_by_oracle(metric, train, queries, every_row), 5));
      CHECK(trace.repeated_doubles == 0);
    }
  }

  TEST_CASE("doubles: a radius of an Index in single precision may be a double") {
    const std::vector<float> train = {0, 1, 2};
    const Index index(device(), RowsView(train.data(), 3, 1), Metric::l1);
    const RowsView query(train.data(), 1, 1);
    CHECK(index.within(query, std::vector<double>{1}).row == std::vector<std::int64_t>{0, 1});
    CHECK(index.within(query, std::vector<double>{1 - 0x1p-40}).row == std::vector<std::int64_t>{0});
    CHECK(index.within(query, std::vector<double>{1 + 0x1p-40}).row == std::vector<std::int64_t>{0, 1});
  }
}

TEST_CASE("doubles: which integers are refused") {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const std::vector<std::int64_t> wide = {1, 2, 3, most + 1};
  const RowsView rows = MatrixView<const std::int64_t>(wide.data(), 2, 2);
  const auto refused = [](const RowsView& train, const IndexOptions& options, Metric metric = Metric::l1) {
    return error_of([&] { Index(device(), train, metric, options); });
  };
  CHECK(refused(rows, {}) ==
        "invalid_argument: index: training row 1, column 1 holds 9007199254740993, beyond 2^53, up to which "
        "doubles hold all whole numbers; subtract what all rows have in common");
  IndexOptions first;
  first.features = {0};
  CHECK(Index(device(), rows, Metric::l1, first).search(rows.slice(1, 1), 1).row[0] == 1);
  CHECK(refused(rows, {.arithmetic = Arithmetic::f32}) ==
        "unsupported: index: the training rows are i64, which an index in double precision takes; choose "
        "arithmetic f64, or convert them to f32");
  CHECK(refused(rows, {.learn_centre = true})
            .starts_with(
                "invalid_argument: index: the training rows are i64, and a centre is for f32 and f64"));
  CHECK(refused(rows, {}, Metric::hamming)
            .starts_with("invalid_argument: index: the training rows are i64, but hamming compares bits"));
}

TEST_CASE("doubles: what is refused") {
  const DoubleMatrix train{2, 2, {1, 2, 3, 4}};
  const Index index(device(), train, Metric::l2);
  CHECK(error_of([&] { index.search(train, 3); }) ==
        "invalid_argument: search: k = 3 is out of range for an index of 2 rows; choose k from 1 to 2");
  DoubleMatrix bad = train;
  bad.values[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(error_of([&] { index.search(bad, 1); }) ==
        "invalid_argument: search: query row 1, column 1 holds NaN; make every value finite, or leave the "
        "row out");
  bad.values = {0, 0, 1, 1};
  CHECK(error_of([&] { Index(device(), bad, Metric::cosine); }) ==
        "invalid_argument: index: training row 0 is all zeros, which has no direction; leave it out for "
        "cosine");
  bad.values = {1e200, 1, 1, 1};
  const Index products(device(), train, Metric::negative_dot);
  CHECK(error_of([&] {
          Index(device(), bad, Metric::negative_dot).search(bad, 1);
        }).starts_with("invalid_argument: search: query row 0 reaches 1e+200 and the training rows 1e+200"));
  // The limit is that of the product, even if a part of it overflows.
  const DoubleMatrix zeros{2, 2, {0, 0, 0, 0}}, largest{1, 2, {1e308, 1e308}};
  CHECK(Index(device(), zeros, Metric::negative_dot).search(largest, 1).distance64 == std::vector<double>{0});
  IndexOptions options;
  options.arithmetic = Arithmetic::f64;
  options.learn_centre = true;
  CHECK(error_of([&] {
          Index(device(), train, Metric::l2, options);
        }).starts_with("invalid_argument: index: arithmetic f64 with a centre"));
  options = {};
  options.arithmetic = Arithmetic::f32;
  CHECK(error_of([&] {
          Index(device(), train, Metric::l2, options);
        }).starts_with("unsupported: index: the training rows are f64"));
}

TEST_CASE("doubles: a radius finds the rows whose distance is at most it, and none beyond") {
  std::mt19937 random(13);
  for (int turn = 0; turn < 200; ++turn) {
    const double far = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 100);
    const DoubleMatrix train{2, 1, {far, std::nextafter(far, 1e308)}}, query{1, 1, {0}};
    const Index index(device(), train, Metric::l2);
    const double shown = index.search(query, 1).distance64[0];
    CHECK(index.within(query, std::vector<double>{std::nextafter(shown, 0.0)}).row.empty());
    CHECK(index.within(query, std::vector<double>{shown}).row[0] == 0);
  }
  const Index index(device(), DoubleMatrix{2, 1, {1, 2}}, Metric::l2);
  CHECK(index.within(DoubleMatrix{1, 1, {1}}, std::vector<double>{-1}).row.empty());
}

}  // namespace
}  // namespace kith::tests
