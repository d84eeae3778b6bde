// Computes whole searches and classifications as the contract defines them: by two plain stages, and by
// metrics.def for the steps before and after them.
#include <algorithm>
#include <cmath>

#include "kith/key.hpp"
#include "workloads/cases.hpp"
#include "workloads/operand_chain.hpp"

namespace kith::workloads {
namespace {

using std::fabs, std::fma, std::fmax, std::sqrt;

constexpr bool none = false, unit_rows = true;  // the `prepare` column of metrics.def

bool divides_by_norm(Metric metric) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return prepare;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return false;
}

/// Returns the distance of an accumulator, float or double.
template <class Real>
Real finished(Metric metric, Real acc) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return finish;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return acc;
}

/// Completes metrics.def for doubles, which hold no bits.
double bits_apart(double, double) {
  return 0;
}

/// Returns the chain of a query and a training row.
double chain_of(Metric metric, const double* query, const double* row, std::size_t dims) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id: {                                        \
    double acc = start;                                     \
    for (std::size_t d = 0; d < dims; ++d) {                \
      const double a = query[d], b = row[d];                \
      acc = accumulate;                                     \
    }                                                       \
    return acc;                                             \
  }
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return 0;
}

/// Returns rows as their chains read them: for cosine each is multiplied by a power of two, so that its
/// largest magnitude is in [1, 2), and then divided by its norm.
std::vector<double> prepared_doubles(Metric metric, MatrixView<const double> rows) {
  std::vector<double> prepared;
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    std::vector<double> row(rows.row(r), rows.row(r) + rows.cols());
    double largest = 0, sum = 0;
    for (const double value : row) largest = std::max(largest, std::fabs(value));
    for (double& value : row) {
      if (!divides_by_norm(metric)) break;
      value = std::ldexp(value, -std::ilogb(largest));
      sum += value * value;
    }
    for (const double value : row) prepared.push_back(sum > 0 ? value / std::sqrt(sum) : value);
  }
  return prepared;
}

/// Adds the labels that the k nearest of each query vote for, and their counts.
///   nearest  [m, k], of which the rows count
void add_votes(Operation operation, const std::vector<Key>& nearest, const std::vector<std::int64_t>& labels,
               Answer& answer) {
  const RankedLabels ranked(labels);
  operation.stage = Stage::vote;
  operation.classes = static_cast<std::int64_t>(ranked.classes.size());
  Operands operands;
  operands.labels = ranked.labels;
  operands.nearest = nearest;
  const StageResult votes = plain_result(operation, operands);
  for (std::size_t at = 0; at < votes.cells.size(); ++at) {
    const bool counts = at % static_cast<std::size_t>(votes.cols) != 0;
    if (counts)
      answer.votes.push_back(static_cast<std::uint32_t>(votes.cells[at]));
    else
      answer.label.push_back(ranked.classes[votes.cells[at]]);
  }
}

}  // namespace

Rows prepared_rows(Metric metric, MatrixView<const float> rows) {
  Rows prepared(rows.rows(), rows.cols());
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    const float* from = rows.row(r);
    float* to = prepared.row(r);
    std::copy(from, from + rows.cols(), to);
    if (!divides_by_norm(metric)) continue;
    double sum = 0;
    for (std::int64_t d = 0; d < rows.cols(); ++d) sum += static_cast<double>(from[d]) * from[d];
    const double norm = std::sqrt(sum);
    for (std::int64_t d = 0; d < rows.cols(); ++d) to[d] = static_cast<float>(from[d] / norm);
  }
  return prepared;
}

Rows spread_rows(MatrixView<const float> all, std::int64_t count) {
  Rows some(count, all.cols());
  for (std::int64_t i = 0; i < count; ++i)
    std::copy_n(all.row(spread_row(i, count, all.rows())), all.cols(), some.row(i));
  return some;
}

Answer plain_answer(Metric metric, MatrixView<const float> train, MatrixView<const float> queries,
                    std::int64_t k, const std::vector<std::int64_t>* labels) {
  const Rows rows = prepared_rows(metric, train), asked = prepared_rows(metric, queries);
  const Operation operation{.stage = Stage::nearest,
                            .metric = metric,
                            .n = train.rows(),
                            .m = queries.rows(),
                            .dims = train.cols(),
                            .k = k};
  Operands operands;
  operands.train = rows.view();
  operands.queries = asked.view();
  const StageResult nearest = plain_result(operation, operands);
  Answer answer{{queries.rows(), k, {}, {}}, {}, {}};
  for (const Key key : nearest.cells) {
    answer.neighbors.distance.push_back(finished(metric, value_of(key)));
    answer.neighbors.row.push_back(row_of(key));
  }
  if (labels) add_votes(operation, nearest.cells, *labels, answer);
  return answer;
}

Answer plain_answer(Metric metric, MatrixView<const double> train, MatrixView<const double> queries,
                    std::int64_t k, const std::vector<std::int64_t>* labels) {
  const std::vector<double> rows = prepared_doubles(metric, train), asked = prepared_doubles(metric, queries);
  const auto dims = static_cast<std::size_t>(train.cols());
  Answer answer{{queries.rows(), k, {}, {}}, {}, {}};
  answer.neighbors.arithmetic = Arithmetic::f64;
  std::vector<Key> nearest;
  for (std::size_t q = 0; q < static_cast<std::size_t>(queries.rows()); ++q) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> all;
    for (std::size_t t = 0; t < static_cast<std::size_t>(train.rows()); ++t)
      all.emplace_back(ordered(chain_of(metric, &asked[q * dims], &rows[t * dims], dims)), t);
    std::partial_sort(all.begin(), all.begin() + k, all.end());
    for (std::int64_t j = 0; j < k; ++j) {
      const auto [value, row] = all[static_cast<std::size_t>(j)];
      answer.neighbors.distance64.push_back(finished(metric, unordered_double(value)));
      answer.neighbors.row.push_back(row);
      nearest.push_back(make_key(static_cast<float>(j), static_cast<std::uint32_t>(row)));
    }
  }
  const Operation operation{
      .metric = metric, .n = train.rows(), .m = queries.rows(), .dims = train.cols(), .k = k};
  if (labels) add_votes(operation, nearest, *labels, answer);
  return answer;
}

Answer plain_answer(const Case& c) {
  const Rows train = case_rows(c, Set::train), queries = case_rows(c, Set::queries);
  const std::vector<std::int64_t> labels = make_labels(c.seed, c.n, c.classes);
  return plain_answer(c.metric, train.view(), queries.view(), c.k, c.classes ? &labels : nullptr);
}

}  // namespace kith::workloads
