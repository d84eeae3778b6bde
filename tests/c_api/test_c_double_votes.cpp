// kith.h: votes and means in double precision are those of kith.hpp.
#include "c_api/c_doubles.hpp"
#include "kith/classifier.hpp"
#include "kith/regressor.hpp"

namespace kith::tests::test_c_double_votes {
namespace {

using namespace c;

constexpr std::int64_t n = 80, m = 9, k = 5, classes = 3;

struct Labelled {
  std::mt19937 random{7};
  DoubleMatrix train = double_rows(DoubleData::map, n, 2, random),
               queries = double_rows(DoubleData::map, m, 2, random);
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  OpenDevice on = opened();
  kith_rows rows = rows_of(train), asked = rows_of(queries);
  kith_vote_options vote = KITH_INIT(kith_vote_options);
  VotingOptions voting{.weights = Weights::distance};
  Voter voter;
  Averager averager;

  Labelled() {
    for (std::int64_t t = 0; t < n; ++t) {
      labels.push_back(t % classes + 4);
      values.push_back(static_cast<double>(random() % 1000) / 7);
    }
    vote.weights = "distance";
    voter = made<Voter>([&](kith_classifier** out) {
      return kith_classifier_new(on.get(), &rows, labels.data(), 1, nullptr, nullptr, out);
    });
    averager = made<Averager>([&](kith_regressor** out) {
      return kith_regressor_new(on.get(), &rows, values.data(), 1, nullptr, nullptr, out);
    });
  }
  Classifier beside() const {
    return {device(), train, MatrixView<const std::int64_t>(labels.data(), n, 1), Metric::l2};
  }
  Regressor means_beside() const {
    return {device(), train, MatrixView<const double>(values.data(), n, 1), Metric::l2};
  }
};

/// Room for an answer, and the struct that points to it.
struct Answer {
  std::vector<std::int64_t> label = std::vector<std::int64_t>(m), row = std::vector<std::int64_t>(m * k);
  std::vector<std::uint32_t> votes = std::vector<std::uint32_t>(m * classes);
  std::vector<double> scores = std::vector<double>(m * classes), share = scores,
                      distance = std::vector<double>(m * k);
  kith_classification places = KITH_INIT(kith_classification);

  Answer() {
    places.label = label.data();
    places.votes = votes.data();
    places.scores64 = scores.data();
    places.share = share.data();
    places.distance64 = distance.data();
    places.row = row.data();
  }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("c: doubles: labels, scores and shares by the k nearest, and several k") {
  const Labelled given;
  const Classification right = given.beside().classify(given.queries, k, given.voting);
  Answer answer;
  kith_classification* const to[] = {&answer.places};
  REQUIRE(told(kith_classifier_classify(given.voter.get(), &given.asked, k, &given.vote, nullptr, 1, to)) ==
          "ok");
  CHECK(answer.label == right.label);
  CHECK(answer.votes == right.votes);
  CHECK(answer.scores == right.scores64);
  CHECK(answer.distance == right.neighbors.distance64);
  CHECK(answer.row == right.neighbors.row);
  CHECK(answer.share == given.beside().predict_proba(given.queries, k, given.voting));
  REQUIRE(told(kith_classifier_classify(given.voter.get(), &given.asked, k, nullptr, nullptr, 1, to)) ==
          "ok");
  CHECK(answer.scores == std::vector<double>(answer.votes.begin(), answer.votes.end()));
  const std::int64_t ks[] = {1, k};
  std::vector<std::int64_t> label(2 * m);
  std::vector<double> distance(m * k);
  REQUIRE(told(kith_classifier_sweep_f64(given.voter.get(), &given.asked, ks, 2, &given.vote, nullptr,
                                         label.data(), distance.data(), nullptr)) == "ok");
  CHECK(std::vector<std::int64_t>(label.begin() + m, label.end()) == right.label);
  CHECK(distance == right.neighbors.distance64);
}

TEST_CASE("c: doubles: votes and means within radii") {
  const Labelled given;
  const double radius = 80;
  const std::span<const double> radii(&radius, 1);
  const RadiusClassification right = given.beside().classify_within(given.queries, radii, given.voting);
  Answer answer;
  answer.places.distance64 = nullptr;
  kith_within* found = nullptr;
  REQUIRE(told(kith_classifier_classify_within_f64(given.voter.get(), &given.asked, &radius, 1, &given.vote,
                                                   nullptr, &answer.places, &found)) == "ok");
  const Within lists(found);
  CHECK(answer.label == right.label);
  CHECK(answer.scores == right.scores64);
  CHECK(doubles_of(found) == right.neighbors);
  std::vector<double> mean(m);
  REQUIRE(told(kith_regressor_predict_within_f64(given.averager.get(), &given.asked, &radius, 1, &given.vote,
                                                 nullptr, mean.data(), nullptr)) == "ok");
  const RadiusRegression means = given.means_beside().regress_within(given.queries, radii, given.voting);
  REQUIRE(mean.size() == means.value.size());
  CHECK(std::memcmp(mean.data(), means.value.data(), mean.size() * 8) == 0);  // a NaN, too
}

TEST_CASE("c: doubles: means of the k nearest") {
  const Labelled given;
  const Regression right = given.means_beside().regress(given.queries, k, given.voting);
  std::vector<double> mean(m), distance(m * k);
  std::vector<std::int64_t> row(m * k);
  REQUIRE(told(kith_regressor_predict_f64(given.averager.get(), &given.asked, k, &given.vote, nullptr,
                                          mean.data(), distance.data(), row.data())) == "ok");
  CHECK(mean == right.value);
  CHECK(distance == right.neighbors.distance64);
  CHECK(row == right.neighbors.row);
  REQUIRE(told(kith_regressor_predict(given.averager.get(), &given.asked, k, &given.vote, nullptr,
                                      mean.data(), nullptr, nullptr)) == "ok");
  CHECK(mean == right.value);
}

TEST_CASE("c: doubles: arrays and radii of the other width are refused by votes and means") {
  const Labelled given;
  Answer answer;
  float floats[m * k];
  const float radius = 1;
  double mean[m];
  const std::string why = ": the index computes in double precision, and its distances are doubles; call ";
  answer.places.scores = floats;
  kith_classification* const to[] = {&answer.places};
  CHECK(
      told(kith_classifier_classify(given.voter.get(), &given.asked, k, nullptr, nullptr, 1, to)) ==
      "2: kith_classifier_classify: the rows are in double precision; give kith_classification.scores64 and "
      "distance64");
  CHECK(told(kith_classifier_classify_within(given.voter.get(), &given.asked, &radius, 1, nullptr, nullptr,
                                             &answer.places, nullptr)) ==
        "2: kith_classifier_classify_within" + why + "kith_classifier_classify_within_f64()");
  const std::int64_t ks[] = {1};
  CHECK(told(kith_classifier_sweep(given.voter.get(), &given.asked, ks, 1, nullptr, nullptr,
                                   answer.label.data(), floats, nullptr)) ==
        "2: kith_classifier_sweep" + why + "kith_classifier_sweep_f64()");
  CHECK(told(kith_regressor_predict(given.averager.get(), &given.asked, k, nullptr, nullptr, mean, floats,
                                    nullptr)) ==
        "2: kith_regressor_predict" + why + "kith_regressor_predict_f64()");
  CHECK(told(kith_regressor_predict_within(given.averager.get(), &given.asked, &radius, 1, nullptr, nullptr,
                                           mean, nullptr)) ==
        "2: kith_regressor_predict_within" + why + "kith_regressor_predict_within_f64()");
  const Scene singles;
  kith_classification* const single[] = {&answer.places};
  answer.places.scores = nullptr;
  CHECK(told(kith_classifier_classify(singles.voter.get(), &singles.rows, 1, nullptr, nullptr, 1, single)) ==
        "2: kith_classifier_classify: the rows are in single precision; give kith_classification.scores and "
        "distance");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_double_votes
