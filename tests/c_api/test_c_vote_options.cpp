// kith.h: classifiers and regressors take every option of an index, and are made of an index, too.
#include "c_api/c_support.hpp"
#include "common/elements.hpp"
#include "common/environment.hpp"
#include "kith/classifier.hpp"
#include "kith/regressor.hpp"
#include "kith/source.hpp"

namespace kith::tests::test_c_vote_options {
namespace {

using namespace c;

constexpr std::int64_t n = 200, m = 11, k = 5, classes = 3;

/// Holds what a classifier and a regressor answer.
struct Answered {
  std::vector<std::int64_t> label = std::vector<std::int64_t>(size(m)),
                            row = std::vector<std::int64_t>(size(m * k));
  std::vector<float> scores = std::vector<float>(size(m * classes)),
                     distance = std::vector<float>(row.size());
  std::vector<double> value = std::vector<double>(size(m));

  bool operator==(const Answered&) const = default;
};

/// Has rows of a C program with answers and weights, in the order of the rows.
struct Trained {
  kith_rows rows, queries;
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  std::vector<float> weights;
  OpenDevice on = opened();

  Trained(const kith_rows& train, const kith_rows& asked) : rows(train), queries(asked) {
    for (std::int64_t t = 0; t < n; ++t) {
      labels.push_back(t * 7 % classes * 10);
      values.push_back(static_cast<double>(t % 13) / 7);
      weights.push_back(0.5f + static_cast<float>(t % 5));
    }
  }
  Answered answers_of(const Voter& voter, const Averager& averager) const {
    Answered found;
    kith_classification place = KITH_INIT(kith_classification);
    place.label = found.label.data();
    place.scores = found.scores.data();
    place.distance = found.distance.data();
    place.row = found.row.data();
    kith_classification* const places[] = {&place};
    CHECK(told(kith_classifier_classify(voter.get(), &queries, k, nullptr, nullptr, 1, places)) == "ok");
    CHECK(told(kith_regressor_predict(averager.get(), &queries, k, nullptr, nullptr, found.value.data(),
                                      nullptr, nullptr)) == "ok");
    return found;
  }
  Answered of_rows(const kith_index_options& options) const {
    return answers_of(
        made<Voter>([&](auto** out) {
          return kith_classifier_new(on.get(), &rows, labels.data(), 1, weights.data(), &options, out);
        }),
        made<Averager>([&](auto** out) {
          return kith_regressor_new(on.get(), &rows, values.data(), 1, weights.data(), &options, out);
        }));
  }
  Answered of_index(const Rows& index) const {
    return answers_of(made<Voter>([&](auto** out) {
                        return kith_classifier_of_index(index.get(), labels.data(), 1, weights.data(), out);
                      }),
                      made<Averager>([&](auto** out) {
                        return kith_regressor_of_index(index.get(), values.data(), 1, weights.data(), out);
                      }));
  }
  /// Checks that answers of rows with these options are those of an index with them, and of `beside` in C++.
  void check(const kith_index_options& options, const Index& beside, const RowsView& asked) const {
    const Answered found = of_rows(options);
    CHECK(found ==
          of_index(made<Rows>([&](auto** out) { return kith_index_new(on.get(), &rows, &options, out); })));
    const Classification expected = Classifier(beside, labels, weights).classify(asked, k);
    CHECK(found.label == expected.label);
    CHECK(bits(found.scores) == bits(expected.scores));
    CHECK(found.distance == expected.neighbors.distance);
    CHECK(found.row == expected.neighbors.row);
    CHECK(found.value == Regressor(beside, values, weights).predict(asked, k));
  }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("c: answers of rows with a centre, with columns that count, and of half floats") {
  const std::vector<double> train = map_points(n, 1), asked = map_points(m, 2);
  const MatrixView<const double> train_view(train.data(), n, 3), query_view(asked.data(), m, 3);
  const std::int64_t columns[] = {2, 0};
  kith_index_options options = KITH_INIT(kith_index_options);
  options.learn_centre = 1;
  options.features = columns;
  options.features_count = 2;
  Trained(rows_of_doubles(train), rows_of_doubles(asked))
      .check(options, Index(device(), train_view, Metric::l2, {.features = {2, 0}, .learn_centre = true}),
             query_view);

  const Matrix halves = hard_rows(DataKind::integers, Set::train, n, 3, Metric::l1),
               queries = hard_rows(DataKind::integers, Set::queries, m, 3, Metric::l1);
  const Stored stored(halves, Element::f16);
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = stored.view().data;
  rows.rows = n;
  rows.cols = 3;
  rows.element = KITH_F16;
  kith_index_options kept = KITH_INIT(kith_index_options);
  kept.metric = "l1";
  kept.reserve = n + 1;
  Trained(rows, rows_of(queries))
      .check(kept, Index(device(), stored.view(), Metric::l1, {.reserve = n + 1}), queries);
}

TEST_CASE("c: answers of rows that are placed on a set of devices") {
  // The CPU twice is no set: without another device what follows is about one.
  const bool alone = device().info().backend == "cpu" || device().info().backend == "set";
  const std::string spec = alone ? device_spec() : "cpu+" + device_spec();
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, 5, Metric::l2),
               queries = hard_rows(DataKind::integers, Set::queries, m, 5, Metric::l2);
  Trained data(rows_of(train), rows_of(queries));
  data.on = opened(spec);
  const std::vector<double> shares{3, 1};
  for (const char* const placement : {"automatic", "split", "replicate"}) {
    CAPTURE(placement);
    kith_index_options options = KITH_INIT(kith_index_options);
    options.placement = placement;
    options.shares = alone ? nullptr : shares.data();
    options.shares_count = alone ? 0 : 2;
    data.check(options, Index(device(), train), queries);
  }
  kith_index_options options = KITH_INIT(kith_index_options);
  options.placement = "spread";
  kith_classifier* none = nullptr;
  CHECK(told(kith_classifier_new(data.on.get(), &data.rows, data.labels.data(), 1, nullptr, &options, &none))
            .find("there is none called \"spread\"") != std::string::npos);
}

TEST_CASE("c: answers of rows that stay where they are") {
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, 5, Metric::l2),
               queries = hard_rows(DataKind::integers, Set::queries, m, 5, Metric::l2);
  const Trained data(rows_of(train), rows_of(queries));
  const Answered expected = data.of_rows(KITH_INIT(kith_index_options));
  for (const char* const residence : {"stream", "quantized"}) {
    CAPTURE(residence);
    kith_index_options options = KITH_INIT(kith_index_options);
    options.residence = residence;
    kith_classifier* none = nullptr;
    CHECK(told(kith_classifier_new(data.on.get(), &data.rows, data.labels.data(), 1, nullptr, &options,
                                   &none)) ==
          "2: index: residence " + std::string(residence) +
              " is of rows that a source keeps; give memory_source(rows), and keep the rows");
    if (residence == std::string("quantized") && !has(Proposer::int8)) continue;
    CHECK(data.of_index(made<Rows>([&](auto** out) {
      return kith_index_from_rows(data.on.get(), &data.rows, &options, out);
    })) == expected);
  }
}

TEST_CASE("c: a classifier and a regressor of an index need one answer a row") {
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, 5, Metric::l2);
  const Trained data(rows_of(train), rows_of(train));
  const Rows index = index_of(data.on.get(), train, "l2");
  kith_classifier* voter = nullptr;
  kith_regressor* averager = nullptr;
  CHECK(told(kith_classifier_of_index(index.get(), data.labels.data(), 0, nullptr, &voter)) ==
        "2: classifier: the labels have no column; give at least one");
  std::vector<float> weights = data.weights;
  weights[7] = -1;
  CHECK(told(kith_regressor_of_index(index.get(), data.values.data(), 1, weights.data(), &averager)) ==
        "2: regressor: the sample weight of training row 7 is -1; weights are finite, and 0 or more");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_vote_options
