// Tests weights of votes, and scores: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/parse.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;

/// Classifies one query with all rows of `train` as neighbours.
Classification by_all(const Matrix& train, const Labels& labels, Metric metric, const Matrix& query,
                      const VotingOptions& voting, const std::vector<float>& sample_weights = {}) {
  return Classifier(device(), train, labels, metric, {}, sample_weights).classify(query, train.rows, voting);
}

const VotingOptions by_distance{.weights = Weights::distance};

TEST_SUITE_BEGIN("device");

TEST_CASE("weights: 1 / distance, the neighbour's finished one") {
  const Matrix train = matrix(1, {2, 4, 8, -8});
  const Labels labels{1, 2, 2, 2};
  const Classification l1 = by_all(train, labels, Metric::l1, matrix(1, {0}), by_distance);
  CHECK(bits(l1.scores) == bits(std::vector<float>{0.5f, 0.5f}));
  CHECK(l1.votes == std::vector<std::uint32_t>{1, 3});
  CHECK(l1.label == Labels{1});
  const Classification l2 = by_all(matrix(1, {3, 5}), {1, 2}, Metric::l2, matrix(1, {0}), by_distance);
  CHECK(bits(l2.scores) == bits(std::vector<float>{1.0f / 3, 1.0f / 5}));
  const Classification squared =
      by_all(matrix(1, {3, 5}), {1, 2}, Metric::squared_l2, matrix(1, {0}), by_distance);
  CHECK(bits(squared.scores) == bits(std::vector<float>{1.0f / 9, 1.0f / 25}));
}

TEST_CASE("weights: where distances are 0, those neighbours alone have votes") {
  const Matrix train = matrix(1, {7, 7, 7.5f, 6.5f, 6.75f});
  const Labels labels{3, 2, 1, 1, 1};
  const Classification found = by_all(train, labels, Metric::l1, matrix(1, {7}), by_distance);
  CHECK(found.label == Labels{2});
  CHECK(found.votes == std::vector<std::uint32_t>{3, 1, 1});
  CHECK(bits(found.scores) == bits(std::vector<float>{0, 1, 1}));
  CHECK(by_all(train, labels, Metric::l1, matrix(1, {-7}), by_distance).label == Labels{1});
}

TEST_CASE("weights: by cosine a row is at 0 from itself and from its multiples, which alone have votes") {
  Matrix rows = hard_rows(DataKind::normal, Set::train, 40, 5, Metric::cosine);
  Labels labels;
  for (std::int64_t t = 0; t < rows.rows; ++t) labels.push_back(t);
  const Classifier classifier(device(), rows, labels, Metric::cosine);
  for (float& value : rows.values) value *= 4;
  const Classification found = classifier.classify(rows, 3, by_distance);
  for (std::int64_t q = 0; q < rows.rows; ++q) {
    CHECK(found.neighbors.distance[size(3 * q)] == 0);
    CHECK(found.label[size(q)] == q);
    CHECK(found.scores[size(q * rows.rows + q)] == 1);
  }
}

TEST_CASE("weights: distances without measure") {
  const Matrix far = matrix(1, {1e30f, 2, -1e30f});
  const Classification one = by_all(far, {1, 2, 1}, Metric::squared_l2, matrix(1, {0}), by_distance);
  CHECK(one.label == Labels{2});  // the two neighbours at +infinity weigh nothing
  CHECK(one.votes == std::vector<std::uint32_t>{2, 1});
  CHECK(bits(one.scores) == bits(std::vector<float>{0, 0.25f}));
  const Classifier lost(device(), matrix(1, {1e30f, -1e30f}), Labels{1, 2});
  CHECK(lost.classify(matrix(1, {0}), 2, by_distance).label == Labels{default_no_label});
  CHECK(lost.predict_proba(matrix(1, {0}), 2, by_distance) == std::vector<double>{0, 0});
  const Classification near = by_all(matrix(1, {1e-22f, -1e-22f, 2e-22f}), {1, 1, 2}, Metric::squared_l2,
                                     matrix(1, {0}), by_distance);
  CHECK(near.neighbors.distance[0] > 0);
  CHECK(near.neighbors.distance[0] < flt_min);
  CHECK(bits(near.scores) == bits(std::vector<float>{0x1p96f, 0x1p95f}));
}

TEST_CASE("weights: the caller's, for each rank") {
  const Matrix train = matrix(1, {1, 2, 3});
  const VotingOptions voting{.weights = Weights::rank, .rank_weights = {0.25f, 3, 0.5f, 99}};
  const Classification found = by_all(train, {5, 6, 5}, Metric::l1, matrix(1, {0}), voting);
  CHECK(found.label == Labels{6});
  CHECK(bits(found.scores) == bits(std::vector<float>{0.75f, 3}));
  const VotingOptions large{.weights = Weights::rank, .rank_weights = {flt_max, 0x1p96f, 1}};
  CHECK(bits(by_all(train, {5, 6, 5}, Metric::l1, matrix(1, {0}), large, {0.5f, 1, 0}).scores) ==
        bits(std::vector<float>{0x1p94f, 0x1p95f}));
  CHECK(bits(by_all(train, {5, 6, 5}, Metric::l1, matrix(1, {0}), large).scores) ==
        bits(std::vector<float>{0x1p95f, 0x1p95f}));
  const VotingOptions none{.weights = Weights::rank, .rank_weights = {0, 0, 0}, .no_label = 8};
  CHECK(by_all(train, {5, 6, 5}, Metric::l1, matrix(1, {0}), none).label == Labels{8});
}

TEST_CASE("weights: samples have weights of their own, by which the others are multiplied") {
  const Matrix train = matrix(1, {1, 2, 3});
  const Labels labels{5, 6, 6};
  const std::vector<float> samples{3, 1, 1};
  const Classification uniform = by_all(train, labels, Metric::l1, matrix(1, {0}), {}, samples);
  CHECK(uniform.label == Labels{5});
  CHECK(uniform.votes == std::vector<std::uint32_t>{1, 2});
  CHECK(bits(uniform.scores) == bits(std::vector<float>{3, 2}));
  const Classification distance = by_all(train, labels, Metric::l1, matrix(1, {0}), by_distance, samples);
  CHECK(bits(distance.scores) == bits(std::vector<float>{3, 0.5f + 1.0f / 3}));
  const Classification none = by_all(train, labels, Metric::l1, matrix(1, {0}), {}, {0, 0, 0});
  CHECK(none.label == Labels{default_no_label});
  CHECK(none.votes == std::vector<std::uint32_t>{1, 2});
  const Classification large =
      by_all(train, labels, Metric::l1, matrix(1, {0}), {}, {flt_max, 0x1p95f, denormal});
  CHECK(bits(large.scores) == bits(std::vector<float>{0x1p95f, 0x1p95f}));
  CHECK(large.label == Labels{5});
}

TEST_CASE("weights: sums go in order of rank, in single precision, and keep subnormals") {
  const Matrix train = matrix(1, {1, 2, 3, 4});
  const auto scores = [&](const std::vector<float>& ranks) {
    return by_all(train, {1, 1, 1, 2}, Metric::l1, matrix(1, {0}),
                  {.weights = Weights::rank, .rank_weights = ranks})
        .scores;
  };
  CHECK(bits(scores({0x1p24f, 1, 1, 0})) == bits(std::vector<float>{0x1p24f, 0}));
  CHECK(bits(scores({1, 1, 0x1p24f, 0})) == bits(std::vector<float>{0x1p24f + 2, 0}));
  CHECK(bits(scores({denormal, denormal, denormal, denormal})) ==
        bits(std::vector<float>{3 * denormal, denormal}));
}

TEST_CASE("weights: scores and shares that counting by hand gives, for every metric, whatever the tiles") {
  const std::int64_t n = 150, m = 17, k = 40;
  workloads::Random random(3);
  std::vector<float> sample_weights;
  for (std::int64_t t = 0; t < n; ++t)
    sample_weights.push_back(random.one_in(5) ? 0.0f : static_cast<float>(random.below(1000)) / 300);
  const Labels labels = workloads::make_labels(3, n, 7);
  VotingOptions by_rank{.weights = Weights::rank, .priors = {1, 0.3, 7, 0.1, 2, 5, 1.0 / 3}};
  for (std::int64_t j = 0; j < k; ++j) by_rank.rank_weights.push_back(1.0f / static_cast<float>(j + 3));
  VotingOptions uniform = by_rank;
  uniform.weights = Weights::uniform;
  uniform.rank_weights.clear();
  for (const Metric metric : number_metrics) {
    const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, 3, metric);
    const Matrix train = hard_rows(DataKind::normal, Set::train, n, 3, metric);
    for (const std::vector<float>& samples : {sample_weights, std::vector<float>{}}) {
      const Classifier classifier(device(), train, labels, metric, {}, samples);
      for (const VotingOptions& voting : {by_distance, by_rank, uniform}) {
        if (voting.weights == Weights::distance && metric == Metric::negative_dot) continue;
        CAPTURE_ALL(name(metric), name(voting.weights), samples.size());
        Trace trace;
        const SearchOptions options{.query_tile = 6, .train_tile = 64};
        const Classification found = classifier.classify(queries, k, voting, options, &trace);
        CHECK(difference(found.neighbors, neighbors(metric, queries, train, k)) == "");
        const VoteOracle oracle(voting, labels);
        std::vector<float> scores;
        std::vector<double> shares;
        Labels expected;
        for (std::size_t q = 0; q < size(m); ++q) {
          const auto list = list_of(found.neighbors, q, k, labels, samples);
          for (const float score : oracle.scores(list)) scores.push_back(score);
          for (const double share : oracle.shares(list)) shares.push_back(share);
          expected.push_back(oracle.label(list));
        }
        const bool all_one = voting.weights == Weights::uniform && samples.empty();
        CHECK(difference(found.scores, all_one ? std::vector<float>{} : scores) == "");
        CHECK(found.label == expected);
        CHECK(classifier.predict_proba(queries, k, voting, options) == shares);
        CHECK(trace.seconds.count("vote") == 0);
        CHECK(trace.seconds.count("decide") == 1);
      }
    }
  }
}

TEST_CASE("weights: refuses what no vote could weigh") {
  const Matrix train = matrix(1, {1, 2, 3});
  const Labels labels{1, 2, 2};
  const Classifier classifier(device(), train, labels);
  const auto refusal = [&](const VotingOptions& voting) {
    return error_of([&] { classifier.classify(train, 2, voting); });
  };
  CHECK(refusal({.weights = Weights::rank, .rank_weights = {1}}) ==
        "invalid_argument: classify: 1 rank weights for lists of 2 neighbours; give one a rank");
  CHECK(refusal({.weights = Weights::rank, .rank_weights = {1, -0.5f}}) ==
        "invalid_argument: classify: the weight of rank 1 is -0.5; weights are finite, and 0 or more");
  CHECK(refusal({.weights = Weights::rank, .rank_weights = {inf, 1}}) ==
        "invalid_argument: classify: the weight of rank 0 is inf; weights are finite, and 0 or more");
  CHECK(refusal({.weights = Weights::distance, .rank_weights = {1, 1}}) ==
        "invalid_argument: classify: there are 2 rank weights, but votes weigh by distance; choose weights "
        "by rank, or give none");
  CHECK(error_of([&] {
          Classifier(device(), train, labels, Metric::negative_dot).predict(train, 2, by_distance);
        }) ==
        "unsupported: classify: a vote cannot weigh 1 / distance where the metric is negative_dot, whose "
        "distances may be negative; choose other weights or another metric");
  const auto refused_samples = [&](const std::vector<float>& weights) {
    return error_of([&] { Classifier(device(), train, labels, Metric::l1, {}, weights); });
  };
  CHECK(refused_samples({1, 2}) ==
        "invalid_argument: classifier: 2 sample weights for 3 training rows; give one a row");
  CHECK(refused_samples({1, 2, -1}) ==
        "invalid_argument: classifier: the sample weight of training row 2 is -1; weights are finite, and 0 "
        "or more");
  CHECK(refused_samples({1, inf, 1}) ==
        "invalid_argument: classifier: the sample weight of training row 1 is inf; weights are finite, and 0 "
        "or more");
}

TEST_SUITE_END();

TEST_CASE("weights: names and back") {
  for (const char* text : {"uniform", "distance", "rank"}) CHECK(name(parse<Weights>(text)) == text);
  CHECK(parse<Weights>("rank") == Weights::rank);
  CHECK(error_of([] { parse<Weights>("gauss"); }) ==
        "invalid_argument: weights: there is none called \"gauss\"; choose one of uniform, distance, rank");
}

}  // namespace
}  // namespace kith::tests
