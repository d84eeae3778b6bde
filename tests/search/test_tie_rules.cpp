// Tests which class wins with priors, costs and ties: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/parse.hpp"

namespace kith::tests::test_tie_rules {
namespace {

using Labels = std::vector<std::int64_t>;

/// Returns the answer for the query 0, whose neighbours lie at 1, 2, 3, ... and have these labels.
std::int64_t answer(const Labels& labels, const VotingOptions& voting) {
  Matrix train{0, 1, {}};
  for (std::size_t t = 0; t < labels.size(); ++t) train.values.push_back(static_cast<float>(t + 1));
  train.rows = static_cast<std::int64_t>(labels.size());
  return Classifier(device(), train, labels, Metric::l1).predict(matrix(1, {0}), train.rows, voting)[0];
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tie rules: each breaks the same tie in its own way") {
  const Labels labels{5, 3, 3, 5, 4};  // 5 at 1 and 4, 3 at 2 and 3, 4 at 5
  CHECK(answer(labels, {}) == 3);
  CHECK(answer(labels, {.tie = TieRule::nearest}) == 5);
  // both sums are 5, so the smaller label wins
  CHECK(answer(labels, {.tie = TieRule::smallest_distance}) == 3);
  CHECK(answer(labels, {.tie = TieRule::fewer_neighbors}) == 3);  // two of 3 neighbours
  CHECK(answer(labels, {.tie = TieRule::abstain}) == default_no_label);
  CHECK(answer(labels, {.tie = TieRule::abstain, .no_label = -1}) == -1);
  CHECK(answer({5, 3, 5, 3}, {.tie = TieRule::smallest_distance}) == 5);  // 4 and 6
  CHECK(answer({5, 3, 5, 3}, {.tie = TieRule::fewer_neighbors}) == 5);
  CHECK(answer({4, 9, 5, 3}, {.tie = TieRule::nearest}) == 4);
  CHECK(answer({9, 4, 5, 3}, {.tie = TieRule::fewer_neighbors}) == 9);  // only one neighbour is left
}

TEST_CASE("tie rules: a class that leads alone wins by every rule") {
  for (const TieRule tie : {TieRule::smallest_label, TieRule::nearest, TieRule::smallest_distance,
                            TieRule::fewer_neighbors, TieRule::abstain})
    CHECK(answer({1, 8, 8}, {.tie = tie}) == 8);
}

TEST_CASE("tie rules: a neighbour whose vote weighs 0 breaks no tie") {
  const std::vector<float> ranks{0, 1, 1, 1, 1};
  const Labels labels{5, 3, 5, 5, 3};  // two votes each; the first 5 has none
  CHECK(answer(labels, {.weights = Weights::rank, .tie = TieRule::nearest, .rank_weights = ranks}) == 3);
  const VotingOptions sums{
      .weights = Weights::rank, .tie = TieRule::smallest_distance, .rank_weights = ranks};
  CHECK(answer(labels, sums) == 3);           // 7 and 7
  CHECK(answer({3, 5, 3, 3, 5}, sums) == 3);  // 7 and 7; counting the first too it would be 8 and 7
  CHECK(answer({3, 5, 3, 5, 3}, sums) == 5);  // 8 and 6
}

TEST_CASE("tie rules: priors multiply scores, and may make ties") {
  const Labels labels{2, 2, 1};
  CHECK(answer(labels, {.priors = {3, 1}}) == 1);
  CHECK(answer(labels, {.priors = {2, 1}}) == 1);  // 2 each
  CHECK(answer(labels, {.tie = TieRule::nearest, .priors = {2, 1}}) == 2);
  CHECK(answer(labels, {.priors = {1e-100, 1e100}}) == 2);
  CHECK(answer(labels, {.priors = {1e100, 1e-100}}) == 1);
}

TEST_CASE("tie rules: costs decide by what an answer is expected to cost") {
  const Labels labels{2, 2, 1};  // classes 1, 2: scores 1, 2
  CHECK(answer(labels, {.costs = {0, 1, 1, 0}}) == 2);
  CHECK(answer(labels, {.costs = {0, 3, 1, 0}}) == 1);  // answering 2 costs 3, answering 1 costs 2
  CHECK(answer(labels, {.costs = {0, 2, 1, 0}}) == 1);  // 2 each
  CHECK(answer(labels, {.tie = TieRule::nearest, .costs = {0, 2, 1, 0}}) == 2);
  CHECK(answer(labels, {.tie = TieRule::abstain, .costs = {0, 2, 1, 0}}) == default_no_label);
  CHECK(answer(labels, {.priors = {2, 1}, .costs = {0, 2, 1, 0}}) == 1);  // 4 for the answer 2, 2 for 1
}

TEST_CASE("tie rules: with costs a class without a neighbour may be the answer, and stands behind in ties") {
  const Matrix train = matrix(1, {1, 2, 9});
  const Classifier classifier(device(), train, Labels{10, 20, 15}, Metric::l1);
  const auto ask = [&](const VotingOptions& voting) {
    return classifier.predict(matrix(1, {0}), 2, voting)[0];
  };
  const std::vector<double> careful{0, 1, 4, /**/ 4, 0, 4, /**/ 4, 1, 0};  // 15 is never far off
  CHECK(ask({.costs = careful}) == 15);
  const std::vector<double> tied{0, 2, 4, /**/ 4, 0, 4, /**/ 4, 2, 0};  // 4 for each answer
  CHECK(ask({.costs = tied}) == 10);
  CHECK(ask({.tie = TieRule::nearest, .costs = tied}) == 10);
  CHECK(ask({.tie = TieRule::smallest_distance, .costs = tied}) == 10);
  CHECK(ask({.tie = TieRule::fewer_neighbors, .costs = tied}) == 10);
  const std::vector<double> of_two{9, 2, 2, /**/ 4, 0, 4, /**/ 9, 2, 2};  // 15 and 20 cost 4
  CHECK(ask({.costs = of_two}) == 15);
  CHECK(ask({.tie = TieRule::nearest, .costs = of_two}) == 20);
  CHECK(ask({.tie = TieRule::smallest_distance, .costs = of_two}) == 20);
  // also for one neighbour both cost the same
  CHECK(ask({.tie = TieRule::fewer_neighbors, .costs = of_two}) == 15);
}

TEST_CASE("tie rules: every way to vote, where ties are everywhere, for several k at once") {
  const std::int64_t n = 90, m = 23;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 2, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 2, Metric::l1);
  Labels labels = workloads::make_labels(5, n, 5);
  for (std::int64_t& label : labels) label = 3 * label - 4;
  std::vector<float> sample_weights;
  workloads::Random random(9);
  for (std::int64_t t = 0; t < n; ++t) sample_weights.push_back(0.5f * static_cast<float>(random.below(4)));
  const std::vector<std::int64_t> ks{2, 17, 6};
  for (const std::vector<float>& weights : {std::vector<float>{}, sample_weights}) {
    const Classifier classifier(device(), train, labels, Metric::l1, {}, weights);
    for (const VotingOptions& voting : ways_to_vote(17, classifier.classes().size())) {
      CAPTURE_ALL(text_of(voting), weights.size());
      const VoteOracle oracle(voting, labels);
      const Sweep sweep = classifier.sweep(queries, ks, voting, {.query_tile = 9});
      for (std::size_t i = 0; i < ks.size(); ++i) {
        Labels expected;
        for (std::size_t q = 0; q < size(m); ++q)
          expected.push_back(oracle.label(list_of(sweep.neighbors, q, ks[i], labels, weights)));
        CHECK(sweep.label[i] == expected);
      }
    }
  }
}

TEST_CASE("tie rules: refuses priors and costs that do not fit") {
  const Matrix train = matrix(1, {1, 2, 3});
  const Classifier classifier(device(), train, Labels{1, 2, 2});
  const auto refusal = [&](const VotingOptions& voting) {
    return error_of([&] { classifier.predict(train, 1, voting); });
  };
  CHECK(refusal({.priors = {1, 2, 3}}) ==
        "invalid_argument: classify: 3 priors for 2 classes; give one a class, in the order of classes()");
  CHECK(refusal({.priors = {1, 0}}) ==
        "invalid_argument: classify: the prior of class 1 is 0; priors lie between 1e-100 and 1e+100");
  CHECK(refusal({.priors = {-2, 1}}) ==
        "invalid_argument: classify: the prior of class 0 is -2; priors lie between 1e-100 and 1e+100");
  CHECK(refusal({.priors = {1, 1e101}}) ==
        "invalid_argument: classify: the prior of class 1 is 1e+101; priors lie between 1e-100 and 1e+100");
  CHECK(refusal({.costs = {1, 2, 3}}) ==
        "invalid_argument: classify: 3 costs for 2 classes; give one a pair, [2, 2]");
  CHECK(refusal({.costs = {0, 1, -1, 0}}) ==
        "invalid_argument: classify: the cost of answering class 0 where class 1 is right is -1; costs are "
        "0, or lie between 1e-100 and 1e+100");
  CHECK(error_of([&] { classifier.sweep(train, std::vector<std::int64_t>{1}, {.priors = {1}}, {}); }) ==
        "invalid_argument: sweep: 1 priors for 2 classes; give one a class, in the order of classes()");
}

TEST_SUITE_END();

TEST_CASE("tie rules: names and back") {
  for (const char* text : {"smallest_label", "nearest", "smallest_distance", "fewer_neighbors", "abstain"})
    CHECK(name(parse<TieRule>(text)) == text);
  CHECK(parse<TieRule>("abstain") == TieRule::abstain);
  CHECK(error_of([] { parse<TieRule>("coin"); }) ==
        "invalid_argument: tie rule: there is none called \"coin\"; choose one of smallest_label, nearest, "
        "smallest_distance, fewer_neighbors, abstain");
}

}  // namespace
}  // namespace kith::tests::test_tie_rules
