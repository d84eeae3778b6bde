// Computes whole searches and classifications as the contract defines them: by two plain stages, and by
// metrics.def for the steps before and after them.
#include <algorithm>
#include <cmath>

#include "kith/key.hpp"
#include "workloads/cases.hpp"
#include "workloads/operand_chain.hpp"

namespace kith::workloads {
namespace {

using std::sqrt;

constexpr bool none = false, unit_rows = true;  // the `prepare` column of metrics.def

bool divides_by_norm(Metric metric) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return prepare;
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return false;
}

float finished(Metric metric, float acc) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return finish;
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return acc;
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
  Operation operation{.stage = Stage::nearest,
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
  if (!labels) return answer;
  const RankedLabels ranked(*labels);
  operation.stage = Stage::vote;
  operation.classes = static_cast<std::int64_t>(ranked.classes.size());
  operands.labels = ranked.labels;
  operands.nearest = nearest.cells;
  const StageResult votes = plain_result(operation, operands);
  for (std::size_t at = 0; at < votes.cells.size(); ++at) {
    const bool counts = at % static_cast<std::size_t>(votes.cols) != 0;
    if (counts)
      answer.votes.push_back(static_cast<std::uint32_t>(votes.cells[at]));
    else
      answer.label.push_back(ranked.classes[votes.cells[at]]);
  }
  return answer;
}

Answer plain_answer(const Case& c) {
  const Rows train = case_rows(c, Set::train), queries = case_rows(c, Set::queries);
  const std::vector<std::int64_t> labels = make_labels(c.seed, c.n, c.classes);
  return plain_answer(c.metric, train.view(), queries.view(), c.k, c.classes ? &labels : nullptr);
}

}  // namespace kith::workloads
