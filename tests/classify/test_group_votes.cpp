// Tests votes and averages by groups: those of a group are those of its rows alone (docs/contract.md,
// section 2).
#include <cmath>
#include <random>

#include "common/device.hpp"
#include "common/searches.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/regressor.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t voters = 4, voted_dims = 3;
const std::vector<std::int64_t> voting_groups{0, 9, 9, 12, 60, 61};

/// Rows with labels and values, and what each query of a group should get.
struct Grouped {
  Matrix rows = hard_rows(DataKind::grid, Set::train, voting_groups.back(), voted_dims, Metric::l2);
  Matrix queries = hard_rows(DataKind::grid, Set::queries, voting_groups.back(), voted_dims, Metric::l2);
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  IndexOptions options;

  Grouped() {
    std::mt19937 random(31);
    for (std::int64_t t = 0; t < rows.rows; ++t) {
      labels.push_back(random() % 3);
      values.push_back(static_cast<double>(random() % 1000) / 7);
    }
    options.groups = voting_groups;
  }
  Classifier classifier() const {
    return {device(), rows, MatrixView<const std::int64_t>(labels.data(), rows.rows, 1), Metric::l2, options};
  }
};

/// Calls body(first, count, k) for each group that has rows.
template <class Body>
void for_each_group(const Body& body) {
  for (std::size_t g = 0; g + 1 < voting_groups.size(); ++g) {
    const std::int64_t first = voting_groups[g], count = voting_groups[g + 1] - first;
    if (count > 0) body(first, count, std::min(voters, count));
  }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("groups: votes and averages are those of each group alone") {
  const Grouped all;
  const RowsView rows(all.rows), queries(all.queries);
  const Regressor regressor(device(), all.rows, {all.values.data(), rows.rows, 1}, Metric::l2, all.options);
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    CAPTURE_ALL(name(weights));
    VotingOptions voting;
    voting.weights = weights;
    const Classification labels = all.classifier().classify(queries, voters, voting);
    const std::vector<double> proba = all.classifier().predict_proba(queries, voters, voting);
    const std::vector<double> means = regressor.predict(queries, voters, voting);
    REQUIRE(labels.label.size() == size(rows.rows));
    for_each_group([&](std::int64_t first, std::int64_t count, std::int64_t k) {
      const Regressor alone(device(), rows.slice(first, count), {&all.values[size(first)], count, 1},
                            Metric::l2);
      const Classifier voted(device(), rows.slice(first, count),
                             MatrixView<const std::int64_t>(&all.labels[size(first)], count, 1), Metric::l2);
      const std::vector<double> expected = alone.predict(queries.slice(first, count), k, voting);
      const std::vector<std::int64_t> label = voted.predict(queries.slice(first, count), k, voting);
      for (std::int64_t q = 0; q < count; ++q) {
        CHECK(means[size(first + q)] == expected[size(q)]);
        CHECK(labels.label[size(first + q)] == label[size(q)]);
      }
    });
    CHECK(proba.size() == 3 * size(rows.rows));
  }
}

TEST_CASE("groups: without rows there is no label and no average") {
  const Grouped all;
  SearchOptions options;
  options.groups = {0, 0, 2, 2, 2, 3};
  const RowsView three = RowsView(all.queries).slice(0, 3);
  VotingOptions voting;
  voting.no_label = -7;
  const std::vector<std::int64_t> labels = all.classifier().predict(three, voters, voting, options);
  CHECK(labels[0] == -7);
  CHECK(labels[1] == -7);
  CHECK(labels[2] == all.labels.back());
  const Regressor regressor(device(), all.rows, {all.values.data(), all.rows.rows, 1}, Metric::l2,
                            all.options);
  const std::vector<double> means = regressor.predict(three, voters, {}, options);
  CHECK(std::isnan(means[0]));
  CHECK(std::isnan(means[1]));
  CHECK(means[2] == all.values.back());
}

TEST_CASE("groups: within a radius, votes are those of each group alone") {
  const Grouped all;
  const RowsView rows(all.rows);
  const std::vector<float> radius{1.5f};
  const RadiusClassification found = all.classifier().classify_within(rows, radius);
  for_each_group([&](std::int64_t first, std::int64_t count, std::int64_t) {
    const Classifier voted(device(), rows.slice(first, count),
                           MatrixView<const std::int64_t>(&all.labels[size(first)], count, 1), Metric::l2);
    const RadiusClassification expected = voted.classify_within(rows.slice(first, count), radius);
    for (std::int64_t q = 0; q < count; ++q) CHECK(found.label[size(first + q)] == expected.label[size(q)]);
  });
}

TEST_CASE("groups: evaluations stay in them") {
  const Grouped all;
  const Classifier classifier = all.classifier();
  const Evaluation one_out = leave_one_out(classifier, all.rows, voters);
  CHECK(one_out.rows == all.rows.rows);
  std::int64_t correct = 0;
  SearchOptions own;
  own.self = 0;
  const std::vector<std::int64_t> labels = classifier.predict(all.rows, voters, own);
  for (std::size_t q = 0; q < labels.size(); ++q) correct += labels[q] == all.labels[q];
  CHECK(one_out.correct[size(voters - 1)] == correct);

  // With a fold for each row, cross-validation is leave-one-out.
  std::vector<std::int64_t> folds;
  for (std::int64_t t = 0; t < all.rows.rows; ++t) folds.push_back(t);
  const Evaluation folded = cross_validate(classifier, all.rows, folds, voters);
  CHECK(folded.correct == one_out.correct);
  CHECK(folded.confusion == one_out.confusion);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
