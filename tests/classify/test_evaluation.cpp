// Tests evaluations for every k from one search: docs/contract.md, section 12.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/evaluation.hpp"
#include "kith/filter.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;
using Counts = std::vector<std::uint32_t>;

Counts confusion(const Evaluation& evaluation, std::int64_t k) {
  const auto cells = evaluation.confusion_of(k);
  return {cells.begin(), cells.end()};
}

/// Returns true labels that differ for all queries, so that each has a row of its own in the
/// confusion matrix.
Labels own_truths(std::int64_t m) {
  Labels truth(size(m));
  std::iota(truth.begin(), truth.end(), 1000);
  return truth;
}

/// Returns the answer to each query, read from an evaluation with own_truths().
Labels answers(const Evaluation& evaluation, std::int64_t k, std::int64_t no_label) {
  const std::size_t classes = evaluation.classes.size(), m = size(evaluation.rows);
  const auto cells = evaluation.confusion_of(k);
  Labels labels;
  for (std::size_t row = 0; row < classes; ++row)
    for (std::size_t column = 0; column <= classes; ++column) {
      const std::uint32_t count = cells[row * (classes + 1) + column];
      if (count == 0) continue;
      REQUIRE(row >= classes - m);
      REQUIRE(count == 1);
      labels.push_back(column == classes ? no_label : evaluation.classes[column]);
    }
  return labels;
}

/// Counts the answers of Classifier::classify() for each k.
Evaluation counted(const Classifier& classifier, MatrixView<const float> queries, const Labels& truth,
                   std::int64_t k_max, const VotingOptions& voting, const SearchOptions& options = {}) {
  Evaluation sum;
  sum.rows = queries.rows();
  sum.k_max = k_max;
  sum.classes = classifier.classes();
  sum.classes.insert(sum.classes.end(), truth.begin(), truth.end());
  std::sort(sum.classes.begin(), sum.classes.end());
  sum.classes.erase(std::unique(sum.classes.begin(), sum.classes.end()), sum.classes.end());
  const std::size_t classes = sum.classes.size();
  const auto place = [&](std::int64_t label) {
    return size(std::find(sum.classes.begin(), sum.classes.end(), label) - sum.classes.begin());
  };
  for (std::int64_t k = 1; k <= k_max; ++k) {
    const Labels labels = classifier.classify(queries, k, voting, options).label;
    Counts cells(classes * (classes + 1));
    std::int64_t right = 0;
    for (std::size_t q = 0; q < truth.size(); ++q) {
      ++cells[place(truth[q]) * (classes + 1) + place(labels[q])];
      right += labels[q] == truth[q];
    }
    sum.confusion.insert(sum.confusion.end(), cells.begin(), cells.end());
    sum.correct.push_back(right);
  }
  return sum;
}

/// Adds the counts of other rows with the same classes.
void add(Evaluation& sum, const Evaluation& part) {
  if (sum.rows == 0) {
    sum = part;
    return;
  }
  REQUIRE(part.classes == sum.classes);
  REQUIRE(part.confusion.size() == sum.confusion.size());
  REQUIRE(part.correct.size() == sum.correct.size());
  sum.rows += part.rows;
  for (std::size_t i = 0; i < sum.confusion.size(); ++i) sum.confusion[i] += part.confusion[i];
  for (std::size_t j = 0; j < sum.correct.size(); ++j) sum.correct[j] += part.correct[j];
}

/// Returns the rows whose numbers are in `list`.
Matrix rows_of(const Matrix& matrix, const std::vector<std::int64_t>& list) {
  Matrix rows{static_cast<std::int64_t>(list.size()), matrix.cols, {}};
  for (const std::int64_t row : list)
    rows.values.insert(rows.values.end(), matrix.row(row).begin(), matrix.row(row).end());
  return rows;
}

template <class T>
std::vector<T> listed(const std::vector<T>& values, const std::vector<std::int64_t>& list) {
  std::vector<T> some;
  for (const std::int64_t i : list) some.push_back(values[size(i)]);
  return some;
}

/// Returns voting options that can change an answer.
std::vector<VotingOptions> all_votings(std::size_t classes) {
  std::vector<VotingOptions> all;
  for (const Weights weights : {Weights::uniform, Weights::distance, Weights::rank})
    for (const TieRule tie : {TieRule::smallest_label, TieRule::nearest, TieRule::smallest_distance,
                              TieRule::fewer_neighbors, TieRule::abstain})
      for (const bool weighed : {false, true}) {
        VotingOptions voting{.weights = weights, .tie = tie, .no_label = -5};
        if (weights == Weights::rank)
          for (int j = 0; j < 40; ++j) voting.rank_weights.push_back(j % 3 ? 0.5f : 1.25f / float(j + 1));
        if (weighed) {
          for (std::size_t c = 0; c < classes; ++c) voting.priors.push_back(c % 2 ? 0.25 : 0.75);
          for (std::size_t i = 0; i < classes * classes; ++i)
            voting.costs.push_back(i % (classes + 1) ? 1 + double(i % 3) : 0);
        }
        all.push_back(std::move(voting));
      }
  return all;
}

TEST_CASE("evaluation: scores of classes by hand") {
  Evaluation evaluation{10, 1, {4, 7, 9}, {3, 1, 0, 1, /**/ 2, 2, 0, 1, /**/ 0, 0, 0, 0}, {5}};
  CHECK(evaluation.accuracy(1) == 0.5);
  const std::vector<ClassScore> scores = evaluation.scores(1);
  REQUIRE(scores.size() == 3);
  CHECK(scores[0].precision == 3.0 / 5);
  CHECK(scores[0].recall == 3.0 / 5);
  CHECK(scores[0].f1 == 2 * (3.0 / 5) * (3.0 / 5) / (3.0 / 5 + 3.0 / 5));
  CHECK(scores[0].support == 5);
  CHECK(scores[1].precision == 2.0 / 3);
  CHECK(scores[1].recall == 2.0 / 5);
  CHECK(scores[1].support == 5);
  CHECK(scores[2].precision == 0);  // never predicted and never true: 0 / 0 counts as 0
  CHECK(scores[2].recall == 0);
  CHECK(scores[2].f1 == 0);
  CHECK(scores[2].support == 0);
}

TEST_CASE("evaluation: the best k is the smallest of the best") {
  Evaluation evaluation{9, 4, {1}, Counts(8), {3, 7, 5, 7}};
  CHECK(evaluation.best_k() == 2);
  CHECK(error_of([&] { evaluation.accuracy(5); }) ==
        "invalid_argument: evaluation: k = 5 was not evaluated; choose k from 1 to 4");
  CHECK(error_of([&] { evaluation.scores(0); }) ==
        "invalid_argument: evaluation: k = 0 was not evaluated; choose k from 1 to 4");
  CHECK(error_of([] { Evaluation().best_k(); }) ==
        "invalid_argument: evaluation: k = 1 was not evaluated; choose k from 1 to 0");
}

TEST_SUITE_BEGIN("device");

TEST_CASE("evaluation: by hand") {
  const Matrix train = matrix(1, {0, 1, 3, 10, 11, 13});
  const Classifier classifier(device(), train, Labels{8, 8, 3, 3, 3, 8});
  // The labels by distance are 8, 8, 3 for 0.4; 3, 8, 8 for 2.2; and 8, 3, 3 for 12.5. No row has class 5.
  const Evaluation found = evaluate(classifier, matrix(1, {0.4f, 2.2f, 12.5f}), Labels{8, 3, 5}, 3);
  CHECK(found.rows == 3);
  CHECK(found.k_max == 3);
  CHECK(found.classes == Labels{3, 5, 8});
  CHECK(confusion(found, 1) == Counts{1, 0, 0, 0, /**/ 0, 0, 1, 0, /**/ 0, 0, 1, 0});
  CHECK(confusion(found, 2) == Counts{1, 0, 0, 0, /**/ 1, 0, 0, 0, /**/ 0, 0, 1, 0});
  CHECK(confusion(found, 3) == Counts{0, 0, 1, 0, /**/ 1, 0, 0, 0, /**/ 0, 0, 1, 0});
  CHECK(found.correct == Labels{2, 2, 1});
  CHECK(found.accuracy(3) == 1.0 / 3);
  CHECK(found.best_k() == 1);
  VotingOptions abstain;
  abstain.tie = TieRule::abstain;
  abstain.no_label = 3;  // also a label, but abstaining is never right
  const Evaluation none = evaluate(classifier, matrix(1, {0.4f, 2.2f, 12.5f}), Labels{8, 3, 5}, 2, abstain);
  CHECK(confusion(none, 2) == Counts{0, 0, 0, 1, /**/ 0, 0, 0, 1, /**/ 0, 0, 1, 0});
  CHECK(none.correct == Labels{2, 1});
}

TEST_CASE("evaluation: for every k what classify() answers, by all weights and tie rules") {
  const std::int64_t n = 150, m = 25, k_max = 8;
  for (const DataKind kind : {DataKind::grid, DataKind::clusters}) {
    const Matrix queries = hard_rows(kind, Set::queries, m, 3, Metric::l1);
    const Matrix train = hard_rows(kind, Set::train, n, 3, Metric::l1);
    const Labels labels = workloads::make_labels(9, n, 5);
    std::vector<float> weights;
    for (std::int64_t t = 0; t < n; ++t) weights.push_back(float(t % 4) * 0.75f);
    for (const std::vector<float>& sample_weights : {std::vector<float>{}, weights}) {
      const Classifier classifier(device(), train, labels, Metric::l1, {}, sample_weights);
      for (const VotingOptions& voting : all_votings(classifier.classes().size())) {
        CAPTURE_ALL(workloads::name(kind), name(voting.weights), name(voting.tie), voting.costs.empty(),
                    sample_weights.empty());
        const Evaluation found = evaluate(classifier, queries, own_truths(m), k_max, voting);
        for (const std::int64_t k : {1, 4, 8})
          CHECK(answers(found, k, -5) == classifier.classify(queries, k, voting).label);
      }
    }
  }
}

TEST_CASE("evaluation: counts of classify() for each k, with features, a filter and short lists") {
  const std::int64_t n = 60, m = 40;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 4, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 4, Metric::l1);
  const Labels labels = workloads::make_labels(2, n, 4), truth = workloads::make_labels(8, m, 6);
  const Classifier classifier(device(), train, labels, Metric::l1, {.features = {3, 0}});
  const RowFilter few = RowFilter::only(n, std::vector<std::int64_t>{2, 5, 11, 30, 59});
  SearchOptions options;
  CHECK(evaluate(classifier, queries, truth, 8) == counted(classifier, queries, truth, 8, {}));
  options.filter = few;
  CHECK(evaluate(classifier, queries, truth, 8, {}, options) ==
        counted(classifier, queries, truth, 8, {}, options));
}

TEST_CASE("evaluation: any number of threads") {
  const std::int64_t n = 300, m = 400, k_max = 60;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 3, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l1);
  const Classifier classifier(device(), train, workloads::make_labels(3, n, 7), Metric::l1);
  const Labels truth = workloads::make_labels(4, m, 7);
  VotingOptions voting{.tie = TieRule::smallest_distance};
  SearchOptions options{.threads = 1};
  const Evaluation alone = evaluate(classifier, queries, truth, k_max, voting, options);
  for (const std::uint32_t threads : {2u, 3u, 0u}) {
    CAPTURE(threads);
    options.threads = threads;
    CHECK(evaluate(classifier, queries, truth, k_max, voting, options) == alone);
  }
}

TEST_CASE("evaluation: leave-one-out by number, right under duplicates") {
  const Matrix train = matrix(1, {5, 5, 5, 9});
  const Classifier classifier(device(), train, Labels{1, 1, 2, 2});
  // The rows by distance are 1, 2, 3 for row 0; 0, 2, 3 for row 1; 0, 1, 3 for row 2; and 0, 1, 2 for row 3.
  const Evaluation found = leave_one_out(classifier, train, 3);
  CHECK(confusion(found, 1) == Counts{2, 0, 0, /**/ 2, 0, 0});
  // Rows 0 and 1 have 1 : 1, so the smaller label wins.
  CHECK(confusion(found, 2) == Counts{2, 0, 0, /**/ 2, 0, 0});
  CHECK(confusion(found, 3) == Counts{0, 2, 0, /**/ 2, 0, 0});
  CHECK(found.correct == Labels{2, 2, 0});
}

TEST_CASE("evaluation: leave-one-out is what a classifier of all other rows answers") {
  const std::int64_t n = 50, k_max = 8;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l1);
  const Labels labels = workloads::make_labels(6, n, 3);
  Evaluation sum;
  for (std::int64_t row = 0; row < n; ++row) {
    std::vector<std::int64_t> others(size(n));
    std::iota(others.begin(), others.end(), 0);
    others.erase(others.begin() + row);
    const Classifier rest(device(), rows_of(train, others), listed(labels, others), Metric::l1);
    add(sum, evaluate(rest, train.view().slice(row, 1), std::span(labels).subspan(size(row), 1), k_max));
  }
  CHECK(leave_one_out(Classifier(device(), train, labels, Metric::l1), train, k_max) == sum);
}

TEST_CASE("evaluation: folds are what classifiers of the other folds answer") {
  const std::int64_t n = 90, k_max = 8;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 4, Metric::l1);
  const Labels labels = workloads::make_labels(6, n, 3);
  std::vector<float> weights;
  for (std::int64_t t = 0; t < n; ++t) weights.push_back(float(t % 3) + 0.5f);
  const Classifier classifier(device(), train, labels, Metric::l1, {}, weights);
  Labels folds = stratified_folds(labels, 4, 1);
  for (std::int64_t& fold : folds) fold = fold * fold * 100;  // folds may have any numbers
  VotingOptions voting{.weights = Weights::distance, .tie = TieRule::fewer_neighbors};
  Trace trace;
  const Evaluation found = cross_validate(classifier, train, folds, k_max, voting, {}, &trace);
  Evaluation sum;
  for (const std::int64_t fold : {0, 100, 400, 900}) {
    std::vector<std::int64_t> inside, others;
    for (std::int64_t row = 0; row < n; ++row) (folds[size(row)] == fold ? inside : others).push_back(row);
    const Classifier rest(device(), rows_of(train, others), listed(labels, others), Metric::l1, {},
                          listed(weights, others));
    add(sum, counted(rest, rows_of(train, inside), listed(labels, inside), k_max, voting));
  }
  CHECK(found == sum);
  CHECK(trace.query_tiles >= 4);
  CHECK(trace.seconds.count("download") == 1);
  CHECK(trace.seconds.count("decide") == 1);
  CHECK((trace.plan.problem.k == k_max || (trace.plan.struck && trace.plan.problem.k > k_max)));
}

TEST_CASE("evaluation: folds of one row are leave-one-out") {
  const std::int64_t n = 20;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 2, Metric::l1);
  const Classifier classifier(device(), train, workloads::make_labels(6, n, 3), Metric::l1);
  Labels folds(size(n));
  std::iota(folds.begin(), folds.end(), 0);
  CHECK(cross_validate(classifier, train, folds, 8) == leave_one_out(classifier, train, 8));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
