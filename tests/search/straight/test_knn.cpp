// Tests searches without an Index that is kept: the bits, and the refusals, are those of an Index.
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "common/elements.hpp"
#include "common/environment.hpp"
#include "common/sanitizers.hpp"
#include "common/searches.hpp"
#include "common/text.hpp"
#include "common/tuning.hpp"
#include "kith/knn.hpp"
#include "kith/trace.hpp"
#include "search/straight/straight_rules.hpp"

namespace kith::tests::test_knn {
namespace {

using test_support::contains;

constexpr std::int64_t few = 5, many = 300, int64_max = std::numeric_limits<std::int64_t>::max();

/// Returns whether the plan says that rows were searched where they lie.
bool is_straight(const Trace& trace) {
  return contains(trace.plan.reason, "landed, searched in the cache and forgotten");
}

/// Checks that knn() finds what an Index finds, or refuses it in the same words. Returns what was found.
Neighbors check_like_index(const RowsView& rows, const RowsView& queries, std::int64_t k, Metric metric,
                           const SearchOptions& options = {}, const IndexOptions& index_options = {}) {
  Neighbors expected, found{3, 1, {1, 2, 3}, {1, 2, 3}};
  const std::string refused =
      error_of([&] { expected = Index(device(), rows, metric, index_options).search(queries, k, options); });
  CHECK(error_of([&] {
          knn_into(device(), rows, queries, k, found, metric, options, nullptr, index_options);
        }) == refused);
  if (refused == "nothing was thrown") CHECK(found == expected);
  return expected;
}

/// Makes rows of small whole numbers, of which many are at equal distances.
Matrix tied_rows(std::int64_t rows, std::int64_t cols) {
  Matrix made{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i) made.values.push_back(static_cast<float>(i * 7 % 11 % 3));
  return made;
}

/// Makes rows of which those near to any query lie everywhere. Their values are whole numbers of some bits:
/// rows of few bits differ, but many are at equal distances.
Matrix scattered_rows(std::int64_t rows, std::int64_t cols, std::uint64_t state, int bits = 8) {
  Matrix made{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    made.values.push_back(static_cast<float>(state >> (64 - bits)));
  }
  return made;
}

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("knn: hard data by every metric, one query, few and many") {
  for (const std::int64_t m : {std::int64_t{1}, few, many})
    for_each_hard_search(m, 700, 100, [&](Metric metric, const Matrix& queries, const Matrix& train) {
      for (const std::int64_t k : {1, 9, 700}) check_like_index(train.view(), queries.view(), k, metric);
    });
}

TEST_CASE("knn: rows of every element, with gaps, and bits") {
  for (const Element element : number_elements) {
    CAPTURE(std::string(name(element)));
    const Matrix train = tied_rows(900, 90), queries = tied_rows(few, 90);
    const Stored rows(train, element, 12, 8), asked(queries, element, 4);
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::negative_dot, Metric::cosine})
      check_like_index(rows.view(), asked.view(), 20, metric);
    check_like_index(rows.view(), queries.view(), 20, Metric::linf);
  }
  const Stored rows = random_bits(3000, 1001, 1, 3), asked = random_bits(few, 1001, 2);
  for (const Metric metric : {Metric::hamming, Metric::jaccard})
    check_like_index(rows.view(), asked.view(), 50, metric);
}

TEST_CASE("knn: ties go to the smaller row, in and across pieces") {
  constexpr std::int64_t cols = 33, copies = 10, apart = 900;
  Matrix train = scattered_rows(copies * apart, cols, 1, 2);
  const Matrix queries = scattered_rows(2, cols, 2, 2);
  std::vector<std::int64_t> nearest;  // of the first query: equal rows, which are in several pieces
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    nearest.push_back(copy * apart + 5 * copy % 7);
    std::copy_n(queries.values.begin(), cols, train.values.begin() + nearest.back() * cols);
    train.values[size(nearest.back() * cols + copy % cols)] += 0.5f;
  }
  for (const std::int64_t k : {1, 64, 300})
    for (const Metric metric : {Metric::squared_l2, Metric::linf})
      for (const std::uint32_t threads : {1u, 2u, 3u}) {
        const Neighbors found =
            check_like_index(train.view(), queries.view(), k, metric, {.threads = threads});
        for (std::int64_t i = 0; i < std::min(k, copies); ++i) CHECK(found.row[size(i)] == nearest[size(i)]);
      }
  Trace trace;
  knn(device(), train, queries, 300, Metric::linf, {}, &trace);
  if (device().info().profile.host_threads) CHECK((is_straight(trace) && trace.train_tiles > 4));
}

TEST_CASE("knn: rows too wide for a piece become an index, however wide they are said to be") {
  const float one[4] = {1, 2, 3, 4};
  const Matrix asked = tied_rows(1, 4);
  for (const std::int64_t cols : {std::int64_t{1} << 58, std::int64_t{1} << 61, int64_max / 4, int64_max}) {
    if (sanitized()) break;  // a sanitizer ends the process, where operator new throws
    check_like_index(RowsView(one, Element::f32, 1, cols), asked.view(), 1, Metric::l2);
    check_like_index(RowsView(one, Element::bits, 1, cols), RowsView(one, Element::bits, 1, cols), 1,
                     Metric::hamming);
  }
  for (const std::int64_t cols : {4095, 4096, 4097, 8192, 8193, 20000}) {
    const Matrix train = scattered_rows(40, cols, 3, 2), queries = scattered_rows(2, cols, 4, 2);
    for (const std::uint32_t threads : {1u, 64u})
      check_like_index(train.view(), queries.view(), 7, Metric::l2, {.threads = threads});
  }
}

TEST_CASE("knn: as many threads as pieces get memory, and no more") {
  if (!device().info().profile.host_threads) return;
  const Matrix train = scattered_rows(100, 4096, 3, 2), queries = scattered_rows(2, 4096, 4, 2);
  const RowsView rows = train.view(), asked = queries.view();
  const Variable cores("KITH_THREADS", "1000");
  std::uint32_t most = 0;
  for (const std::uint32_t threads : {1u, 2u, 5u, 16u, 1000u}) {
    const SearchOptions options{.threads = threads};
    const std::optional<StraightPieces> cut =
        straight_pieces({device(), rows, asked, 3, Metric::l2, options, {}});
    REQUIRE(cut.has_value());
    CHECK(cut->team <= cut->count);
    CHECK(cut->a_round <= cut->count);
    most = std::max(most, cut->team);
  }
  CHECK(most > 2);
}

TEST_CASE("knn: metrics and options that need an index") {
  const Matrix train = tied_rows(700, 100), queries = tied_rows(few, 100);
  const RowFilter odd = RowFilter::only(700, std::vector<std::int64_t>{1, 3, 5, 699});
  for (const Metric metric : {Metric::braycurtis, Metric::canberra, Metric::correlation, Metric::matching})
    check_like_index(train.view(), queries.view(), 3, metric);
  check_like_index(train.view(), queries.view(), 6, Metric::l2, {.filter = odd});
  check_like_index(train.view(), train.view().slice(10, 4), 6, Metric::l2, {.self = 10});
  check_like_index(train.view(), queries.view(), 6, Metric::l2, {.proposer = Proposer::none});
  check_like_index(train.view(), queries.view(), 6, Metric::l2, {}, {.features = {3, 99}});
  check_like_index(train.view(), queries.view(), 6, Metric::l2, {}, {.first_row = 9});
  check_like_index(train.view(), queries.view(), 6, Metric::l2, {}, {.learn_centre = true});
  check_like_index(train.view(), queries.view(), 6, Metric::minkowski, {}, {.p = 1});
  const std::vector<double> doubles(700, 1.5);
  const RowsView wide(doubles.data(), Element::f64, 70, 10);
  check_like_index(wide, wide.slice(0, 3), 6, Metric::l2);
  const std::vector<std::int64_t> numbers(700 * 100, 1);
  for (const Element element : {Element::i32, Element::u32, Element::i64}) {
    const RowsView whole(numbers.data(), element, 700, 100);
    check_like_index(whole, queries.view(), 6, Metric::l2);
    check_like_index(train.view(), whole.slice(0, 2), 6, Metric::l2);
  }
}

TEST_CASE("knn: a radius cuts lists") {
  constexpr std::int64_t k = 40;
  const Matrix train = scattered_rows(9000, 33, 1, 2), queries = scattered_rows(few, 33, 2, 2);
  const Neighbors all = check_like_index(train.view(), queries.view(), k, Metric::l2);
  std::vector<double> radii{0, 3, 1e6, -1, std::nan("")};
  for (const std::size_t i : {0u, 1u, 20u, 39u}) {
    radii.push_back(all.distance[i]);
    radii.push_back(std::nextafter(all.distance[i], 0.0f));
  }
  std::int64_t cut = 0;  // lists neither full nor empty
  for (const double radius : radii) {
    const Neighbors near = check_like_index(train.view(), queries.view(), k, Metric::l2, {.radius = radius});
    for (std::size_t list = 0; list < near.row.size(); list += size(k))
      cut += near.row[list] >= 0 && near.row[list + size(k) - 1] < 0;
  }
  CHECK(cut > 4);
}

TEST_CASE("knn: the words of an index refuse what is wrong, wherever it is") {
  const Matrix good = tied_rows(5000, 64), asked = tied_rows(few, 64);
  for (const auto& [row, value] :
       {std::pair<std::int64_t, float>{4999, std::nanf("")}, {17, inf}, {2500, -inf}}) {
    Matrix bad = good, bad_query = asked;
    bad.values[size(row * 64 + 63)] = value;
    bad.values[size(4999 * 64)] = value;
    bad_query.values[100] = value;
    for (const Metric metric : {Metric::l2, Metric::cosine, Metric::negative_dot}) {
      check_like_index(bad.view(), asked.view(), 3, metric);
      check_like_index(good.view(), bad_query.view(), 3, metric);
      check_like_index(bad.view(), bad_query.view(), 3, metric);
    }
  }
  Matrix zero = good, zero_query = asked;
  std::fill_n(zero.values.begin() + 4000 * 64, 64, 0.0f);
  std::fill_n(zero_query.values.begin() + 64, 64, 0.0f);
  check_like_index(zero.view(), asked.view(), 3, Metric::cosine);
  check_like_index(good.view(), zero_query.view(), 3, Metric::cosine);
  Matrix huge = good;
  huge.values[size(4000 * 64)] = flt_max;
  check_like_index(huge.view(), asked.view(), 3, Metric::negative_dot);
  check_like_index(huge.view(), asked.view(), 3, Metric::l2);
  for (const std::int64_t k : {-1, 0, 5001}) check_like_index(good.view(), asked.view(), k, Metric::l2);
  check_like_index(good.view(), tied_rows(few, 63).view(), 3, Metric::l2);
  check_like_index(good.view(), Matrix{0, 64, {}}.view(), 3, Metric::l2);
  check_like_index(Matrix{0, 64, {}}.view(), asked.view(), 3, Metric::l2);
  check_like_index(good.view(), asked.view(), 3, Metric::hamming);
  check_like_index(RowsView(nullptr, Element::f32, 10, 4), asked.view(), 3, Metric::l2);
  check_like_index(good.view(), RowsView(nullptr, Element::f32, 1, 64), 3, Metric::l2);
}

TEST_CASE("knn: many rows go by in rounds, with progress, and stop between them") {
  const Matrix train = scattered_rows(150000, 64, 1), queries = scattered_rows(10, 64, 2);
  SearchOptions options;
  std::vector<double> told;
  options.progress = [&](const Progress& now) { told.push_back(now.fraction); };
  const Neighbors expected = Index(device(), train, Metric::l2).search(queries, 30);
  CHECK(knn(device(), train, queries, 30, Metric::l2, options) == expected);
  CHECK(knn(device(), train, queries, 30, Metric::l2, {.threads = 1}) == expected);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 1);
  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](const Progress&) { stop.request_stop(); };
  CHECK(error_of([&] {
          knn(device(), train, queries, 30, Metric::l2, options);
        }).starts_with("interrupted: search: stopped after 1 of "));
  options.progress = {};
  CHECK(error_of([&] {
          knn(device(), train, queries, 30, Metric::l2, options);
        }).starts_with("interrupted: search: stopped after 0 of "));
}

TEST_CASE("knn: the same bits whatever the host program has set, and its setting is kept") {
  for (const DataKind kind : {DataKind::subnormal, DataKind::huge})
    for (const Metric metric : {Metric::l2, Metric::cosine}) {
      const Matrix train = hard_rows(kind, Set::train, 2000, 100, metric),
                   queries = hard_rows(kind, Set::queries, few, 100, metric);
      const Neighbors expected = Index(device(), train, metric).search(queries, 9);
      for (const HostileSetting setting : hostile_settings) {
        CAPTURE_ALL(workloads::name(kind), name(metric), name(setting));
        Neighbors found;
        Trace trace;
        bool kept = false;
        {
          const HostileEnvironment hostile(setting);
          found = knn(device(), train, queries, 9, metric, {.radius = 1e38}, &trace);
          kept = hostile.still_set();
        }
        CHECK(kept);
        CHECK(found == Index(device(), train, metric).search(queries, 9, {.radius = 1e38}));
        CHECK(found.row.front() == expected.row.front());
      }
    }
}

TEST_CASE("knn: the plan says which way it was") {
  const Matrix train = tied_rows(5000, 64), queries = tied_rows(few, 64);
  Trace trace;
  const Neighbors found = knn(device(), train, queries, 3, Metric::l2, {}, &trace);
  CHECK(is_straight(trace) == device().info().profile.host_threads);
  CHECK(trace.plan.problem == Problem{Metric::l2, 5000, few, 64, 3});
  CHECK(trace.total_seconds > 0);
  const Neighbors asked = knn(device(), train, queries, 3, Metric::l2, {.proposer = Proposer::none}, &trace);
  CHECK(found == asked);
  CHECK(!is_straight(trace));
  CHECK(contains(trace.plan.reason, "; the rows became an index for this search alone"));
  for (const auto& [m, k, is_few] :
       {std::tuple{24, 10, true}, {25, 10, false}, {5, 100, true}, {6, 100, false}}) {
    const Matrix more = tied_rows(m, 64);
    const Neighbors listed = knn(device(), train, more, k, Metric::l2, {}, &trace);
    CHECK(is_straight(trace) == (is_few && device().info().profile.host_threads));
    CHECK(listed == Index(device(), train, Metric::l2).search(more, k));
  }
}

TEST_SUITE_END();

}  // namespace kith::tests::test_knn
