// Lets neighbours that shards found vote.
#include "kith/shard_votes.hpp"

#include <algorithm>
#include <string>

#include "base/border.hpp"
#include "classify/averages.hpp"
#include "classify/host_votes.hpp"
#include "kith/error.hpp"
#include "kith/labels.hpp"
#include "vote/votes.hpp"
#include "vote/weights.hpp"

namespace kith {
namespace {

/// Refuses rows that have no answer.
///   what  name of the answers: `labels`
void check_rows(const char* where, const char* what, std::span<const std::int64_t> rows, std::int64_t n) {
  const auto beyond = std::find_if(rows.begin(), rows.end(), [n](std::int64_t row) { return row >= n; });
  if (beyond != rows.end())
    throw Error(Errc::invalid_argument,
                std::string(where) + ": the keys name row " + std::to_string(*beyond) + ", but there are " +
                    what + " of " + std::to_string(n) + " rows; give those of the rows of all shards");
}

std::int64_t longest_list(const Neighbors& found) {
  return found.k;
}

/// Returns a Classification or RadiusClassification.
template <class Result, class Lists>
Result classified(ShownBy shown, const Lists& keys, const ShardLabels& labels, const VotingOptions& voting) {
  Result result;
  const auto& found = result.neighbors = finish(shown, keys);
  check_rows("classify", "labels", found.row, static_cast<std::int64_t>(labels.codes().size()));
  check_voting("classify", voting, shown.metric, labels.classes().size(), longest_list(found));
  Counted counted =
      count_votes(voting, labels.classes(), labels.codes(), labels.sample_weights(), found.arithmetic,
                  static_cast<std::size_t>(found.queries), found.row.size(), 0, lists_in(found));
  result.label = std::move(counted.label);
  result.votes = std::move(counted.votes);
  give_scores(std::move(counted.scores), result);
  return result;
}

/// Returns a Regression or RadiusRegression.
template <class Result, class Lists>
Result regressed(ShownBy shown, const Lists& keys, const ShardValues& values, const VotingOptions& voting) {
  Result result;
  const auto& found = result.neighbors = finish(shown, keys);
  check_rows("regress", "values", found.row, values.rows());
  check_weights("regress", voting, shown.metric, longest_list(found));
  result.value =
      average_all({static_cast<std::size_t>(values.outputs()), values.values()}, values.sample_weights(),
                  voting, found.arithmetic, found.queries, found.row.size(), 0, lists_in(found));
  return result;
}

}  // namespace

ShardLabels::ShardLabels(std::span<const std::int64_t> labels, std::vector<float> sample_weights) try
    : classes_(classes_of({labels.begin(), labels.end()})),
      codes_(class_codes(labels, classes_)),
      sample_weights_(std::move(sample_weights)) {
  if (labels.empty())
    throw Error(Errc::invalid_argument, "shard labels: there is none; give one a row of all shards");
  check_sample_weights("shard labels", sample_weights_, static_cast<std::int64_t>(labels.size()));
} catch (...) {
  rethrow_as_error();
}

ShardValues::ShardValues(MatrixView<const double> values, std::vector<float> sample_weights) try
    : rows_(values.rows()),
      outputs_(values.cols()),
      values_(checked_values(values, values.rows())),
      sample_weights_(std::move(sample_weights)) {
  check_sample_weights("shard values", sample_weights_, rows_);
} catch (...) {
  rethrow_as_error();
}

Classification classify(ShownBy shown, const Keys& keys, const ShardLabels& labels,
                        const VotingOptions& voting) try {
  return classified<Classification>(shown, keys, labels, voting);
} catch (...) {
  rethrow_as_error();
}

RadiusClassification classify(ShownBy shown, const RadiusKeys& keys, const ShardLabels& labels,
                              const VotingOptions& voting) try {
  return classified<RadiusClassification>(shown, keys, labels, voting);
} catch (...) {
  rethrow_as_error();
}

Regression regress(ShownBy shown, const Keys& keys, const ShardValues& values,
                   const VotingOptions& voting) try {
  return regressed<Regression>(shown, keys, values, voting);
} catch (...) {
  rethrow_as_error();
}

RadiusRegression regress(ShownBy shown, const RadiusKeys& keys, const ShardValues& values,
                         const VotingOptions& voting) try {
  return regressed<RadiusRegression>(shown, keys, values, voting);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
