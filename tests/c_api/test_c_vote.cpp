// kith.h: classifiers, regressors and evaluations give what kith.hpp gives.
#include "c_api/c_support.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/regressor.hpp"

namespace kith::tests::test_c_vote {
namespace {

using namespace c;

constexpr std::int64_t k = 7, n = 200, classes = 4;

/// Holds rows that have two labels, a value and a weight each.
struct Labelled {
  Matrix train = hard_rows(DataKind::integers, Set::train, n, 4, Metric::l2);
  Matrix queries = hard_rows(DataKind::integers, Set::queries, 23, 4, Metric::l2);
  std::vector<std::int64_t> labels, first, second;  ///< [n, 2], and its columns
  std::vector<double> values;
  std::vector<float> weights;

  Labelled() {
    for (std::int64_t t = 0; t < n; ++t) {
      first.push_back(t * 7 % classes * 10 - 5);
      second.push_back(t % 3);
      labels.insert(labels.end(), {first.back(), second.back()});
      values.push_back(static_cast<double>(t % 13) / 7);
      weights.push_back(static_cast<float>(t % 5));
    }
  }
  Voter voter(const kith_device* on, bool weighted) const {
    const kith_rows rows = rows_of(train);
    return made<Voter>([&](kith_classifier** out) {
      return kith_classifier_new(on, &rows, labels.data(), 2, weighted ? weights.data() : nullptr, nullptr,
                                 out);
    });
  }
  Classifier beside(bool weighted) const {
    return {device(),   train, MatrixView<const std::int64_t>(labels.data(), n, 2),
            Metric::l2, {},    weighted ? weights : std::vector<float>()};
  }
};

/// Returns the bits, so that NaN are compared, too.
std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> all;
  for (const double value : values) all.push_back(std::bit_cast<std::uint64_t>(value));
  return all;
}

/// Room for everything that a classification of `m` queries writes.
struct Answer {
  Answer(std::int64_t m, std::int64_t class_count)
      : label(size(m)),
        votes(size(m * class_count)),
        scores(votes.size()),
        share(votes.size()),
        distance(size(m * k)),
        row(size(m * k)),
        places(KITH_INIT(kith_classification)) {
    places.label = label.data();
    places.votes = votes.data();
    places.scores = scores.data();
    places.share = share.data();
    places.distance = distance.data();
    places.row = row.data();
  }
  /// Returns whether the answer equals that of C++.
  bool is(const Classification& expected, const std::vector<double>& shares) const {
    const std::vector<float> sums = expected.scores.empty()
                                        ? std::vector<float>(expected.votes.begin(), expected.votes.end())
                                        : expected.scores;
    return label == expected.label && votes == expected.votes && scores == sums && share == shares &&
           distance == expected.neighbors.distance && row == expected.neighbors.row;
  }

  std::vector<std::int64_t> label;
  std::vector<std::uint32_t> votes;
  std::vector<float> scores;
  std::vector<double> share;
  std::vector<float> distance;
  std::vector<std::int64_t> row;
  kith_classification places;
};

/// Priors and costs that fit the first output, in both languages.
struct Vote {
  std::vector<double> priors{1, 2, 0.5, 3}, costs;
  std::vector<float> ranks{5, 4, 3, 2, 1, 0.5f, 0.25f};
  kith_vote_options options = KITH_INIT(kith_vote_options);
  VotingOptions voting;

  Vote() {
    for (std::int64_t cell = 0; cell < classes * classes; ++cell)
      costs.push_back(cell % 5 == 0 ? 0 : 1 + static_cast<double>(cell % 3));
    voting.weights = Weights::rank;
    voting.tie = TieRule::nearest;
    voting.rank_weights = ranks;
    voting.priors = priors;
    voting.costs = costs;
    voting.no_label = -99;
    options.weights = "Rank";
    options.tie = "nearest";
    options.rank_weights = ranks.data();
    options.rank_weights_count = 7;
    options.priors = priors.data();
    options.priors_count = classes;
    options.costs = costs.data();
    options.costs_count = classes * classes;
    options.has_no_label = 1;
    options.no_label = -99;
  }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("c: labels, shares and votes of a classifier") {
  const Labelled data;
  const OpenDevice on = opened();
  const kith_rows rows = rows_of(data.queries);
  const std::int64_t m = data.queries.rows;
  const TraceRoom trace = made<TraceRoom>([](kith_trace** out) { return kith_trace_new(0, out); });
  for (const bool weighted : {false, true}) {
    const Voter voter = data.voter(on.get(), weighted);
    const Classifier beside = data.beside(weighted);
    kith_search_options traced = KITH_INIT(kith_search_options);
    traced.trace = trace.get();
    for (const kith_search_options* options : {static_cast<kith_search_options*>(nullptr), &traced}) {
      std::vector<std::int64_t> label(size(2 * m));
      CHECK(told(kith_classifier_predict(voter.get(), &rows, k, nullptr, options, label.data())) == "ok");
      CHECK(label == beside.predict(data.queries, k));
      std::vector<double> share(size(m * 3));
      CHECK(told(kith_classifier_predict_proba(voter.get(), &rows, k, nullptr, options, 1, share.data())) ==
            "ok");
      CHECK(share == beside.predict_proba(data.queries, k, {}, {}, 1));
    }
    Answer first(m, classes), second(m, 3), alone(m, classes);
    kith_classification* const answers[] = {&first.places, &second.places};
    CHECK(told(kith_classifier_classify(voter.get(), &rows, k, nullptr, nullptr, 2, answers)) == "ok");
    kith_classification* const one[] = {&alone.places};
    CHECK(told(kith_classifier_classify(voter.get(), &rows, k, nullptr, nullptr, 1, one)) == "ok");
    CHECK(told(kith_classifier_classify(voter.get(), &rows, k, nullptr, nullptr, 3, answers)) ==
          "2: kith_classifier_classify: outputs = 3; give 1, for the first, or 2, for all");
    const std::vector<Classification> expected = beside.classify_outputs(data.queries, k);
    CHECK(first.is(expected[0], beside.predict_proba(data.queries, k)));
    CHECK(alone.is(expected[0], beside.predict_proba(data.queries, k)));
    CHECK(second.is(expected[1], beside.predict_proba(data.queries, k, {}, {}, 1)));
  }
}

TEST_CASE("c: every option of a vote arrives") {
  const Labelled data;
  const Vote vote;
  const OpenDevice on = opened();
  const kith_rows train = rows_of(data.train), rows = rows_of(data.queries);
  const std::int64_t m = data.queries.rows;
  const Voter voter = made<Voter>([&](kith_classifier** out) {
    return kith_classifier_new(on.get(), &train, data.first.data(), 1, nullptr, nullptr, out);
  });
  const Classifier beside(device(), data.train, data.first);
  Answer answer(m, classes);
  kith_classification* const answers[] = {&answer.places};
  CHECK(told(kith_classifier_classify(voter.get(), &rows, k, &vote.options, nullptr, 1, answers)) == "ok");
  CHECK(answer.is(beside.classify(data.queries, k, vote.voting),
                  beside.predict_proba(data.queries, k, vote.voting)));
  // With radius 0 no row is a neighbour, so the answer is the label for "none".
  const float radius = 0;
  kith_vote_options none = vote.options;
  none.weights = "uniform";
  none.rank_weights_count = 0;
  VotingOptions same = vote.voting;
  same.weights = Weights::uniform;
  same.rank_weights = {};
  kith_within* lists = nullptr;
  CHECK(told(kith_classifier_classify_within(voter.get(), &rows, &radius, 1, &none, nullptr, &answer.places,
                                             &lists)) == "ok");
  const Within within(lists);
  const RadiusClassification expected = beside.classify_within(data.queries, {&radius, 1}, same);
  CHECK(answer.label == expected.label);
  CHECK(answer.votes == expected.votes);
  CHECK(lists_of(lists) == expected.neighbors);
  CHECK(told(kith_classifier_classify_within(voter.get(), &rows, &radius, 1, &none, nullptr, &answer.places,
                                             nullptr)) == "ok");
}

TEST_CASE("c: one search for several k") {
  const Labelled data;
  const OpenDevice on = opened();
  const Voter voter = data.voter(on.get(), false);
  const kith_rows rows = rows_of(data.queries);
  const std::int64_t m = data.queries.rows;
  const std::vector<std::int64_t> ks{3, 7, 1};
  const Sweep expected = data.beside(false).sweep(data.queries, ks);
  std::vector<std::int64_t> label(size(3 * m)), row(size(7 * m)), all;
  std::vector<float> distance(row.size());
  CHECK(told(kith_classifier_sweep(voter.get(), &rows, ks.data(), 3, nullptr, nullptr, label.data(),
                                   distance.data(), row.data())) == "ok");
  for (const auto& labels : expected.label) all.insert(all.end(), labels.begin(), labels.end());
  CHECK(label == all);
  CHECK(distance == expected.neighbors.distance);
  CHECK(row == expected.neighbors.row);
}

TEST_CASE("c: a classifier grows, says its classes, and hands out its rows") {
  const Labelled data;
  const OpenDevice on = opened();
  const Voter small = data.voter(on.get(), true);
  const kith_rows more = rows_of(data.queries);
  const std::int64_t m = data.queries.rows;
  const std::vector<std::int64_t> labels(size(2 * m), 77);
  const std::vector<float> weights(size(m), 9);
  const Voter voter = made<Voter>([&](kith_classifier** out) {
    return kith_classifier_with(small.get(), &more, labels.data(), weights.data(), nullptr, out);
  });
  const Classifier beside =
      data.beside(true).with(data.queries, MatrixView<const std::int64_t>(labels.data(), m, 2), weights);
  std::vector<std::int64_t> label(size(2 * m));
  CHECK(told(kith_classifier_predict(voter.get(), &more, k, nullptr, nullptr, label.data())) == "ok");
  CHECK(label == beside.predict(data.queries, k));
  for (const std::int64_t output : {0, 1}) {
    const std::int64_t* found = nullptr;
    const std::uint32_t* codes = nullptr;
    std::int64_t count = 0;
    CHECK(told(kith_classifier_classes(voter.get(), output, &found, &count, &codes)) == "ok");
    CHECK(std::vector<std::int64_t>(found, found + count) == beside.classes(output));
    CHECK(std::vector<std::uint32_t>(codes, codes + n + m) == beside.codes(output));
  }
  kith_classifier_info info = KITH_INIT(kith_classifier_info);
  CHECK(told(kith_classifier_describe(voter.get(), &info)) == "ok");
  CHECK(info.outputs == 2);
  CHECK(std::vector<float>(info.sample_weights, info.sample_weights + n + m) == beside.sample_weights());
  const Rows index = made<Rows>([&](kith_index** out) { return kith_classifier_index(voter.get(), out); });
  std::vector<std::int64_t> row(size(m * k));
  CHECK(told(kith_index_search(index.get(), &more, k, nullptr, nullptr, row.data())) == "ok");
  CHECK(row == beside.kneighbors(data.queries, k).row);
}

TEST_CASE("c: a regressor") {
  const Labelled data;
  const OpenDevice on = opened();
  const kith_rows train = rows_of(data.train), rows = rows_of(data.queries);
  const std::int64_t m = data.queries.rows;
  kith_index_options options = KITH_INIT(kith_index_options);
  options.metric = "l1";
  const Averager averager = made<Averager>([&](kith_regressor** out) {
    return kith_regressor_new(on.get(), &train, data.values.data(), 1, data.weights.data(), &options, out);
  });
  const Regressor beside(device(), data.train, data.values, Metric::l1, {}, data.weights);
  kith_vote_options vote = KITH_INIT(kith_vote_options);
  vote.weights = "distance";
  VotingOptions voting{.weights = Weights::distance};
  const Regression expected = beside.regress(data.queries, k, voting);
  std::vector<double> value(size(m));
  std::vector<float> distance(size(m * k));
  std::vector<std::int64_t> row(size(m * k));
  CHECK(told(kith_regressor_predict(averager.get(), &rows, k, &vote, nullptr, value.data(), distance.data(),
                                    row.data())) == "ok");
  CHECK(bits(value) == bits(expected.value));
  CHECK(distance == expected.neighbors.distance);
  CHECK(row == expected.neighbors.row);
  const float radius = 1.5f;
  kith_within* lists = nullptr;
  CHECK(told(kith_regressor_predict_within(averager.get(), &rows, &radius, 1, &vote, nullptr, value.data(),
                                           &lists)) == "ok");
  const Within within(lists);
  const RadiusRegression around = beside.regress_within(data.queries, {&radius, 1}, voting);
  CHECK(bits(value) == bits(around.value));
  CHECK(lists_of(lists) == around.neighbors);
  kith_regressor_info info = KITH_INIT(kith_regressor_info);
  CHECK(told(kith_regressor_describe(averager.get(), &info)) == "ok");
  CHECK(info.outputs == 1);
  CHECK(std::vector<double>(info.values, info.values + n) == data.values);
  CHECK(std::vector<float>(info.sample_weights, info.sample_weights + n) == data.weights);
  const Rows index = made<Rows>([&](kith_index** out) { return kith_regressor_index(averager.get(), out); });
  CHECK(told(kith_index_search(index.get(), &rows, k, nullptr, nullptr, row.data())) == "ok");
  CHECK(row == expected.neighbors.row);
}

/// Converts an evaluation of C to that of C++.
Evaluation evaluation_of(const kith_evaluation* evaluation) {
  kith_evaluation_info info = KITH_INIT(kith_evaluation_info);
  REQUIRE(told(kith_evaluation_describe(evaluation, &info)) == "ok");
  Evaluation found;
  found.rows = info.rows;
  found.k_max = info.k_max;
  found.classes.assign(info.classes, info.classes + info.class_count);
  found.correct.assign(info.correct, info.correct + info.k_max);
  found.confusion.assign(info.confusion,
                         info.confusion + info.k_max * info.class_count * (info.class_count + 1));
  CHECK(info.best_k == found.best_k());
  return found;
}

TEST_CASE("c: evaluations") {
  const Labelled data;
  const OpenDevice on = opened();
  const kith_rows train = rows_of(data.train), rows = rows_of(data.queries);
  const Voter voter = data.voter(on.get(), false);
  const Classifier beside = data.beside(false);
  std::vector<std::int64_t> truth(size(data.queries.rows), -5), fold(size(n));
  truth[1] = 1234;  // a label that no training row has
  const Evaluated queried = made<Evaluated>([&](kith_evaluation** out) {
    return kith_evaluate(voter.get(), &rows, truth.data(), k, nullptr, nullptr, out);
  });
  const Evaluation expected = evaluate(beside, data.queries, truth, k);
  CHECK(evaluation_of(queried.get()) == expected);
  const Evaluated left_out = made<Evaluated>([&](kith_evaluation** out) {
    return kith_leave_one_out(voter.get(), &train, k, nullptr, nullptr, out);
  });
  CHECK(evaluation_of(left_out.get()) == leave_one_out(beside, data.train, k));
  CHECK(told(kith_stratified_folds(data.first.data(), n, 5, 42, fold.data())) == "ok");
  CHECK(fold == stratified_folds(data.first, 5, 42));
  const Evaluated crossed = made<Evaluated>([&](kith_evaluation** out) {
    return kith_cross_validate(voter.get(), &train, fold.data(), k, nullptr, nullptr, out);
  });
  CHECK(evaluation_of(crossed.get()) == cross_validate(beside, data.train, fold, k));
  const std::size_t count = expected.classes.size();
  std::vector<double> precision(count), recall(count), f1(count);
  std::vector<std::int64_t> support(count);
  CHECK(told(kith_evaluation_scores(queried.get(), 3, precision.data(), recall.data(), f1.data(),
                                    support.data())) == "ok");
  const std::vector<ClassScore> scores = expected.scores(3);
  for (std::size_t c = 0; c < count; ++c) {
    CHECK(precision[c] == scores[c].precision);
    CHECK(recall[c] == scores[c].recall);
    CHECK(f1[c] == scores[c].f1);
    CHECK(support[c] == scores[c].support);
  }
  CHECK(told(kith_evaluation_scores(queried.get(), 3, nullptr, nullptr, nullptr, nullptr)) == "ok");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_vote
