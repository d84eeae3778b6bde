// Tests classes that are predicted from neighbours: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;

/// Counts votes in a map ordered by label, so the first largest count wins.
Labels labels_of(const Neighbors& found, const Labels& labels) {
  Labels winners;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    std::map<std::int64_t, int> votes;
    for (std::int64_t j = 0; j < found.k; ++j) ++votes[labels[size(found.row[size(q * found.k + j)])]];
    winners.push_back(std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first);
  }
  return winners;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("classifier: the caller's own labels come back, and ties go to the smallest") {
  const Matrix train = matrix(1, {0, 1, 2, 10, 11, 12});
  const Labels labels{900, 7, 7, 42, 900, 42};
  const Classifier classifier(device(), train, labels);
  CHECK(classifier.classes() == Labels{7, 42, 900});
  const Classification found = classifier.classify(matrix(1, {1, 11, 6.4f}), 3);
  CHECK(found.label == Labels{7, 42, 7});
  CHECK(found.votes == std::vector<std::uint32_t>{2, 0, 1, /**/ 0, 2, 1, /**/ 1, 1, 1});
  CHECK(found.neighbors.row == std::vector<std::int64_t>{1, 0, 2, /**/ 4, 3, 5, /**/ 3, 2, 4});
  CHECK(classifier.predict(matrix(1, {1, 11, 6.4f}), 1) == Labels{7, 900, 42});
  CHECK(classifier.predict(matrix(1, {1}), 6) == Labels{7});  // two votes each, so the smallest label wins
}

TEST_CASE("classifier: the smallest label, not the smallest sum of distances, breaks a tie") {
  const Matrix train = matrix(1, {0, 0, 9, 9});
  CHECK(Classifier(device(), train, Labels{5, 5, 3, 3}).predict(matrix(1, {0}), 4) == Labels{3});
}

TEST_CASE("classifier: labels may be large, sparse, and all the same") {
  const Matrix train = matrix(1, {1, 2, 3});
  const std::int64_t large = std::int64_t{1} << 62;
  CHECK(Classifier(device(), train, Labels{large, 0, large}).predict(train, 3) ==
        Labels{large, large, large});
  CHECK(Classifier(device(), train, Labels{0, 0, 0}).predict(train, 2) == Labels{0, 0, 0});
}

TEST_CASE("classifier: the labels that counting by hand gives, whatever the tiles") {
  const std::int64_t n = 500, m = 61;
  for (const DataKind kind : {DataKind::normal, DataKind::grid, DataKind::clusters}) {
    const Matrix queries = hard_rows(kind, Set::queries, m, 4, Metric::l2);
    const Matrix train = hard_rows(kind, Set::train, n, 4, Metric::l2);
    const Labels labels = workloads::make_labels(3, n, 12);
    const Classifier classifier(device(), train, labels, Metric::l2);
    for (const std::int64_t k : {1, 2, 16, 77, 500})
      for (const std::int64_t tile : {0, 13}) {
        CAPTURE_ALL(workloads::name(kind), k, tile);
        const Neighbors expected = neighbors(Metric::l2, queries, train, k);
        Trace trace;
        const Classification found =
            classifier.classify(queries, k, {.query_tile = tile, .train_tile = 7 * tile}, &trace);
        CHECK(difference(found.neighbors, expected) == "");
        CHECK(found.label == labels_of(expected, labels));
        CHECK(std::accumulate(found.votes.begin(), found.votes.end(), std::int64_t{0}) == m * k);
        const std::int64_t whole = std::min(trace.plan.query_tile, m), rest = m % whole;
        const auto on_device = [&](std::int64_t count) { return count * k >= 1 << 14; };
        CHECK(trace.seconds.count("vote") == (on_device(whole) ? 1 : 0));
        CHECK(trace.seconds.count("decide") == (!on_device(whole) || (rest > 0 && !on_device(rest)) ? 1 : 0));
      }
  }
}

TEST_CASE("classifier: a sweep gives what one classification for each k gives") {
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 40, 3, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 300, 3, Metric::l1);
  const Labels labels = workloads::make_labels(4, 300, 5);
  const Classifier classifier(device(), train, labels, Metric::l1);
  const std::vector<std::int64_t> ks{9, 1, 40, 3, 3};
  const Sweep sweep = classifier.sweep(queries, ks, {.query_tile = 11});
  REQUIRE(sweep.label.size() == 5);
  for (std::size_t i = 0; i < ks.size(); ++i) CHECK(sweep.label[i] == classifier.predict(queries, ks[i]));
  CHECK(difference(sweep.neighbors, neighbors(Metric::l1, queries, train, 40)) == "");
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    VotingOptions voting{.weights = weights};
    voting.priors.assign(classifier.classes().size(), 0.5);
    const Sweep counted = classifier.sweep(queries, ks, voting, {}, nullptr, ks[0]);
    const Classification one = classifier.classify(queries, ks[0], voting);
    CHECK(counted.label[0] == one.label);
    CHECK(counted.votes == one.votes);
    CHECK(counted.scores == one.scores);
    CHECK(class_shares(voting, counted.votes, counted.scores, voting.priors.size()) ==
          classifier.predict_proba(queries, ks[0], voting));
  }
}

TEST_CASE("classifier: labels may be negative, down to the smallest number there is") {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Classifier classifier(device(), matrix(1, {1, 2, 3, 4}), Labels{-1, 5, -1, least});
  CHECK(classifier.classes() == Labels{least, -1, 5});
  CHECK(classifier.codes() == std::vector<std::uint32_t>{1, 2, 1, 0});
  CHECK(classifier.predict(matrix(1, {1, 2, 9}), 1) == Labels{-1, 5, least});
  CHECK(classifier.predict(matrix(1, {1}), 2) == Labels{-1});
}

TEST_CASE("classifier: several labels a row, from one search") {
  // Rows of two labels, each followed by a number that must be skipped.
  const Labels labels{1, -1, 0, /**/ 2, -1, 0, /**/ 2, -5, 0};
  const Classifier classifier(device(), matrix(1, {1, 2, 3}),
                              MatrixView<const std::int64_t>(labels.data(), 3, 2, 3));
  CHECK(classifier.outputs() == 2);
  CHECK(classifier.classes(0) == Labels{1, 2});
  CHECK(classifier.classes(1) == Labels{-5, -1});
  CHECK(classifier.codes(1) == std::vector<std::uint32_t>{1, 1, 0});
  CHECK(classifier.predict(matrix(1, {0, 3}), 1) == Labels{1, -1, /**/ 2, -5});
  CHECK(classifier.predict(matrix(1, {0}), 3) == Labels{2, -1});
  const std::vector<Classification> found =
      classifier.classify_outputs(matrix(1, {0}), 3, {.weights = Weights::distance});
  REQUIRE(found.size() == 2);
  CHECK(found[0].votes == std::vector<std::uint32_t>{1, 2});
  CHECK(found[1].votes == std::vector<std::uint32_t>{1, 2});
  CHECK(found[0].scores == std::vector<float>{1, 0.5f + 1.0f / 3});
  CHECK(found[1].scores == std::vector<float>{1.0f / 3, 1.5f});
  CHECK(found[0].label == Labels{1});
  CHECK(found[1].label == Labels{-1});
  CHECK(found[0].neighbors == found[1].neighbors);
  CHECK(classifier.classify(matrix(1, {0}), 3).votes == std::vector<std::uint32_t>{1, 2});
  CHECK(classifier.predict_proba(matrix(1, {0}), 3, {}, {}, 1) == std::vector<double>{1.0 / 3, 2.0 / 3});
}

TEST_CASE("classifier: shares are scores over their sum, priors included") {
  const Classifier classifier(device(), matrix(1, {1, 2, 4}), Labels{4, 9, 9}, Metric::l1);
  const Matrix query = matrix(1, {0});
  CHECK(classifier.predict_proba(query, 3) == std::vector<double>{1.0 / 3, 2.0 / 3});
  CHECK(classifier.predict_proba(query, 3, {.weights = Weights::distance}) ==
        std::vector<double>{1 / 1.75, 0.75 / 1.75});
  CHECK(classifier.predict_proba(query, 3, {.priors = {0.3, 2}}) ==
        std::vector<double>{0.3 / (0.3 + 4), 4 / (0.3 + 4)});
  CHECK(classifier.predict_proba(query, 3, {.costs = {0, 9, 1, 0}}) == std::vector<double>{1.0 / 3, 2.0 / 3});
  CHECK(classifier.predict_proba(Matrix{0, 1, {}}, 3).empty());
}

TEST_CASE("classifier: neighbours alone") {
  const Classifier classifier(device(), matrix(1, {1, 2, 4}), Labels{4, 9, 9}, Metric::l1);
  CHECK(classifier.kneighbors(matrix(1, {3}), 2) == Neighbors{1, 2, {1, 1}, {1, 2}});
}

TEST_CASE("classifier: rows that are left out have no vote, and a query without any no label") {
  const Matrix train = matrix(1, {1, 2, 3, 4});
  const Classifier classifier(device(), train, Labels{5, 6, 6, 5}, Metric::l1);
  const RowFilter filter = RowFilter::only(4, Labels{0});
  const Classification found = classifier.classify(matrix(1, {4}), 3, {.filter = filter});
  CHECK(found.label == Labels{5});
  CHECK(found.votes == std::vector<std::uint32_t>{1, 0});
  CHECK(found.neighbors.row == Labels{0, -1, -1});
  const RowFilter no_row_counts(4, 1, false);
  const SearchOptions none{.filter = no_row_counts};
  CHECK(classifier.predict(matrix(1, {4}), 3, none) == Labels{default_no_label});
  CHECK(classifier.predict(matrix(1, {4}), 3, {.no_label = 0}, none) == Labels{0});
  CHECK(classifier.predict(matrix(1, {4}), 3, {.weights = Weights::distance}, none) ==
        Labels{default_no_label});
  CHECK(classifier.predict(matrix(1, {4}), 3, {.costs = {0, 1, 1, 0}}, none) == Labels{default_no_label});
  CHECK(classifier.predict_proba(matrix(1, {4}), 3, {}, none) == std::vector<double>{0, 0});
}

TEST_CASE("classifier: training rows by all others") {
  const std::int64_t n = 120, k = 7;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 2, Metric::l1);
  const Labels labels = workloads::make_labels(4, n, 5);
  const Classifier classifier(device(), train, labels, Metric::l1);
  for (const VotingOptions& voting :
       {VotingOptions{}, {.weights = Weights::distance, .tie = TieRule::nearest}}) {
    CAPTURE(std::string(name(voting.weights)));
    const SearchOptions options{.query_tile = 50, .self = 0};
    const Classification found = classifier.classify(train, k, voting, options);
    CHECK(std::accumulate(found.votes.begin(), found.votes.end(), std::int64_t{0}) == n * k);
    const Neighbors whole = neighbors(Metric::l1, train, train, k + 1);
    Labels expected;
    // Removes the query itself from the list, or the last row if the query is not in it.
    for (std::int64_t q = 0; q < n; ++q) {
      Neighbors list{1, k, {}, {}};
      for (std::size_t i = size(q * (k + 1)); i < size((q + 1) * (k + 1)); ++i)
        if (whole.row[i] != q && list.row.size() < size(k)) {
          list.row.push_back(whole.row[i]);
          list.distance.push_back(whole.distance[i]);
        }
      expected.push_back(VoteOracle(voting, labels).label(list_of(list, 0, k, labels)));
    }
    CHECK(found.label == expected);
    const Sweep sweep = classifier.sweep(train, std::vector<std::int64_t>{3, k}, voting, options);
    CHECK(sweep.label[1] == expected);
    CHECK(sweep.votes.empty());
  }
}

TEST_CASE("classifier: the features that count") {
  const Matrix train = matrix(2, {1, 50, 2, 40, 3, 0}), query = matrix(2, {0, 0});
  const Labels labels{7, 8, 9};
  CHECK(Classifier(device(), train, labels, Metric::l1, {.features = {0}}).predict(query, 1) == Labels{7});
  CHECK(Classifier(device(), train, labels, Metric::l1, {.features = {1}}).predict(query, 1) == Labels{9});
}

TEST_CASE("classifier: more rows, with labels old and new") {
  const Matrix first = matrix(1, {1, 2}), more = matrix(1, {3, 4, 5}), all = matrix(1, {1, 2, 3, 4, 5});
  const Labels labels{5, 8, /**/ 7, 8}, more_labels{6, 8, /**/ 7, 1, /**/ 9, 8};
  Labels all_labels = labels;
  all_labels.insert(all_labels.end(), more_labels.begin(), more_labels.end());
  const auto two = [](const Labels& of) {
    return MatrixView<const std::int64_t>(of.data(), static_cast<std::int64_t>(of.size()) / 2, 2);
  };
  const Classifier before(device(), first, two(labels));
  const Classifier after = before.with(more, two(more_labels));
  const Classifier whole(device(), all, two(all_labels));
  CHECK(before.classes() == Labels{5, 7});
  CHECK(before.predict(matrix(1, {9}), 1) == Labels{7, 8});
  CHECK(after.index().rows() == 5);
  CHECK(after.sample_weights().empty());
  for (const std::int64_t output : {0, 1}) {
    CHECK(after.classes(output) == whole.classes(output));
    CHECK(after.codes(output) == whole.codes(output));
  }
  for (const std::int64_t k : {1, 2, 5}) CHECK(after.predict(all, k) == whole.predict(all, k));
  const std::vector<float> weights{2, 3, 4};
  const Classifier weighted = before.with(more, two(more_labels), weights);
  CHECK(weighted.sample_weights() == std::vector<float>{1, 1, 2, 3, 4});
  CHECK(weighted.with(first, two(labels)).sample_weights() == std::vector<float>{1, 1, 2, 3, 4, 1, 1});
  CHECK(weighted.classify(matrix(1, {0}), 5).scores == std::vector<float>{1, 2, 4, 4});
  CHECK(error_of([&] { before.with(more, two(labels)); }) ==
        "invalid_argument: classifier: 2 labels for 3 training rows; give one a row");
  CHECK(error_of([&] { before.with(first, MatrixView<const std::int64_t>(labels.data(), 2, 1)); }) ==
        "invalid_argument: classifier: the labels have 1 columns, but there are 2 outputs; give one column "
        "an output");
  CHECK(error_of([&] { before.with(first, two(labels), weights); }) ==
        "invalid_argument: classifier: 3 sample weights for 2 training rows; give one a row");
}

TEST_CASE("classifier: no queries give no labels") {
  const Classifier classifier(device(), matrix(1, {1, 2, 3}), Labels{1, 2, 3});
  const Classification found = classifier.classify(Matrix{0, 1, {}}, 2);
  CHECK(found.label.empty());
  CHECK(found.votes.empty());
  CHECK(classifier.sweep(Matrix{0, 1, {}}, std::vector<std::int64_t>{1, 2}).label == std::vector<Labels>(2));
}

TEST_CASE("classifier: refuses what the contract refuses") {
  const Matrix train = matrix(1, {1, 2});
  const auto refusal = [&](const Labels& labels) {
    return error_of([&] { Classifier(device(), train, labels); });
  };
  CHECK(refusal({1}) == "invalid_argument: classifier: 1 labels for 2 training rows; give one a row");
  CHECK(error_of([&] { Classifier(device(), train, MatrixView<const std::int64_t>(nullptr, 2, 0)); }) ==
        "invalid_argument: classifier: the labels have no column; give at least one");
  const Classifier classifier(device(), train, Labels{1, 2});
  CHECK(error_of([&] { classifier.predict(train, 3); }) ==
        "invalid_argument: search: k = 3 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(error_of([&] { classifier.sweep(train, std::vector<std::int64_t>{}); }) ==
        "invalid_argument: sweep: there is no k; give at least one");
  CHECK(error_of([&] { classifier.sweep(train, std::vector<std::int64_t>{1}, {}, {}, nullptr, 2); }) ==
        "invalid_argument: sweep: counted_k = 2 is none of ks; add it there, or leave it out");
  CHECK(error_of([&] {
          class_shares({}, std::vector<std::uint32_t>{1, 2, 3}, {}, 2);
        }).starts_with("invalid_argument: class_shares: 3 votes, 0 scores and 0 priors for 2 classes; "));
  CHECK(error_of([&] {
          classifier.sweep(train, std::vector<std::int64_t>{1, 0});
        }) == "invalid_argument: sweep: k = 0 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(error_of([&] { classifier.sweep(train, std::vector<std::int64_t>{2}, {.self = 0}); }) ==
        "invalid_argument: sweep: k = 2 is out of range for an index of 2 rows, each left out of its own "
        "list; choose k from 1 to 1");
  CHECK(error_of([&] { classifier.classes(1); }) ==
        "invalid_argument: classifier: there is no output 1; it has 1, counted from 0");
  CHECK(error_of([&] { classifier.predict_proba(train, 1, {}, {}, -1); }) ==
        "invalid_argument: classifier: there is no output -1; it has 1, counted from 0");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
