// Labels from neighbours: docs/contract.md, section 5.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "device.hpp"
#include "kith/classifier.hpp"
#include "oracle.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;

/// Votes counted in a map, which is in the order of the labels: the first largest wins.
Labels labels_of(const Neighbors& found, const Labels& labels) {
  Labels winners;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    std::map<std::int64_t, int> votes;
    for (std::int64_t j = 0; j < found.k; ++j) ++votes[labels[size(found.index[size(q * found.k + j)])]];
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
  CHECK(found.neighbors.index == std::vector<std::int64_t>{1, 0, 2, /**/ 4, 3, 5, /**/ 3, 2, 4});
  CHECK(classifier.predict(matrix(1, {1, 11, 6.4f}), 1) == Labels{7, 900, 42});
  CHECK(classifier.predict(matrix(1, {1}), 6) == Labels{7});  // 2 each: the smallest label
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
        CAPTURE(std::string(workloads::name(kind)));
        CAPTURE(k);
        CAPTURE(tile);
        const Neighbors expected = neighbors(Metric::l2, queries, train, k);
        Trace trace;
        const Classification found =
            classifier.classify(queries, k, {.query_tile = tile, .train_tile = 7 * tile}, &trace);
        CHECK(difference(found.neighbors, expected) == "");
        CHECK(found.label == labels_of(expected, labels));
        CHECK(std::accumulate(found.votes.begin(), found.votes.end(), std::int64_t{0}) == m * k);
        CHECK(trace.seconds.count("vote") == 1);
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
  CHECK(refusal({1, -4}) ==
        "invalid_argument: classifier: the label of training row 1 is -4; labels are 0 or more");
  const Classifier classifier(device(), train, Labels{1, 2});
  CHECK(error_of([&] { classifier.predict(train, 3); }) ==
        "invalid_argument: search: k = 3 but the index holds 2 rows; choose 1 <= k <= 2");
  CHECK(error_of([&] { classifier.sweep(train, std::vector<std::int64_t>{}); }) ==
        "invalid_argument: sweep: there is no k; give at least one");
  CHECK(error_of([&] {
          classifier.sweep(train, std::vector<std::int64_t>{1, 0});
        }) == "invalid_argument: sweep: k = 0 but the index holds 2 rows; choose 1 <= k <= 2");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
