// Tests votes of all rows within a radius: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"

namespace kith::tests::test_radius_votes {
namespace {

using Labels = std::vector<std::int64_t>;

/// Returns query q of what a radius search found, as lists of one query.
Neighbors list_within(const RadiusNeighbors& found, std::int64_t q) {
  const auto first = found.first[size(q)], last = found.first[size(q + 1)];
  return {1,
          found.count(q),
          {found.distance.begin() + first, found.distance.begin() + last},
          {found.row.begin() + first, found.row.begin() + last}};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("radius votes: every row within votes, and none gives no label") {
  const Matrix train = matrix(1, {0, 1, 2, 10, 11});
  const Classifier classifier(device(), train, Labels{7, 7, 3, 3, 3}, Metric::l1);
  const RadiusClassification found =
      classifier.classify_within(matrix(1, {1, 10, 5, 1.5f}), std::vector{1.0f}, {.no_label = -9});
  CHECK(found.label == Labels{7, 3, -9, 3});
  CHECK(found.votes == std::vector<std::uint32_t>{1, 2, /**/ 2, 0, /**/ 0, 0, /**/ 1, 1});
  CHECK(found.scores.empty());
  CHECK(found.neighbors.first == std::vector<std::int64_t>{0, 3, 5, 5, 7});
  CHECK(found.neighbors.row == std::vector<std::int64_t>{1, 0, 2, 3, 4, 1, 2});
  CHECK(classifier.classify_within(matrix(1, {5}), std::vector{1.0f}).label == Labels{default_no_label});
  CHECK(classifier.classify_within(matrix(1, {1.5f}), std::vector{1.0f}, {.tie = TieRule::nearest}).label ==
        Labels{7});
  const RadiusClassification none = classifier.classify_within(Matrix{0, 1, {}}, std::vector{1.0f});
  CHECK(none.label.empty());
  CHECK(none.votes.empty());
}

TEST_CASE("radius votes: ranks count within the radius, each query has its own") {
  const Matrix train = matrix(1, {1, 2, 3});
  const Classifier classifier(device(), train, Labels{5, 6, 6}, Metric::l1);
  const VotingOptions by_rank{.weights = Weights::rank, .rank_weights = {4, 2, 1}};
  const RadiusClassification found =
      classifier.classify_within(matrix(1, {0, 4}), std::vector{3.0f, 2.0f}, by_rank);
  CHECK(found.label == Labels{5, 6});
  CHECK(bits(found.scores) == bits(std::vector<float>{4, 3, /**/ 0, 6}));
}

TEST_CASE("radius votes: a query knows nothing of the query before it") {
  const Classifier classifier(device(), matrix(1, {1, 2, 9}), Labels{10, 20, 15}, Metric::l1);
  const VotingOptions voting{.tie = TieRule::fewer_neighbors, .costs = {9, 2, 2, /**/ 4, 3, 0, /**/ 9, 2, 2}};
  // 20 and 15 vote for the answer 20; with 10 and 20 the answers 15 and 20 cost the same, with 10 alone, too
  CHECK(classifier.classify_within(matrix(1, {9, 0}), std::vector{7.0f, 2.0f}, voting).label ==
        Labels{20, 15});
}

TEST_CASE("radius votes: every way to vote, where ties are everywhere") {
  const std::int64_t n = 80, m = 19;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 2, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 2, Metric::l1);
  const Labels labels = workloads::make_labels(5, n, 4);
  const std::vector<float> radii{Classifier(device(), train, labels, Metric::l1)
                                     .kneighbors(queries.view().slice(0, 1), 12)
                                     .distance.back()};
  std::vector<float> samples;
  for (std::int64_t t = 0; t < n; ++t) samples.push_back(0.5f * static_cast<float>(t % 4));
  for (const std::vector<float>& weights : {std::vector<float>{}, samples}) {
    const Classifier classifier(device(), train, labels, Metric::l1, {}, weights);
    for (const VotingOptions& voting : ways_to_vote(size(n), classifier.classes().size())) {
      CAPTURE_ALL(text_of(voting), weights.size());
      const VoteOracle oracle(voting, labels);
      const RadiusClassification found = classifier.classify_within(queries, radii, voting);
      Labels expected;
      std::vector<std::uint32_t> votes;
      std::vector<float> scores;
      for (std::int64_t q = 0; q < m; ++q) {
        const auto list =
            list_of(list_within(found.neighbors, q), 0, found.neighbors.count(q), labels, weights);
        expected.push_back(oracle.label(list));
        for (const std::uint32_t count : oracle.votes(list)) votes.push_back(count);
        for (const float score : oracle.scores(list)) scores.push_back(score);
      }
      if (voting.weights == Weights::uniform && weights.empty()) scores.clear();
      CHECK(found.label == expected);
      CHECK(difference(found.votes, votes) == "");
      CHECK(difference(found.scores, scores) == "");
    }
  }
}

TEST_CASE("radius votes: the host counts within a radius what the device counts among the nearest") {
  const std::int64_t n = 300, m = 21;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, 3, Metric::l2);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 3, Metric::l2);
  const Labels labels = workloads::make_labels(6, n, 9);
  std::vector<float> samples;
  workloads::Random random(4);
  for (std::int64_t t = 0; t < n; ++t) samples.push_back(static_cast<float>(random.below(1u << 20)) / 99991);
  const Classifier classifier(device(), train, labels, Metric::l2, {}, samples);
  VotingOptions by_rank{.weights = Weights::rank};
  for (std::int64_t j = 0; j < n; ++j) by_rank.rank_weights.push_back(1.0f / static_cast<float>(j + 1));
  for (const VotingOptions& voting : {VotingOptions{}, {.weights = Weights::distance}, by_rank}) {
    CAPTURE(std::string(name(voting.weights)));
    const RadiusClassification host = classifier.classify_within(queries, std::vector{inf}, voting);
    const Classification here = classifier.classify(queries, n, voting);
    CHECK(host.neighbors.row == here.neighbors.row);
    CHECK(host.label == here.label);
    CHECK(difference(host.votes, here.votes) == "");
    CHECK(difference(host.scores, here.scores) == "");
  }
}

TEST_CASE("radius votes: rows that a filter leaves out have no vote") {
  const Matrix train = matrix(1, {1, 2, 3});
  const Classifier classifier(device(), train, Labels{5, 6, 6}, Metric::l1);
  const RowFilter filter = RowFilter::only(3, std::vector<std::int64_t>{0, 2});
  const RadiusClassification found =
      classifier.classify_within(train, std::vector{1.0f}, {}, {.filter = filter});
  CHECK(found.label == Labels{5, 5, 6});
  CHECK(found.votes == std::vector<std::uint32_t>{1, 0, /**/ 1, 1, /**/ 0, 1});
  const RadiusClassification others = classifier.classify_within(train, std::vector{1.0f}, {}, {.self = 0});
  CHECK(others.label == Labels{6, 5, 6});
}

TEST_CASE("radius votes: refuses what no vote could weigh") {
  const Matrix train = matrix(1, {1, 2, 3});
  const Classifier classifier(device(), train, Labels{5, 6, 6}, Metric::l1);
  const auto refusal = [&](const Matrix& queries, const VotingOptions& voting) {
    return error_of([&] { classifier.classify_within(queries, std::vector{1.0f}, voting); });
  };
  const VotingOptions two_ranks{.weights = Weights::rank, .rank_weights = {1, 1}};
  CHECK(refusal(matrix(1, {1}), two_ranks) == "nothing was thrown");
  CHECK(refusal(matrix(1, {1, 2}), two_ranks) ==
        "invalid_argument: classify_within: 2 rank weights for lists of 3 neighbours; give one a rank");
  CHECK(refusal(matrix(1, {1}), {.priors = {1}}) ==
        "invalid_argument: classify_within: 1 priors for 2 classes; give one a class, in the order of "
        "classes()");
  CHECK(error_of([&] {
          Classifier(device(), train, Labels{5, 6, 6}, Metric::negative_dot)
              .classify_within(train, std::vector{1.0f}, {.weights = Weights::distance});
        }) ==
        "unsupported: classify_within: a vote cannot weigh 1 / distance where the metric is negative_dot, "
        "whose distances may be negative; choose other weights or another metric");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_radius_votes
