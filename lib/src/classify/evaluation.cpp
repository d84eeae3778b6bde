#include "kith/evaluation.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "classify/answers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "kith/filter.hpp"
#include "rows/landing.hpp"
#include "rows/mapped_options.hpp"
#include "search/groups/group_search.hpp"
#include "search/groups/row_groups.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/nearest.hpp"

namespace kith {
namespace {

void check_k_max(const std::string& where, std::int64_t k_max, std::int64_t voters) {
  if (k_max < 1 || k_max > voters)
    refuse(where, "k_max = " + std::to_string(k_max) + " but " + std::to_string(voters) +
                      " rows can vote; choose k_max from 1 to " + std::to_string(voters));
}

/// Refuses rows of which `classifier` cannot have been made.
void check_train(const std::string& where, const Classifier& classifier, const RowsView& train) {
  check_rows(where, "training", train);
  const std::int64_t rows = classifier.index().rows(), dims = classifier.index().dims();
  if (train.rows != rows || train.cols != dims)
    refuse(where, "the rows are [" + std::to_string(train.rows) + ", " + std::to_string(train.cols) +
                      "] but the classifier was made of [" + std::to_string(rows) + ", " +
                      std::to_string(dims) + "]; give those it was made of");
  if (const std::int64_t removed = classifier.index().state().removed.count(); removed > 0)
    refuse(where, std::to_string(removed) +
                      " rows of the classifier are removed; compact() it first, and give "
                      "the rows that are left");
  if (rows < 2) refuse(where, "the classifier has 1 row; it takes two for one to ask about the other");
}

void check_no_self(const std::string& where, const SearchOptions& options) {
  if (options.self)
    refuse(where, "the options have self = " + std::to_string(*options.self) +
                      ", which is set where it is needed; leave it empty");
}

/// Returns the first label of each training row.
std::vector<std::int64_t> own_labels(const Classifier& classifier) {
  std::vector<std::int64_t> labels;
  labels.reserve(classifier.codes().size());
  for (const std::uint32_t code : classifier.codes()) labels.push_back(classifier.classes()[code]);
  return labels;
}

/// Searches, and counts the answers.
///   options  name rows by their places
void search_and_count(const Index& index, const RowsView& queries, std::span<const std::int64_t> truth,
                      std::int64_t k_max, const SearchOptions& options, Trace* trace, Answers& answers) {
  check_numbered_in_whole("evaluate", options);
  Neighbors found;
  find_nearest(index.state(), queries, k_max, options, found, trace);
  const Stopwatch counting;
  answers.add(found, truth);
  if (!trace) return;
  trace->seconds["decide"] = counting.seconds();
  trace->total_seconds += counting.seconds();
}

/// Evaluates the answers to queries.
///   options  name rows by their places
Evaluation evaluate_queries(const std::string& where, const Classifier& classifier, const RowsView& queries,
                            std::span<const std::int64_t> truth, std::int64_t k_max,
                            const VotingOptions& voting, const SearchOptions& options, Trace* trace) {
  const FloatGuard guard;
  check_k_max(where, k_max, classifier.index().rows() - (options.self ? 1 : 0));
  Answers answers(where, classifier, truth, k_max, voting, options.threads);
  search_and_count(classifier.index(), queries, truth, k_max, options, trace, answers);
  return answers.take();
}

/// Returns row numbers by fold. Throws if there is not one fold per row, if one is negative, or if all
/// are equal.
std::vector<std::vector<std::int64_t>> rows_by_fold(std::span<const std::int64_t> folds, std::int64_t n) {
  const std::string where = "cross_validate";
  if (static_cast<std::int64_t>(folds.size()) != n)
    refuse(where, std::to_string(folds.size()) + " folds for " + std::to_string(n) + " rows; give one a row");
  std::map<std::int64_t, std::vector<std::int64_t>> rows;
  for (std::int64_t row = 0; row < n; ++row) {
    const std::int64_t fold = folds[static_cast<std::size_t>(row)];
    if (fold < 0)
      refuse(where, "the fold of row " + std::to_string(row) + " is " + std::to_string(fold) +
                        "; folds are 0 or more");
    rows[fold].push_back(row);
  }
  if (rows.size() < 2)
    refuse(where, "all rows are in fold " + std::to_string(folds[0]) + "; give at least two different");
  std::vector<std::vector<std::int64_t>> lists;
  lists.reserve(rows.size());
  for (auto& [fold, list] : rows) lists.push_back(std::move(list));
  return lists;
}

/// Holds the rows of one fold, which are queries among all other rows.
class Fold {
 public:
  Fold(const RowsView& train, std::span<const std::int64_t> labels, std::span<const std::int64_t> rows)
      : filter_(train.rows), element_(train.element), cols_(train.cols) {
    const std::int64_t bytes = row_bytes(element_, cols_);
    bytes_.reserve(rows.size() * static_cast<std::size_t>(bytes));
    for (const std::int64_t row : rows) {
      filter_.set(row, false);
      bytes_.insert(bytes_.end(), train.row(row), train.row(row) + bytes);
      truth_.push_back(labels[static_cast<std::size_t>(row)]);
    }
  }

  RowsView queries() const {
    return {bytes_.data(), element_, static_cast<std::int64_t>(truth_.size()), cols_};
  }
  /// Returns the borders of the groups of queries, which are in the groups of their rows.
  ///   rows  numbers of the queries, ascending
  static std::vector<std::int64_t> groups_of(std::span<const std::int64_t> rows, const RowGroups& groups) {
    std::vector<std::int64_t> borders;
    for (const std::int64_t border : groups.borders())
      borders.push_back(std::lower_bound(rows.begin(), rows.end(), border) - rows.begin());
    return borders;
  }
  FilterWords others() const { return FilterWords(filter_.view()); }
  std::span<const std::int64_t> truth() const { return truth_; }

 private:
  RowFilter filter_;
  Element element_;
  std::int64_t cols_;
  std::vector<unsigned char> bytes_;  ///< rows of element_, as the caller stores them
  std::vector<std::int64_t> truth_;
};

}  // namespace

Evaluation evaluate(const Classifier& classifier, const RowsView& queries,
                    std::span<const std::int64_t> truth, std::int64_t k_max, const VotingOptions& voting,
                    const SearchOptions& options, Trace* trace) try {
  const std::string where = "evaluate";
  if (queries.rows < 1) refuse(where, "there are no queries; give at least one");
  if (static_cast<std::int64_t>(truth.size()) != queries.rows)
    refuse(where, std::to_string(truth.size()) + " true labels for " + std::to_string(queries.rows) +
                      " queries; give one a query");
  const MappedOptions mapped("search", classifier.index().state(), options, queries.rows, std::nullopt);
  return evaluate_queries(where, classifier, queries, truth, k_max, voting, mapped.options(), trace);
} catch (...) {
  rethrow_as_error();
}

Evaluation leave_one_out(const Classifier& classifier, const RowsView& train, std::int64_t k_max,
                         const VotingOptions& voting, const SearchOptions& options, Trace* trace) try {
  const std::string where = "leave_one_out";
  check_train(where, classifier, train);
  check_no_self(where, options);
  const MappedOptions mapped("search", classifier.index().state(), options, train.rows, std::nullopt);
  SearchOptions without_self = mapped.options();
  without_self.self = 0;
  return evaluate_queries(where, classifier, train, own_labels(classifier), k_max, voting, without_self,
                          trace);
} catch (...) {
  rethrow_as_error();
}

Evaluation cross_validate(const Classifier& classifier, const RowsView& train,
                          std::span<const std::int64_t> folds, std::int64_t k_max,
                          const VotingOptions& voting, const SearchOptions& options, Trace* trace) try {
  const std::string where = "cross_validate";
  const FloatGuard guard;
  const Stopwatch total;
  check_train(where, classifier, train);
  check_no_self(where, options);
  if (options.filter.rows() > 0)
    refuse(where, "the options have a filter, but folds say which rows count; leave it empty");
  const std::vector<std::vector<std::int64_t>> lists = rows_by_fold(folds, train.rows);
  std::size_t largest = 0;
  for (const auto& list : lists) largest = std::max(largest, list.size());
  check_k_max(where, k_max, train.rows - static_cast<std::int64_t>(largest));
  const std::vector<std::int64_t> labels = own_labels(classifier);
  Answers answers(where, classifier, labels, k_max, voting, options.threads);
  Trace sum = trace ? asked_like(*trace) : Trace{};
  std::int64_t done = 0;
  for (const auto& list : lists) {
    const Fold fold(train, labels, list);
    SearchOptions way = options;
    way.filter = fold.others();
    if (const auto& groups = classifier.index().state().groups) way.groups = Fold::groups_of(list, *groups);
    if (options.progress)
      way.progress = [&](const Progress& part) {
        const FloatGuard guard;
        const double rows_done = static_cast<double>(done) + part.fraction * static_cast<double>(list.size());
        call_back(options.progress, Progress{rows_done / static_cast<double>(train.rows)});
      };
    Trace part = asked_like(sum);
    search_and_count(classifier.index(), fold.queries(), fold.truth(), k_max, way, trace ? &part : nullptr,
                     answers);
    add_queries(sum, part);
    done += static_cast<std::int64_t>(list.size());
  }
  sum.total_seconds = total.seconds();
  if (trace) *trace = std::move(sum);
  return answers.take();
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
