// Tests stratified folds: docs/contract.md, section 12.
#include "common/device.hpp"
#include "kith/evaluation.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;

/// Computes the folds again: shuffles the rows of each class and deals them in turn. The random numbers are
/// SplitMix64 by their index.
Labels dealt(const Labels& labels, std::int64_t folds, std::uint64_t seed) {
  Labels fold(labels.size()), order;
  std::uint64_t draws = 0;
  const std::set<std::int64_t> classes(labels.begin(), labels.end());
  for (const std::int64_t c : classes) {
    const std::size_t first = order.size();
    for (std::size_t row = 0; row < labels.size(); ++row)
      if (labels[row] == c) order.push_back(static_cast<std::int64_t>(row));
    for (std::size_t last = order.size() - 1; last > first; --last)
      std::swap(order[last], order[first + workloads::random_bits(seed, draws++) % (last - first + 1)]);
  }
  for (std::size_t place = 0; place < order.size(); ++place)
    fold[size(order[place])] = static_cast<std::int64_t>(place) % folds;
  return fold;
}

TEST_CASE("folds: the same on every machine") {
  const Labels labels{5, 5, 5, 5, 5, 2, 2, 2, 9, 9};
  CHECK(stratified_folds(labels, 3) == Labels{0, 2, 0, 1, 1, 1, 2, 0, 2, 0});
  CHECK(stratified_folds(labels, 3, 1) == Labels{1, 0, 1, 0, 2, 0, 1, 2, 2, 0});
  CHECK(stratified_folds(Labels(8, 1), 2, 42) == Labels{1, 1, 1, 0, 0, 1, 0, 0});
  // The value that other implementations of SplitMix64 give.
  CHECK(workloads::random_bits(1234567, 0) == 6457827717110365317u);
  const Labels many = workloads::make_labels(11, 700, 9);
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}})
    for (const std::int64_t folds : {2, 5, 700}) {
      CAPTURE_ALL(seed, folds);
      CHECK(stratified_folds(many, folds, seed) == dealt(many, folds, seed));
    }
}

TEST_CASE("folds: sizes, and rows of each class, differ by at most one") {
  for (const std::int64_t classes : {1, 3, 40})
    for (const std::int64_t folds : {2, 3, 10, 90}) {
      CAPTURE_ALL(classes, folds);
      const Labels labels = workloads::make_labels(5, 91, classes);
      const Labels fold = stratified_folds(labels, folds, 3);
      REQUIRE(fold.size() == labels.size());
      std::map<std::int64_t, std::vector<int>> of_class;
      std::vector<int> all(size(folds));
      for (std::size_t row = 0; row < fold.size(); ++row) {
        REQUIRE(fold[row] >= 0);
        REQUIRE(fold[row] < folds);
        auto& counts = of_class[labels[row]];
        counts.resize(size(folds));
        ++counts[size(fold[row])];
        ++all[size(fold[row])];
      }
      const auto spread = [](const std::vector<int>& counts) {
        return *std::max_element(counts.begin(), counts.end()) -
               *std::min_element(counts.begin(), counts.end());
      };
      CHECK(spread(all) <= 1);
      for (const auto& [label, counts] : of_class) CHECK(spread(counts) <= 1);
    }
}

TEST_CASE("folds: another seed, another deal") {
  const Labels labels = workloads::make_labels(5, 200, 4);
  CHECK(stratified_folds(labels, 5, 1) != stratified_folds(labels, 5, 2));
  CHECK(stratified_folds(labels, 5) == stratified_folds(labels, 5, 0));
}

TEST_CASE("folds: bad input") {
  CHECK(error_of([] { stratified_folds(Labels{}, 2); }) ==
        "invalid_argument: stratified_folds: the number of labels is 0; folds need two or more");
  CHECK(error_of([] { stratified_folds(Labels{4}, 2); }) ==
        "invalid_argument: stratified_folds: the number of labels is 1; folds need two or more");
  CHECK(error_of([] {
          stratified_folds(Labels{1, 2, 3}, 1);
        }) == "invalid_argument: stratified_folds: 1 folds of 3 rows; choose folds from 2 to 3");
  CHECK(error_of([] {
          stratified_folds(Labels{1, 2, 3}, 4);
        }) == "invalid_argument: stratified_folds: 4 folds of 3 rows; choose folds from 2 to 3");
}

}  // namespace
}  // namespace kith::tests
