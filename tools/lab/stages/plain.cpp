// The contract as directly as it can be written. Everything else is compared with this.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kith/key.hpp"
#include "lab/stages/operations.hpp"
#include "lab/stages/plain_classes.hpp"
#include "lab/workloads/cases.hpp"

namespace kith::workloads {
namespace {

using std::fabs;
using std::fma;
using std::fmax;
using std::sqrt;

constexpr bool none = false, unit_rows = true;  // the `prepare` column of metrics.def

bool divides_by_norm(Metric metric) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, fold, finish) \
  case Metric::id:                                    \
    return prepare;
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return false;
}

float chain(Metric metric, const float* query, const float* row, std::int64_t dims) {
  float acc = 0.0f;
  switch (metric) {
#define KITH_METRIC(id, prepare, start, fold, finish) \
  case Metric::id:                                    \
    acc = start;                                      \
    for (std::int64_t d = 0; d < dims; ++d) {         \
      const float a = query[d], b = row[d];           \
      acc = fold;                                     \
    }                                                 \
    break;
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return acc;
}

float finished(Metric metric, float acc) {
  switch (metric) {
#define KITH_METRIC(id, prepare, start, fold, finish) \
  case Metric::id:                                    \
    return finish;
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return acc;
}

void vote(const std::vector<std::int64_t>& labels, Answer& answer) {
  const std::int64_t m = answer.neighbors.queries, k = answer.neighbors.k;
  std::vector<std::int64_t> classes = labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  for (std::int64_t q = 0; q < m; ++q) {
    std::vector<std::uint32_t> counts(classes.size());
    for (std::int64_t j = 0; j < k; ++j) {
      const std::int64_t t = answer.neighbors.index[static_cast<std::size_t>(q * k + j)];
      const std::int64_t label = labels[static_cast<std::size_t>(t)];
      ++counts[static_cast<std::size_t>(std::find(classes.begin(), classes.end(), label) - classes.begin())];
    }
    const auto winner = std::max_element(counts.begin(), counts.end()) - counts.begin();
    answer.label.push_back(classes[static_cast<std::size_t>(winner)]);
    answer.votes.insert(answer.votes.end(), counts.begin(), counts.end());
  }
}

std::uint64_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// The k smallest of `keys`, padded.
void append_smallest(std::vector<std::uint64_t>& cells, std::vector<Key> keys, std::int64_t k) {
  std::sort(keys.begin(), keys.end());
  keys.resize(static_cast<std::size_t>(k), no_key);
  cells.insert(cells.end(), keys.begin(), keys.end());
}

void plain_lists(const Operation& o, const Operands& operands, StageResult& result) {
  const std::int64_t part = (o.n + o.groups - 1) / o.groups;
  for (std::int64_t q = 0; q < o.m; ++q)
    for (std::int64_t g = 0; g < o.groups; ++g) {
      std::vector<Key> keys;
      for (std::int64_t t = g * part; t < std::min(o.n, (g + 1) * part); ++t)
        keys.push_back(make_key(o.stage == Stage::select
                                    ? operands.distances(q, t)
                                    : chain(o.metric, operands.queries.row(q), operands.train.row(t), o.dims),
                                static_cast<std::uint32_t>(t)));
      append_smallest(result.cells, std::move(keys), o.k);
    }
}

void plain_candidates(const Operation& o, const Operands& operands, StageResult& result) {
  for (std::int64_t q = 0; q < o.m; ++q) {
    std::vector<std::uint64_t> rows;
    for (std::int64_t t = 0; t < o.n; ++t)
      if (operands.distances(q, t) <= operands.theta[static_cast<std::size_t>(q)])
        rows.push_back(static_cast<std::uint64_t>(t));
    result.cells.push_back(rows.size());
    if (rows.size() > static_cast<std::size_t>(o.capacity)) rows.clear();  // any of them are listed
    rows.resize(static_cast<std::size_t>(o.capacity), no_row);
    result.cells.insert(result.cells.end(), rows.begin(), rows.end());
  }
}

/// How many candidates are in the list of a query.
std::int64_t listed(const Operation& o, const Operands& operands, std::int64_t q) {
  return std::min<std::int64_t>(operands.counts[static_cast<std::size_t>(q)], o.capacity);
}

void plain_reranked(const Operation& o, const Operands& operands, StageResult& result) {
  for (std::int64_t q = 0; q < o.m; ++q)
    for (std::int64_t j = 0; j < o.capacity; ++j) {
      if (j >= listed(o, operands, q)) {
        result.cells.push_back(no_key);
        continue;
      }
      const std::uint32_t t = operands.candidates[static_cast<std::size_t>(q * o.capacity + j)];
      result.cells.push_back(
          make_key(chain(o.metric, operands.queries.row(q), operands.train.row(t), o.dims), t));
    }
}

void plain_tightened(const Operation& o, const Operands& operands, StageResult& result) {
  for (std::int64_t q = 0; q < o.m; ++q) {
    const auto best = operands.best.begin() + q * o.k, keys = operands.keys.begin() + q * o.capacity;
    std::vector<Key> all(best, best + o.k);
    all.insert(all.end(), keys, keys + listed(o, operands, q));
    append_smallest(result.cells, std::move(all), o.k);
    result.cells.push_back(bits_of(value_of(result.cells.back())));
    result.cells.push_back(operands.counts[static_cast<std::size_t>(q)] > o.capacity ? 1 : 0);
  }
}

}  // namespace

StageResult plain_result(const Operation& o, const Operands& operands) {
  StageResult result;
  result.content = StageResult::Content::keys;
  switch (o.stage) {
    case Stage::distance:
      result.content = StageResult::Content::values;
      result.cols = o.n;
      for (std::int64_t q = 0; q < o.m; ++q)
        for (std::int64_t t = 0; t < o.n; ++t)
          result.cells.push_back(
              bits_of(chain(o.metric, operands.queries.row(q), operands.train.row(t), o.dims)));
      break;
    case Stage::select:
    case Stage::nearest:
      result.cols = o.groups * o.k;
      plain_lists(o, operands, result);
      break;
    case Stage::merge:
      result.cols = o.k;
      for (std::int64_t q = 0; q < o.m; ++q) {
        const auto row = operands.lists.begin() + q * o.groups * o.k;
        append_smallest(result.cells, std::vector<Key>(row, row + o.groups * o.k), o.k);
      }
      break;
    case Stage::collect:
      result.content = StageResult::Content::counts;
      result.cols = 1 + o.capacity;
      plain_candidates(o, operands, result);
      break;
    case Stage::rerank:
      result.cols = o.capacity;
      plain_reranked(o, operands, result);
      break;
    case Stage::tighten:
      result.content = StageResult::Content::bounds;
      result.cols = o.k + 2;
      plain_tightened(o, operands, result);
      break;
    case Stage::vote:
      result.content = StageResult::Content::counts;
      result.cols = 1 + o.classes;
      plain_votes(o, operands, result);
      break;
    case Stage::mask:
      result.content = StageResult::Content::values;
      result.cols = o.n;
      plain_masked(o, operands, result);
      break;
    case Stage::tally:
      result.content = StageResult::Content::values;
      result.cols = o.classes;
      plain_tallied(o, operands, result);
      break;
    case Stage::accumulate:
      result.content = StageResult::Content::values;
      result.cols = 3 * o.classes;
      plain_accumulated(o, operands, result);
      break;
  }
  return result;
}

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

Answer plain_answer(Metric metric, MatrixView<const float> train, MatrixView<const float> queries,
                    std::int64_t k, const std::vector<std::int64_t>* labels) {
  Rows rows = prepared_rows(metric, train), asked = prepared_rows(metric, queries);
  Answer answer;
  answer.neighbors.queries = queries.rows();
  answer.neighbors.k = k;
  std::vector<Key> keys(static_cast<std::size_t>(rows.rows()));
  for (std::int64_t q = 0; q < queries.rows(); ++q) {
    for (std::int64_t t = 0; t < rows.rows(); ++t)
      keys[static_cast<std::size_t>(t)] =
          make_key(chain(metric, asked.row(q), rows.row(t), rows.dims()), static_cast<std::uint32_t>(t));
    std::sort(keys.begin(), keys.end());
    for (std::int64_t j = 0; j < k; ++j) {
      const Key key = keys[static_cast<std::size_t>(j)];
      answer.neighbors.distance.push_back(finished(metric, value_of(key)));
      answer.neighbors.index.push_back(row_of(key));
    }
  }
  if (labels) vote(*labels, answer);
  return answer;
}

Answer plain_answer(const Case& c) {
  const Rows train = make_rows(c.data, c.seed, Set::train, c.n, c.dims, c.metric);
  const Rows queries = make_rows(c.data, c.seed, Set::queries, c.m, c.dims, c.metric);
  const std::vector<std::int64_t> labels = make_labels(c.seed, c.n, c.classes);
  return plain_answer(c.metric, train.view(), queries.view(), c.k, c.classes ? &labels : nullptr);
}

}  // namespace kith::workloads
