// Tests what could break the bits of shards, one trap per case: docs/contract.md, section 13.
#include "common/oracle.hpp"
#include "common/parted/shards.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"
#include "kith/preparation.hpp"
#include "kith/regressor.hpp"
#include "kith/shard_votes.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests::test_shards {
namespace {

constexpr std::int64_t n = 150, m = 11;

Matrix train_rows(DataKind kind, Metric metric, std::int64_t dims = 4) {
  return hard_rows(kind, Set::train, n, dims, metric);
}
Matrix query_rows(DataKind kind, Metric metric, std::int64_t dims = 4) {
  return hard_rows(kind, Set::queries, m, dims, metric);
}

/// Searches all shards, and merges their keys in random order.
Keys searched(const std::vector<Index>& shards, MatrixView<const float> queries, std::int64_t k,
              std::mt19937& random) {
  std::vector<Keys> lists;
  for (const Index& shard : shards) lists.push_back(shard.search_keys(queries, k));
  return merged_by_chance(std::move(lists), random);
}

/// Returns a radius for each query, which is exactly the distance of a row.
std::vector<float> radii_of(const Index& index, const Matrix& queries, std::int64_t rank) {
  const Neighbors found = index.search(queries, index.rows());
  std::vector<float> radii;
  for (std::int64_t q = 0; q < queries.rows; ++q)
    radii.push_back(found.distance[size(q * index.rows() + rank)]);
  return radii;
}

RadiusKeys within(const std::vector<Index>& shards, const Matrix& queries, const std::vector<float>& radii,
                  std::mt19937& random) {
  std::vector<RadiusKeys> lists;
  for (const Index& shard : shards) lists.push_back(shard.within_keys(queries, radii));
  return merged_by_chance(std::move(lists), random);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("shards: never by the distances that are shown") {
  // The root of 1 + 2^-23 rounds to 1, so shards merged by distances would order these rows by number.
  const Matrix train{4, 2, {1, 0x1.6a09e6p-12f, 2, 0, 1, 0, 3, 0}}, queries{1, 2, {0, 0}};
  const Index whole(device(), train, Metric::l2);
  const Neighbors found = whole.search(queries, 2);
  REQUIRE(found.distance[0] == found.distance[1]);
  REQUIRE(found.row == std::vector<std::int64_t>{2, 0});
  std::mt19937 random(1);
  const Keys keys = searched(shards_of(train, {{0, 2}, {2, 2}}, Metric::l2), queries, 2, random);
  CHECK(finish(Metric::l2, keys) == found);
}

TEST_CASE("shards: rows that were added keep their places, and numbers have 64 bits") {
  std::mt19937 random(2);
  const Matrix train = train_rows(DataKind::grid, Metric::l2),
               queries = query_rows(DataKind::grid, Metric::l2);
  const std::int64_t shift = std::int64_t{1} << 33;
  const Index first(device(), train.view().slice(0, 40), Metric::l2, {{}, shift});
  const std::vector<Index> shards = {
      Index(device(), train.view().slice(90, 60), Metric::l2, {{}, shift + 90}),
      first.with(train.view().slice(40, 50))};
  Keys keys = searched(shards, queries, 25, random);
  for (std::int64_t& row : keys.row) row -= shift;
  CHECK(keys == Index(device(), train, Metric::l2).search_keys(queries, 25));
}

TEST_CASE("shards: queries of negative_dot are refused by the largest element of all rows") {
  Matrix train = train_rows(DataKind::normal, Metric::negative_dot),
         queries = query_rows(DataKind::normal, Metric::negative_dot);
  train.values[size(n * 4 - 1)] = 1e20f;
  queries.values[9] = 1e19f;  // row 2
  const Index whole(device(), train, Metric::negative_dot);
  const std::string refused = error_of([&] { whole.search(queries, 3); });
  CHECK(refused.find("search: query row 2 reaches 9.99999998e+18 and the training rows 1.00000002e+20") !=
        std::string::npos);
  const float radius[] = {0};
  for (const Index& shard : shards_of(train, {{0, 100}, {100, 50}}, Metric::negative_dot)) {
    CHECK(error_of([&] { shard.search_keys(queries, 3); }) == refused);
    CHECK(error_of([&] { shard.within_keys(queries, radius); }) ==
          error_of([&] { whole.within(queries, radius); }));
  }
  queries.values[9] = 1;
  std::mt19937 random(3);
  CHECK(searched(shards_of(train, {{0, 100}, {100, 50}}, Metric::negative_dot), queries, 3, random) ==
        whole.search_keys(queries, 3));
}

TEST_CASE("shards: leave-one-out, where the row leaves after the merge") {
  std::mt19937 random(4);
  for (const DataKind kind : {DataKind::grid, DataKind::equal, DataKind::normal}) {
    CAPTURE(std::string(workloads::name(kind)));
    const Matrix train = train_rows(kind, Metric::l2);
    const Index whole(device(), train, Metric::l2);
    const std::vector<Index> shards = shards_of(train, uneven_parts(n, 5, random), Metric::l2);
    std::vector<std::int64_t> own(n);
    std::iota(own.begin(), own.end(), 0);
    SearchOptions self{.self = 0};
    const Keys kept = leave_out(searched(shards, train, 8, random), own);
    CHECK(difference(finish(Metric::l2, kept), whole.search(train, 7, self)) == "");
    const std::vector<float> radii = radii_of(whole, train, 9);
    CHECK(finish(Metric::l2, leave_out(within(shards, train, radii, random), own)) ==
          whole.within(train, radii, self));
  }
  const Keys keys{
      2, 3, {1u << 31, 1u << 31, 0xBF800000u, 1u << 31, 0xBF800000u, 0xFFFFFFFFu}, {4, 7, 2, 5, 6, -1}};
  const std::vector<std::int64_t> none = {-1, -1}, some = {7, 6}, few = {1};
  CHECK(leave_out(keys, none) == Keys{2, 2, {1u << 31, 1u << 31, 1u << 31, 0xBF800000u}, {4, 7, 5, 6}});
  CHECK(leave_out(keys, some) == Keys{2, 2, {1u << 31, 0xBF800000u, 1u << 31, 0xFFFFFFFFu}, {4, 2, 5, -1}});
  CHECK(error_of([&] { leave_out(keys, few); }) ==
        "invalid_argument: leave_out: 1 rows for 2 queries; give one a query, -1 for none");
  CHECK(error_of([&] {
          leave_out(Keys{1, 1, {0xBF800000u}, {2}}, few);
        }) ==
        "invalid_argument: leave_out: the keys have k = 1, of which nothing is left; search for one more "
        "than you want");
}

TEST_CASE("shards: filters, cut at multiples of 32 or shifted") {
  std::mt19937 random(5);
  const Matrix train = train_rows(DataKind::grid, Metric::l1),
               queries = query_rows(DataKind::grid, Metric::l1);
  const Index whole(device(), train, Metric::l1);
  for (const std::int64_t filters : {std::int64_t{1}, m}) {
    RowFilter filter(n, filters, false);
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t t = 0; t < n; ++t) filter.set(t, random() % 6 == 0, f);
    SearchOptions options{.filter = filter};
    const Neighbors expected = whole.search(queries, 40, options);  // more than the rows that count
    const float radius[] = {2};
    const RadiusNeighbors expected_within = whole.within(queries, radius, options);
    for (const std::int64_t step : {1, 32}) {
      CAPTURE(step);
      const std::vector<Part> parts = uneven_parts(n, 4, random, step);
      const std::vector<Index> shards = shards_of(train, parts, Metric::l1);
      std::vector<Keys> lists;
      std::vector<RadiusKeys> lists_within;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const RowFilter shifted = filter.slice(parts[i].first, parts[i].rows);
        SearchOptions own{.filter = shifted};
        if (step == 32)  // takes the filter's words unchanged
          own.filter = {filter.view().data() + parts[i].first / 32, filters, (parts[i].rows + 31) / 32,
                        filter.view().cols()};
        lists.push_back(shards[i].search_keys(queries, 40, own));
        lists_within.push_back(shards[i].within_keys(queries, radius, own));
      }
      CHECK(difference(finish(Metric::l1, merged_by_chance(lists, random)), expected) == "");
      CHECK(finish(Metric::l1, merged_by_chance(lists_within, random)) == expected_within);
    }
  }
}

TEST_CASE("shards: rows within a radius, by each metric") {
  std::mt19937 random(6);
  for (const DataKind kind : {DataKind::grid, DataKind::normal})
    for (const Metric metric : number_metrics) {
      CAPTURE(std::string(name(metric)));
      const Matrix train = train_rows(kind, metric), queries = query_rows(kind, metric);
      const Index whole(device(), train, metric);
      const std::vector<float> radii = radii_of(whole, queries, 33);
      for (const std::int64_t count : {1, 3, 17}) {
        const RadiusKeys merged =
            within(shards_of(train, uneven_parts(n, count, random), metric), queries, radii, random);
        CHECK(merged == whole.within_keys(queries, radii));
        CHECK(finish(metric, merged) == whole.within(queries, radii));
      }
    }
  const RadiusKeys one{2, {0, 1, 1}, {0xBF800000u}, {4}},
      other{2, {0, 1, 2}, {0xBF800000u, 1u << 31}, {3, 4}};
  CHECK(merge(std::vector{one, other, one}) ==
        RadiusKeys{2, {0, 2, 3}, {0xBF800000u, 0xBF800000u, 1u << 31}, {3, 4, 4}});
  CHECK(error_of([&] {
          merge(std::vector{one, RadiusKeys{1, {0, 1}, {0xBF800000u}, {4}}});
        }) ==
        "invalid_argument: merge: list 1 has 1 queries and k = 0, but list 0 has 2 and k = 0; search every "
        "shard for the same queries and k");
  CHECK(
      error_of([&] {
        merge(std::vector{RadiusKeys{1, {0, 2}, {0xBF800000u}, {4}}});
      }) ==
      "invalid_argument: merge: list 0 has 1 values and 1 rows, but the last list ends at 2; give 2 of each");
  CHECK(error_of([&] {
          merge(std::vector{RadiusKeys{1, {0, 1}, {0xFFFFFFFFu}, {-1}}});
        }).find("rank 0") != std::string::npos);
  CHECK(error_of([&] {
          merge(std::vector{RadiusKeys{2, {0, 1}, {0xBF800000u}, {4}}});
        }) ==
        "invalid_argument: merge: list 0 of 2 queries with 2 places in first; give queries + 1 that begin "
        "with 0 and do not decrease");
}

TEST_CASE("shards: votes and means count after the merge") {
  std::mt19937 random(7);
  const Matrix train = train_rows(DataKind::grid, Metric::l2),
               queries = query_rows(DataKind::grid, Metric::l2);
  std::vector<std::int64_t> labels;
  std::vector<float> sample_weights;
  std::vector<double> values;
  for (std::int64_t t = 0; t < n; ++t) {
    labels.push_back(static_cast<std::int64_t>(random() % 4) * 10 - 7);
    sample_weights.push_back(static_cast<float>(random() % 1000) / 999.0f);
    for (int o = 0; o < 2; ++o) values.push_back(static_cast<double>(random() % 1000) / 7.0);
  }
  const MatrixView<const double> targets(values.data(), n, 2);
  const std::vector<Index> shards = shards_of(train, uneven_parts(n, 6, random), Metric::l2);
  for (const bool weighted : {false, true}) {
    const std::vector<float> weights = weighted ? sample_weights : std::vector<float>();
    const Classifier classifier(device(), train, labels, Metric::l2, {}, weights);
    const Regressor regressor(device(), train, targets, Metric::l2, {}, weights);
    const ShardLabels of_shards(labels, weights);
    const ShardValues values_of_shards(targets, weights);
    CHECK(of_shards.classes() == classifier.classes());
    const std::vector<float> radii = radii_of(classifier.index(), queries, 12);
    const RadiusKeys near = within(shards, queries, radii, random);
    for (const std::int64_t k : {1, 12, 37}) {
      const Keys keys = searched(shards, queries, k, random);
      for (const TieRule tie : {TieRule::smallest_label, TieRule::nearest, TieRule::smallest_distance,
                                TieRule::fewer_neighbors, TieRule::abstain})
        for (const Weights by : {Weights::uniform, Weights::distance, Weights::rank}) {
          CAPTURE_ALL(name(tie), name(by));
          VotingOptions voting{.weights = by, .tie = tie};
          if (by == Weights::rank)
            for (std::int64_t j = 0; j < n; ++j)
              voting.rank_weights.push_back(1.0f / static_cast<float>(j + 1));
          const Classification got = classify(Metric::l2, keys, of_shards, voting),
                               expected = classifier.classify(queries, k, voting);
          CHECK(got.label == expected.label);
          CHECK(got.votes == expected.votes);
          CHECK(bits(got.scores) == bits(expected.scores));
          CHECK(got.neighbors == expected.neighbors);
          const RadiusClassification got_within = classify(Metric::l2, near, of_shards, voting),
                                     expected_within = classifier.classify_within(queries, radii, voting);
          CHECK(got_within.label == expected_within.label);
          CHECK(got_within.votes == expected_within.votes);
          CHECK(bits(got_within.scores) == bits(expected_within.scores));
          CHECK(regress(Metric::l2, keys, values_of_shards, voting).value ==
                regressor.regress(queries, k, voting).value);
          CHECK(regress(Metric::l2, near, values_of_shards, voting).value ==
                regressor.regress_within(queries, radii, voting).value);
        }
    }
  }
  const Keys beyond{1, 1, {0xBF800000u}, {n}};
  CHECK(error_of([&] { classify(Metric::l2, beyond, ShardLabels(labels)); }) ==
        "invalid_argument: classify: the keys name row 150, but there are labels of 150 rows; give those of "
        "the rows of all shards");
  CHECK(error_of([&] { regress(Metric::l2, beyond, ShardValues(targets)); }) ==
        "invalid_argument: regress: the keys name row 150, but there are values of 150 rows; give those of "
        "the rows of all shards");
  VotingOptions by_distance{.weights = Weights::distance};
  CHECK(error_of([&] { classify(Metric::negative_dot, beyond, ShardLabels({}), by_distance); }) ==
        "invalid_argument: shard labels: there is none; give one a row of all shards");
  CHECK(error_of([&] {
          classify(Metric::negative_dot, Keys{1, 1, {0xBF800000u}, {1}}, ShardLabels(labels), by_distance);
        }).find("unsupported: classify: a vote cannot weigh 1 / distance") != std::string::npos);
}

TEST_CASE("shards: a preparation is learned from all rows, then used on each shard") {
  std::mt19937 random(8);
  const Matrix train = train_rows(DataKind::normal, Metric::l2),
               queries = query_rows(DataKind::normal, Metric::l2);
  const Preparation learned(train, {{Scaling::standardize, Scaling::min_max}, {}, Categories::ordinal});
  const auto prepared = [&](const Preparation& by, MatrixView<const float> rows) {
    return Matrix{rows.rows(), rows.cols(), by.apply(rows)};
  };
  const Matrix all = prepared(learned, train), asked = prepared(learned, queries);
  const std::vector<Part> parts = uneven_parts(n, 5, random);
  std::vector<Keys> lists;
  bool differs = false;
  for (const Part& part : parts) {
    const MatrixView<const float> rows = train.view().slice(part.first, part.rows);
    const Matrix here = prepared(learned, rows);
    lists.push_back(Index(device(), here, Metric::l2, {{}, part.first}).search_keys(asked, 9));
    const Preparation alone(rows, {{Scaling::standardize, Scaling::min_max}, {}, Categories::ordinal});
    differs = differs || prepared(alone, rows).values != here.values;
  }
  CHECK(differs);  // each shard by itself would learn another preparation
  CHECK(merged_by_chance(lists, random) == Index(device(), all, Metric::l2).search_keys(asked, 9));
}

TEST_CASE("shards: sums over classes are cut by query, not by row") {
  const Matrix train = train_rows(DataKind::normal, Metric::squared_l2),
               queries = query_rows(DataKind::normal, Metric::squared_l2);
  std::vector<std::uint32_t> labels;
  for (std::int64_t t = 0; t < n; ++t) labels.push_back(static_cast<std::uint32_t>(t % 3));
  const auto sums = [&](std::int64_t first, std::int64_t count, std::int64_t row = 0, std::int64_t rows = n) {
    const std::vector<float> distances = stages::distance(device(), queries.view().slice(first, count),
                                                          train.view().slice(row, rows), Metric::squared_l2);
    return stages::accumulate(device(), {distances.data(), count, rows},
                              std::span(labels).subspan(size(row), size(rows)), 3);
  };
  const stages::Accumulated whole = sums(0, m), first = sums(0, 4), rest = sums(4, m - 4);
  const auto joined = [](std::vector<float> one, const std::vector<float>& other) {
    one.insert(one.end(), other.begin(), other.end());
    return bits(one);
  };
  CHECK(joined(first.smallest, rest.smallest) == bits(whole.smallest));
  CHECK(joined(first.high, rest.high) == bits(whole.high));
  CHECK(joined(first.low, rest.low) == bits(whole.low));
  // Adding the sums of two parts of the rows gives another pair of floats.
  const stages::Accumulated upper = sums(0, m, 0, 70), lower = sums(0, m, 70, n - 70);
  std::vector<float> low = upper.low;
  for (std::size_t i = 0; i < low.size(); ++i) low[i] += lower.low[i];
  CHECK(bits(low) != bits(whole.low));
}

TEST_CASE("shards: the first bad row of all is that of the first shard that has one, by its number") {
  Matrix train = train_rows(DataKind::normal, Metric::cosine);
  train.values[size(120 * 4 + 1)] = std::numeric_limits<float>::quiet_NaN();
  train.values[size(70 * 4 + 3)] = inf;
  Matrix zeros = train_rows(DataKind::normal, Metric::cosine);
  for (const std::int64_t t : {133, 77})
    for (std::int64_t d = 0; d < 4; ++d) zeros.values[size(t * 4 + d)] = 0;
  for (const Matrix* const rows : {&std::as_const(train), &std::as_const(zeros)}) {
    std::vector<std::string> refused;
    for (const std::int64_t first : {0, 50, 100}) {
      const std::string error = error_of([&] {
        Index(device(), rows->view().slice(first, 50), Metric::cosine, {{}, first});
      });
      if (error != "nothing was thrown") refused.push_back(error);
    }
    REQUIRE(refused.size() == 2);
    CHECK(refused[0] == error_of([&] { Index(device(), *rows, Metric::cosine); }));
    CHECK(refused[0].find(rows == &train ? "training row 70, column 3 holds an infinity"
                                         : "training row 77 is all zeros") != std::string::npos);
    CHECK(refused[1].find(rows == &train ? "training row 120, column 1" : "training row 133") !=
          std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_shards
