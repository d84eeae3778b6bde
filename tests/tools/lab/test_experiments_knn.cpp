// Tests the experiments of GS_KNN and KNN in CUDA against the sequential programs and ANN.
// test_experiments.cpp tests what all experiments share.
#include "lab/experiments/ann.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/measure.hpp"
#include "lab/experiments/points.hpp"
#include "lab/experiments/sequential.hpp"
#include "tools/lab/experiments.hpp"

using namespace kith;
using namespace kith::experiments;
using tests::contains;
using tests::has;
using tests::quick_run;
using tests::series_of;
using tests::xs;

namespace {

constexpr SequentialSort all_sorts[] = {SequentialSort::std_sort, SequentialSort::selection_sort,
                                        SequentialSort::quick_sort};

/// Checks that every curve has points, and that checks that passed have no details.
void check_sound(const Result& result) {
  tests::check_result(result);
  for (const Check& check : result.checks) CHECK(check.detail == "");
  for (const Chart& chart : result.charts)
    for (const Series& series : chart.series) CHECK_FALSE(series.points.empty());
}

bool all_finite(const Series& series) {
  return std::all_of(series.points.begin(), series.points.end(),
                     [](const Point& point) { return std::isfinite(point.y); });
}

/// Returns the distances of all rows in double, sorted. They are exact for whole numbers.
std::vector<double> sorted_distances(const Points& points, const Question& question) {
  std::vector<double> all;
  for (std::int64_t t = 0; t < points.rows.rows(); ++t) {
    const float* row = points.rows.view().row(t);
    const double x = double{row[0]} - double{question.at[0]}, y = double{row[1]} - double{question.at[1]};
    all.push_back(x * x + y * y);
  }
  std::sort(all.begin(), all.end());
  return all;
}

template <class Real>
void check_sequential(std::int64_t n, std::int64_t k) {
  const Points points = make_points(7, n);
  const Question question{k, {50.5f, 36.0f}};
  const std::vector<double> right = sorted_distances(points, question);
  SequentialProgram<Real> program(points.rows.view(), points.labels, 2);
  for (const SequentialSort sort : all_sorts) {
    CAPTURE_ALL(name(sort), n, k);
    for (int again = 0; again < 2; ++again) {  // what the first call sorted must not matter
      const auto answer = program.classify(question.at, k, sort);
      CHECK(std::vector<double>(answer.distance.begin(), answer.distance.end()) ==
            std::vector<double>(right.begin(), right.begin() + k));
      CHECK(answer.votes[0] + answer.votes[1] == static_cast<std::uint32_t>(k));
      CHECK(answer.winner == (answer.votes[1] > answer.votes[0] ? 1 : 0));
    }
  }
}

}  // namespace

TEST_CASE("experiments: sequential programs find the k smallest, ties or not") {
  for (const std::int64_t n : {1, 2, 15, 16, 17, 18, 100, 5000})
    for (const std::int64_t k : {std::int64_t{1}, n / 2 + 1, n}) {
      check_sequential<float>(n, k);
      check_sequential<double>(n, k);
    }
}

TEST_CASE("experiments: sequential programs, by hand") {
  const std::vector<float> rows = {0, 0, 3, 4, 1, 0, 0, 2, 6, 8};
  const std::vector<std::uint32_t> labels = {2, 0, 1, 1, 0};
  const float query[2] = {0, 0};
  for (const SequentialSort sort : all_sorts) {
    CAPTURE(std::string(name(sort)));
    SequentialProgram<double> program({rows.data(), 5, 2}, labels, 3);
    const auto three = program.classify(query, 3, sort);
    CHECK(three.distance == std::vector<double>{0, 1, 4});
    CHECK(three.votes == std::vector<std::uint32_t>{0, 2, 1});
    CHECK(three.winner == 1);
    const auto five = program.classify(query, 5, sort);
    CHECK(five.distance == std::vector<double>{0, 1, 4, 25, 100});
    CHECK(five.winner == 0);  // 0 and 1 have two votes each
  }
}

TEST_CASE("experiments: double tells apart what float does not") {
  const std::vector<float> rows = {1.0f, 0x1p-13f, 1.0f, 0};
  const std::vector<std::uint32_t> labels = {0, 1};
  const float query[2] = {0, 0};
  CHECK(SequentialProgram<double>({rows.data(), 2, 2}, labels, 2)
            .classify(query, 1, SequentialSort::std_sort)
            .distance == std::vector<double>{1});
  CHECK(SequentialProgram<double>({rows.data(), 2, 2}, labels, 2)
            .classify(query, 2, SequentialSort::quick_sort)
            .distance == std::vector<double>{1, 1 + 0x1p-26});
  CHECK(SequentialProgram<float>({rows.data(), 2, 2}, labels, 2)
            .classify(query, 2, SequentialSort::quick_sort)
            .distance == std::vector<float>{1, 1});
}

TEST_CASE("experiments: the points are whole numbers below 100, the first the same for every n") {
  const Points many = make_points(3, 2000), few = make_points(3, 50);
  std::set<float> seen;
  for (std::int64_t t = 0; t < 2000; ++t)
    for (std::int64_t d = 0; d < 2; ++d) seen.insert(many.rows.view()(t, d));
  CHECK(seen.size() == 100);
  CHECK(*seen.begin() == 0);
  CHECK(*seen.rbegin() == 99);
  CHECK(std::all_of(seen.begin(), seen.end(), [](float x) { return x == std::floor(x); }));
  for (std::int64_t t = 0; t < 50; ++t) {
    CHECK(few.rows.view()(t, 0) == many.rows.view()(t, 0));
    CHECK(few.rows.view()(t, 1) == many.rows.view()(t, 1));
  }
  CHECK(std::equal(few.labels.begin(), few.labels.end(), many.labels.begin()));
  CHECK(std::set<std::int64_t>(many.labels64.begin(), many.labels64.end()) == std::set<std::int64_t>{0, 1});
}

TEST_CASE("experiments: ANN finds the exact neighbours, or says that it is not built in") {
  const Points points = make_points(5, 300);
  const MatrixView<const float> train = points.rows.view();
  const float query[2] = {50.25f, 36.125f};
  if (!ann_built_in()) {
    CHECK(tests::error_of([&] { AnnPeer(train, AnnPeer::Structure::kd_tree); }) ==
          "unsupported: experiment: ANN is not built in; install libann-dev and build again");
    return;
  }
  const Question question{40, {query[0], query[1]}};
  const std::vector<double> right = sorted_distances(points, question);
  for (const auto structure : {AnnPeer::Structure::kd_tree, AnnPeer::Structure::brute_force}) {
    AnnPeer ann(train, structure);
    for (const std::int64_t k : {1, 40}) {
      const std::vector<std::int64_t> found = ann.search(query, k);
      CHECK(std::set<std::int64_t>(found.begin(), found.end()).size() == static_cast<std::size_t>(k));
      std::vector<double> distances;
      for (const std::int64_t t : found) {
        const double x = double{train(t, 0)} - double{query[0]}, y = double{train(t, 1)} - double{query[1]};
        distances.push_back(x * x + y * y);
      }
      CHECK(distances == std::vector<double>(right.begin(), right.begin() + k));
    }
  }
}

TEST_CASE("experiments: where two curves meet") {
  const auto series = [](std::vector<double> ys) {
    Series made;
    double x = 1;
    for (const double y : ys) {
      made.points.push_back({x, y, {}});
      x *= 4;
    }
    return made;
  };
  // 1, 4, 16 meets 2, 2, 2 half-way between x = 1 and x = 4 on a logarithmic axis.
  CHECK(crossover(series({1, 4, 16}), series({2, 2, 2})) == doctest::Approx(2));
  CHECK(crossover(series({1, 2, 8}), series({2, 2, 2})) == doctest::Approx(4));
  CHECK(std::isnan(crossover(series({1, 1, 1}), series({2, 2, 2}))));
  CHECK(std::isnan(crossover(series({4, 2, 1}), series({2, 2, 2}))));
  CHECK(std::isnan(crossover(series({1, not_measured, 8}), series({2, 2, 2}))));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("experiments: gsknn-table1") {
  const Result result = quick_run("gsknn-table1");
  check_sound(result);
  REQUIRE(result.charts.size() == 2);
  for (const Chart& chart : result.charts) {
    CHECK(chart.x.log);
    CHECK(chart.y.log);
    const Series& chosen = series_of(chart, "kith's choice");
    CHECK(xs(chosen) == std::vector<double>{1024, 2048, 4096});
    CHECK(all_finite(chosen));
    if (has(Selector::insertion)) CHECK(all_finite(series_of(chart, "Garcia")));
    if (has(Selector::k_min) || has(Selector::bitonic))
      CHECK(all_finite(series_of(chart, "GS_KNN's selections")));
    CHECK(all_finite(series_of(chart, "ANN, kd-tree")) == ann_built_in());
    CHECK(all_finite(series_of(chart, "ANN, brute force")) == ann_built_in());
  }
  REQUIRE(result.claims.size() == 3);
  CHECK(result.claims[0].paper == "145x");
  CHECK(result.claims[1].paper == "2.8x");
  CHECK(contains(result.claims[0].here, "n = 4096, dims = 64"));
  const bool refused = result.claims[2].here.starts_with(not_available);
  CHECK(refused == !(has(Selector::k_min) || has(Selector::bitonic)));
  if (refused) CHECK(contains(result.claims[2].why, "has none of the selectors to be sampled"));
  if (!refused) CHECK(result.claims[2].why == "the paper could not know it");
  CHECK(result.tables.size() == (ann_built_in() ? 1 : 0));
}

TEST_CASE("experiments: gsknn-crossover") {
  const Result result = quick_run("gsknn-crossover");
  check_sound(result);
  REQUIRE(result.charts.size() == 1);
  const Chart& chart = result.charts[0];
  CHECK(xs(series_of(chart, "k-min")) == std::vector<double>{1, 16, 46, 128});
  if (has(Selector::k_min)) CHECK(all_finite(series_of(chart, "k-min")));
  if (has(Selector::bitonic)) CHECK(all_finite(series_of(chart, "bitonic")));
  if (has(Selector::threshold)) CHECK(all_finite(series_of(chart, "threshold")));
  REQUIRE(result.claims.size() == 1);
  CHECK(result.claims[0].paper == "46");
  CHECK(contains(result.claims[0].here, "(" + tests::device().info().spec + ")"));
}

TEST_CASE("experiments: knn-ladder") {
  const Result result = quick_run("knn-ladder");
  check_sound(result);
  REQUIRE(result.charts.size() == 1);
  const Chart& chart = result.charts[0];
  CHECK(xs(series_of(chart, "knn00")) == std::vector<double>{1024, 4096, 16384});
  CHECK(all_finite(series_of(chart, "knn00")));
  CHECK(all_finite(series_of(chart, "knn01")));
  if (has(Selector::merge_sort)) CHECK(all_finite(series_of(chart, "knn03")));
  REQUIRE(result.claims.size() == 3);
  const auto ms = [&](const char* version) { return series_of(chart, version).points.back().y; };
  CHECK(result.claims[0].what == "knn01 over knn00, whole call");
  CHECK(result.claims[0].paper == not_available);
  CHECK(result.claims[0].here.starts_with(ratio_text(ms("knn00") / ms("knn01"))));
  CHECK(contains(result.claims[0].here, ", so slower") == (ms("knn00") < 0.995 * ms("knn01")));
  CHECK(contains(result.claims[0].here, "n = 16384"));
  CHECK(result.claims[0].why.starts_with("where the time goes, ms: distance "));
  CHECK(result.claims[1].what == "knn03 over knn01, whole call");
  CHECK(result.claims[1].here.starts_with(ratio_text(ms("knn01") / ms("knn03"))));
  CHECK(result.claims[1].why != "");
  CHECK(result.claims[2].paper == "131072");
  if (has(Selector::merge_sort)) CHECK(result.claims[2].here.starts_with("131072 in "));
  REQUIRE(result.tables.size() == 4);
  CHECK(result.tables[1].rows.size() == 3);  // three sorts
  for (const auto& row : result.tables[1].rows) CHECK(row[4] == "0 and 0");
  CHECK(result.tables[2].rows.size() == 2);  // two sizes
  CHECK(result.tables[3].rows.size() == 2);  // two values of k
}

TEST_CASE("experiments: knn03-table") {
  const Result result = quick_run("knn03-table");
  check_sound(result);
  REQUIRE(result.charts.size() == 2);
  for (const Chart& chart : result.charts) {
    CHECK(xs(series_of(chart, "sequential")) == std::vector<double>{131072, 262144});
    if (has(Selector::merge_sort)) CHECK(all_finite(series_of(chart, "knn03")));
    CHECK(all_finite(series_of(chart, "kith's choice")));
  }
  REQUIRE(result.tables.size() == 1);
  const auto& rows = result.tables[0].rows;
  REQUIRE(rows.size() == 4);
  using Cells = std::vector<std::string>;
  CHECK(Cells(rows[0].begin(), rows[0].begin() + 5) ==
        Cells{"131072", "k = 15 at (2.5, 7)", "658.8", "382.2", "1.7x"});
  for (const auto& row : rows) CHECK(row[5] == tests::device().info().spec);
  CHECK(Cells(rows[3].begin(), rows[3].begin() + 5) ==
        Cells{"262144", "k = 101 at (50.2, 36)", "2303.3", "775.2", "3.0x"});
}

TEST_SUITE_END();
