// Tests votes, means and evaluations by neighbours in double precision: docs/contract.md, section 5.
#include "doubles/doubles_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/regressor.hpp"
#include "kith/shard_votes.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t classes = 3;

/// The vote of one neighbour, in double precision.
double weight_by_oracle(Weights weights, double nearest, double distance, std::size_t rank, float own) {
  double weight = 1;
  if (weights == Weights::distance)
    weight = nearest == 0 ? (distance == 0 ? 1 : 0) : std::min(1 / distance, 0x1p256);
  if (weights == Weights::rank) weight = static_cast<double>(1 / static_cast<float>(rank + 1));
  return std::min(weight * static_cast<double>(own), 0x1p256);
}

struct Labelled {
  DoubleMatrix train, queries;
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  std::vector<float> own;

  explicit Labelled(DoubleData kind, std::mt19937& random)
      : train(double_rows(kind, 120, 2, random)), queries(double_rows(kind, 15, 2, random)) {
    std::copy_n(train.values.begin(), 6, queries.values.begin());
    for (std::int64_t t = 0; t < train.rows; ++t) {
      labels.push_back(static_cast<std::int64_t>(random() % classes) + 10);
      values.push_back(static_cast<double>(random() % 1000) / 7);
      own.push_back(static_cast<float>(random() % 5) / 3);
    }
  }
  MatrixView<const std::int64_t> label_column() const { return {labels.data(), train.rows, 1}; }
  MatrixView<const double> value_column() const { return {values.data(), train.rows, 1}; }
};

/// Checks scores, labels, shares and means of lists that voted.
void check_votes(const Labelled& given, const std::vector<std::vector<OracleRow>>& lists, Metric metric,
                 const VotingOptions& voting, const std::vector<std::int64_t>& label,
                 const std::vector<double>& scores, const std::vector<double>& mean) {
  for (std::size_t q = 0; q < lists.size(); ++q) {
    std::vector<double> score(classes);
    double sum = 0, total = 0;
    for (std::size_t j = 0; j < lists[q].size(); ++j) {
      const auto row = static_cast<std::size_t>(lists[q][j].row);
      const double weight = weight_by_oracle(voting.weights, shown_by_oracle(metric, lists[q][0].value),
                                             shown_by_oracle(metric, lists[q][j].value), j, given.own[row]);
      double& to = score[static_cast<std::size_t>(given.labels[row] - 10)];
      to = to + weight;
      sum = sum + weight * given.values[row];
      total = total + weight;
    }
    CAPTURE(q);
    CHECK(std::equal(score.begin(), score.end(), scores.begin() + static_cast<std::ptrdiff_t>(q * classes)));
    if (total == 0) {
      CHECK(label[q] == voting.no_label);
      CHECK(std::isnan(mean[q]));
      continue;
    }
    CHECK(label[q] == 10 + (std::max_element(score.begin(), score.end()) - score.begin()));
    CHECK(mean[q] == sum / total);
  }
}

TEST_SUITE("device") {
  TEST_CASE("doubles: votes and means by the k nearest, and within a radius") {
    std::mt19937 random(6);
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::cosine})
      for (const DoubleData kind : {DoubleData::map, DoubleData::tiny, DoubleData::equal})
        for (const Weights weights : {Weights::uniform, Weights::distance, Weights::rank}) {
          CAPTURE_ALL(name(metric), static_cast<int>(kind), static_cast<int>(weights));
          const Labelled given(kind, random);
          VotingOptions voting;
          voting.weights = weights;
          if (weights == Weights::rank)
            for (int j = 0; j < 120; ++j) voting.rank_weights.push_back(1 / static_cast<float>(j + 1));
          const Classifier classifier(device(), given.train, given.label_column(), metric, {}, given.own);
          const Regressor regressor(device(), given.train, given.value_column(), metric, {}, given.own);
          auto lists = all_by_oracle(metric, given.train, given.queries, every_row);
          const std::vector<double> radii = {shown_by_oracle(metric, lists[9][8].value)};
          auto near = lists;
          for (auto& list : near)
            std::erase_if(
                list, [&](const OracleRow& one) { return shown_by_oracle(metric, one.value) > radii[0]; });
          for (auto& list : lists) list.resize(9);
          const Classification found = classifier.classify(given.queries, 9, voting);
          CHECK(found.scores.empty());
          CHECK(found.neighbors == nearest_by_oracle(metric, lists, 9));
          const Regression means = regressor.regress(given.queries, 9, voting);
          CHECK(means.neighbors == found.neighbors);
          check_votes(given, lists, metric, voting, found.label, found.scores64, means.value);
          CHECK(classifier.predict(given.queries, 9, voting) == found.label);
          std::vector<double> shares;
          for (std::size_t q = 0; q < found.label.size(); ++q) {
            const double* const score = found.scores64.data() + q * classes;
            const double sum = score[0] + score[1] + score[2];
            for (std::int64_t c = 0; c < classes; ++c) shares.push_back(sum == 0 ? 0 : score[c] / sum);
          }
          CHECK(class_shares(voting, found, classes) == shares);
          CHECK(classifier.predict_proba(given.queries, 9, voting) == shares);
          const RadiusClassification within = classifier.classify_within(given.queries, radii, voting);
          check_votes(given, near, metric, voting, within.label, within.scores64,
                      regressor.regress_within(given.queries, radii, voting).value);

          const Index index(device(), given.train, metric);
          const Keys keys = index.search_keys(given.queries, 9);
          const Classification of_shards =
              classify(metric, keys, ShardLabels(given.labels, given.own), voting);
          CHECK(of_shards.label == found.label);
          CHECK(of_shards.scores64 == found.scores64);
          CHECK(regress(metric, keys, ShardValues(given.value_column(), given.own), voting).neighbors ==
                means.neighbors);
        }
  }

  TEST_CASE("doubles: evaluation of every k, and leaving each row out") {
    std::mt19937 random(7);
    const Labelled given(DoubleData::map, random);
    const Classifier classifier(device(), given.train, given.label_column(), Metric::l2);
    const auto others =
        all_by_oracle(Metric::l2, given.train, given.train, [](auto q, auto t) { return q != t; });
    const Evaluation left = leave_one_out(classifier, given.train, 5);
    const std::vector<std::int64_t> ks = {1, 2, 3, 4, 5};
    SearchOptions own;
    own.self = 0;
    const Sweep sweep = classifier.sweep(given.train, ks, own);
    CHECK(sweep.neighbors == nearest_by_oracle(Metric::l2, others, 5));
    for (std::size_t k = 0; k < 5; ++k) {
      std::int64_t right = 0;
      for (std::size_t q = 0; q < others.size(); ++q) {
        std::vector<int> votes(classes);
        for (std::size_t j = 0; j <= k; ++j)
          ++votes[static_cast<std::size_t>(given.labels[static_cast<std::size_t>(others[q][j].row)] - 10)];
        const std::int64_t label = 10 + (std::max_element(votes.begin(), votes.end()) - votes.begin());
        CHECK(sweep.label[k][q] == label);
        right += label == given.labels[q];
      }
      CHECK(left.correct[k] == right);
    }
  }
}

}  // namespace
}  // namespace kith::tests
