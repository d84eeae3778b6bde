// Tests progress, stopping and refusals of an evaluation: docs/contract.md, section 12.
#include <stop_token>

#include "common/device.hpp"
#include "kith/evaluation.hpp"
#include "kith/filter.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;

TEST_SUITE_BEGIN("device");

TEST_CASE("evaluation: progress over all folds, and a stop") {
  const std::int64_t n = 40;
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, 2, Metric::l1);
  const Labels labels = workloads::make_labels(6, n, 3);
  const Classifier classifier(device(), train, labels, Metric::l1);
  SearchOptions options;
  std::vector<double> seen;
  options.progress = [&](const Progress& progress) { seen.push_back(progress.fraction); };
  cross_validate(classifier, train, stratified_folds(labels, 5), 3, {}, options);
  CHECK(seen.size() >= 5);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() == 1);
  std::stop_source stop;
  stop.request_stop();
  options.stop = stop.get_token();
  CHECK(error_of([&] {
          cross_validate(classifier, train, stratified_folds(labels, 5), 3, {}, options);
        }).starts_with("interrupted: search: stopped after 0 of "));
}

TEST_CASE("evaluation: bad input") {
  const Matrix train = matrix(2, {0, 0, 1, 1, 2, 2});
  const Classifier classifier(device(), train, Labels{1, 2, 1});
  const Matrix queries = matrix(2, {0, 1});
  CHECK(error_of([&] {
          evaluate(classifier, queries, Labels{1, 2}, 1);
        }) == "invalid_argument: evaluate: 2 true labels for 1 queries; give one a query");
  CHECK(error_of([&] {
          evaluate(classifier, {nullptr, 0, 2}, Labels{}, 1);
        }) == "invalid_argument: evaluate: there are no queries; give at least one");
  CHECK(error_of([&] { evaluate(classifier, queries, Labels{1}, 0); }) ==
        "invalid_argument: evaluate: k_max = 0 but 3 rows can vote; choose k_max from 1 to 3");
  CHECK(error_of([&] { evaluate(classifier, queries, Labels{1}, 4); }) ==
        "invalid_argument: evaluate: k_max = 4 but 3 rows can vote; choose k_max from 1 to 3");
  CHECK(error_of([&] { leave_one_out(classifier, train, 3); }) ==
        "invalid_argument: leave_one_out: k_max = 3 but 2 rows can vote; choose k_max from 1 to 2");
  CHECK(error_of([&] { leave_one_out(classifier, queries, 1); }) ==
        "invalid_argument: leave_one_out: the rows are [1, 2] but the classifier was made of [3, 2]; give "
        "those it was made of");
  CHECK(error_of([&] { leave_one_out(Classifier(device(), queries, Labels{1}), queries, 1); }) ==
        "invalid_argument: leave_one_out: the classifier has 1 row; it takes two for one to ask about the "
        "other");
  SearchOptions options{.self = 7};
  CHECK(error_of([&] { leave_one_out(classifier, train, 1, {}, options); }) ==
        "invalid_argument: leave_one_out: the options have self = 7, which is set where it is needed; leave "
        "it empty");
  VotingOptions voting{.priors = {1}};
  CHECK(error_of([&] { evaluate(classifier, queries, Labels{1}, 1, voting); }) ==
        "invalid_argument: evaluate: 1 priors for 2 classes; give one a class, in the order of classes()");
}

TEST_CASE("evaluation: bad folds") {
  const Matrix train = matrix(2, {0, 0, 1, 1, 2, 2});
  const Classifier classifier(device(), train, Labels{1, 2, 1});
  const auto error = [&](const Labels& folds, std::int64_t k_max, const SearchOptions& options = {}) {
    return error_of([&] { cross_validate(classifier, train, folds, k_max, {}, options); });
  };
  CHECK(error({0, 1}, 1) == "invalid_argument: cross_validate: 2 folds for 3 rows; give one a row");
  CHECK(error({0, 1, -1}, 1) ==
        "invalid_argument: cross_validate: the fold of row 2 is -1; folds are 0 or more");
  CHECK(error({4, 4, 4}, 1) ==
        "invalid_argument: cross_validate: all rows are in fold 4; give at least two different");
  CHECK(error({0, 1, 0}, 2) ==
        "invalid_argument: cross_validate: k_max = 2 but 1 rows can vote; choose k_max from 1 to 1");
  const RowFilter filter(3);
  SearchOptions options{.filter = filter};
  CHECK(error({0, 1, 0}, 1, options) ==
        "invalid_argument: cross_validate: the options have a filter, but folds say which rows count; leave "
        "it empty");
}

TEST_CASE("evaluation: a confusion that is too large is refused, with its size") {
  const std::int64_t n = 9000;
  const Matrix train{n, 1, std::vector<float>(size(n), 1.0f)};
  Labels labels(size(n));
  std::iota(labels.begin(), labels.end(), 0);
  const Classifier classifier(device(), train, labels);
  CHECK(error_of([&] { leave_one_out(classifier, train, 10); }) ==
        "out_of_memory: leave_one_out: the confusion of 9000 classes for each k up to 10 takes 3.0 GiB, and "
        "1 GiB is allowed; choose a smaller k_max");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
