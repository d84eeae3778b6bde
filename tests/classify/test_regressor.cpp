// Tests values that are predicted from neighbours: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/filter.hpp"
#include "kith/regressor.hpp"

namespace kith::tests {
namespace {

using Values = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

MatrixView<const double> view(const Values& values, std::int64_t outputs = 1) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / outputs, outputs};
}

std::vector<std::uint64_t> double_bits(const Values& values) {
  std::vector<std::uint64_t> patterns;
  for (const double value : values) patterns.push_back(std::bit_cast<std::uint64_t>(value));
  return patterns;
}

/// Appends the weighted means of one list, for each of `outputs` values. VoteOracle gives the weights, which
/// do not depend on labels.
void append_means(const Neighbors& found, std::size_t q, std::int64_t k, const VotingOptions& voting,
                  const Values& values, std::size_t outputs, const std::vector<float>& samples,
                  Values& means) {
  const std::vector<std::int64_t> no_labels(values.size() / outputs);
  const std::vector<float> weight =
      VoteOracle(voting, no_labels).weights(list_of(found, q, k, no_labels, samples));
  for (std::size_t o = 0; o < outputs; ++o) {
    double sum = 0, total = 0;
    for (std::size_t j = 0; j < weight.size(); ++j) {
      const std::size_t t = size(found.row[q * size(found.k) + j]);
      sum += double{weight[j]} * values[t * outputs + o];
      total += double{weight[j]};
    }
    means.push_back(total > 0 ? sum / total : nan);
  }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("regressor: the mean of the values of the neighbours") {
  const Matrix train = matrix(1, {1, 2, 4, 100});
  const Values values{10, 20, 60, -7};
  const Regressor regressor(device(), train, view(values), Metric::l1);
  CHECK(regressor.predict(matrix(1, {0, 99}), 1) == Values{10, -7});
  CHECK(regressor.predict(matrix(1, {0, 3}), 2) == Values{15, 40});
  CHECK(regressor.predict(matrix(1, {0}), 3) == Values{30});
  CHECK(regressor.predict(matrix(1, {0}), 3, {.weights = Weights::distance}) ==
        Values{(10 + 0.5 * 20 + 0.25 * 60) / 1.75});
  CHECK(regressor.predict(matrix(1, {2}), 3, {.weights = Weights::distance}) == Values{20});
  CHECK(regressor.predict(matrix(1, {0}), 3, {.weights = Weights::rank, .rank_weights = {1, 0, 3}}) ==
        Values{(10.0 + 3 * 60) / 4});
  const Regression found = regressor.regress(matrix(1, {0}), 2);
  CHECK(found.neighbors.row == std::vector<std::int64_t>{0, 1});
  CHECK(regressor.outputs() == 1);
  CHECK(regressor.values() == values);
  CHECK(regressor.sample_weights().empty());
  CHECK(regressor.index().rows() == 4);
  CHECK(regressor.predict(Matrix{0, 1, {}}, 2).empty());
}

TEST_CASE("regressor: several values a row, from memory with gaps") {
  const Values given{1, -1, nan, 3, -3, nan};  // rows of two values, each followed by one to skip
  const Regressor regressor(device(), matrix(1, {1, 2}), MatrixView<const double>(given.data(), 2, 2, 3));
  CHECK(regressor.outputs() == 2);
  CHECK(regressor.values() == Values{1, -1, 3, -3});
  CHECK(regressor.predict(matrix(1, {0, 9}), 1) == Values{1, -1, /**/ 3, -3});
  CHECK(regressor.predict(matrix(1, {0}), 2) == Values{2, -2});
}

TEST_CASE("regressor: samples have weights") {
  const Values values{1, 2, 6};
  const Matrix train = matrix(1, {1, 2, 3});
  const Regressor regressor(device(), train, view(values), Metric::l1, {}, {3, 1, 0});
  CHECK(regressor.predict(matrix(1, {0}), 3) == Values{1.25});
  CHECK(regressor.sample_weights() == std::vector<float>{3, 1, 0});
  CHECK(double_bits(regressor.predict(matrix(1, {3}), 1)) == double_bits({nan}));  // all weights are 0
  CHECK(regressor.predict(matrix(1, {3}), 2) == Values{2});
}

TEST_CASE("regressor: takes an index that is there already") {
  const Values values{1, 2, 6};
  const Matrix train = matrix(1, {1, 2}), more = matrix(1, {3});
  const Index index = Index(device(), train, Metric::l1).with(more);
  const Regressor regressor(index, view(values), {3, 1, 0});
  CHECK(regressor.predict(matrix(1, {0}), 3) == Values{1.25});
  CHECK(error_of([&] { Regressor(index, view(values), {1}); }).starts_with("invalid_argument: regressor: "));
  CHECK(error_of([&] { Regressor(index, MatrixView<const double>(values.data(), 2, 1)); }) ==
        "invalid_argument: regressor: 2 values for 3 training rows; give one a row");
}

TEST_CASE("regressor: a query without a neighbour has no value") {
  const Values values{1, 2, 6};
  const Matrix train = matrix(1, {1, 2, 3});
  const Regressor regressor(device(), train, view(values), Metric::l1);
  const RowFilter no_row_counts(3, 1, false);
  CHECK(double_bits(regressor.predict(matrix(1, {0}), 2, {}, {.filter = no_row_counts})) ==
        double_bits({nan}));
  const RowFilter one = RowFilter::only(3, std::vector<std::int64_t>{2});
  CHECK(regressor.predict(matrix(1, {0}), 2, {}, {.filter = one}) == Values{6});
  CHECK(regressor.predict(train, 1, {}, {.self = 0}) == Values{2, 1, 2});
}

TEST_CASE("regressor: by all rows within a radius") {
  const Values values{1, 2, 6};
  const Matrix train = matrix(1, {1, 2, 3});
  const Regressor regressor(device(), train, view(values), Metric::l1);
  const RadiusRegression found = regressor.regress_within(matrix(1, {2, 0, 9}), std::vector{1.0f});
  CHECK(double_bits(found.value) == double_bits({3, 1, nan}));
  CHECK(found.neighbors.row == std::vector<std::int64_t>{1, 0, 2, 0});
  CHECK(
      regressor.regress_within(matrix(1, {2.5f}), std::vector{2.0f}, {.weights = Weights::distance}).value ==
      Values{(2 * 2 + 2 * 6 + double{1.0f / 1.5f} * 1) / (2 + 2 + double{1.0f / 1.5f})});
}

TEST_CASE("regressor: the means that adding by hand gives, to the last bit") {
  const std::int64_t n = 200, m = 31, k = 29;
  const std::size_t outputs = 3;
  workloads::Random random(8);
  Values values;
  for (std::size_t i = 0; i < size(n) * outputs; ++i)
    values.push_back((static_cast<double>(random.below(1u << 30)) - 5e8) / 3);
  std::vector<float> samples;
  for (std::int64_t t = 0; t < n; ++t) samples.push_back(static_cast<float>(random.below(5)) / 3);
  VotingOptions by_rank{.weights = Weights::rank};
  for (std::int64_t j = 0; j < n; ++j) by_rank.rank_weights.push_back(1.0f / static_cast<float>(j + 3));
  for (const DataKind kind : {DataKind::normal, DataKind::grid}) {
    const Matrix queries = hard_rows(kind, Set::queries, m, 3, Metric::l2);
    const Matrix train = hard_rows(kind, Set::train, n, 3, Metric::l2);
    for (const std::vector<float>& weights : {std::vector<float>{}, samples}) {
      const Regressor regressor(device(), train, view(values, outputs), Metric::l2, {}, weights);
      for (const VotingOptions& voting : {VotingOptions{}, {.weights = Weights::distance}, by_rank}) {
        CAPTURE_ALL(workloads::name(kind), name(voting.weights), weights.size());
        Trace trace;
        const Regression found = regressor.regress(queries, k, voting, {.query_tile = 10}, &trace);
        CHECK(difference(found.neighbors, neighbors(Metric::l2, queries, train, k)) == "");
        Values expected;
        for (std::size_t q = 0; q < size(m); ++q)
          append_means(found.neighbors, q, k, voting, values, outputs, weights, expected);
        CHECK(double_bits(found.value) == double_bits(expected));
        CHECK(trace.seconds.count("average") == 1);
        const RadiusRegression all = regressor.regress_within(queries, std::vector{inf}, voting);
        CHECK(double_bits(all.value) == double_bits(regressor.predict(queries, n, voting)));
      }
    }
  }
}

TEST_CASE("regressor: refuses what the contract refuses") {
  const Matrix train = matrix(1, {1, 2});
  const auto refusal = [&](const Values& values, std::int64_t outputs, const std::vector<float>& weights) {
    return error_of([&] { Regressor(device(), train, view(values, outputs), Metric::l1, {}, weights); });
  };
  CHECK(refusal({1}, 1, {}) == "invalid_argument: regressor: 1 values for 2 training rows; give one a row");
  CHECK(error_of([&] { Regressor(device(), train, MatrixView<const double>(nullptr, 2, 0)); }) ==
        "invalid_argument: regressor: the values have no column; give at least one");
  CHECK(refusal({1, 2, 3, -std::numeric_limits<double>::infinity()}, 2, {}) ==
        "invalid_argument: regressor: the value of training row 1, output 1 is -inf; make every value "
        "finite, or leave the row out");
  CHECK(refusal({nan, 2}, 1, {}) ==
        "invalid_argument: regressor: the value of training row 0, output 0 is nan; make every value "
        "finite, or leave the row out");
  CHECK(refusal({1, 2}, 1, {1}) ==
        "invalid_argument: regressor: 1 sample weights for 2 training rows; give one a row");
  const Values values{1, 2};
  const Regressor regressor(device(), train, view(values), Metric::negative_dot);
  CHECK(error_of([&] { regressor.predict(train, 3); }) ==
        "invalid_argument: search: k = 3 is out of range for an index of 2 rows; choose k from 1 to 2");
  CHECK(error_of([&] { regressor.predict(train, 1, {.weights = Weights::distance}); }) ==
        "unsupported: regress: a vote cannot weigh 1 / distance where the metric is negative_dot, whose "
        "distances may be negative; choose other weights or another metric");
  CHECK(error_of([&] {
          regressor.regress_within(train, std::vector{0.0f}, {.weights = Weights::rank, .rank_weights = {1}});
        }) == "invalid_argument: regress_within: 1 rank weights for lists of 2 neighbours; give one a rank");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
