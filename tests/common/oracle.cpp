// Computes what oracle.hpp and subsets.hpp declare. Where sanitizers run, tests are compiled without
// optimisation but this file: most of the time of cases with many expected answers goes to it.
#include "common/oracle.hpp"

#include "common/subsets.hpp"

namespace kith::tests {
namespace {

/// Returns what sorted() does, but only the first `count` of it are in order.
std::vector<Candidate> nearest_of(std::span<const float> values, std::size_t begin, std::size_t end,
                                  std::uint32_t first_row, std::size_t count) {
  std::vector<Candidate> all;
  all.reserve(end - begin);
  for (std::size_t t = begin; t < end; ++t)
    if (!std::isnan(values[t]))
      all.emplace_back(values[t] == 0.0f ? 0.0f : values[t], first_row + static_cast<std::uint32_t>(t));
  const auto by = [](const Candidate& a, const Candidate& b) { return nearer(a, b); };
  if (count < all.size() / 8)
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(), by);
  else
    std::sort(all.begin(), all.end(), by);
  return all;
}

}  // namespace

float table_chain(Metric metric, std::span<const float> query, std::span<const float> row) {
  using std::fabs, std::fma, std::fmax;
  float acc = 0.0f;
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    acc = start;                                            \
    for (std::size_t d = 0; d < query.size(); ++d) {        \
      const float a = query[d], b = row[d];                 \
      acc = accumulate;                                     \
    }                                                       \
    break;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return acc;
}

float chain(Metric metric, std::span<const float> query, std::span<const float> row) {
  if (is_of_sums(metric)) return share_of_pair(metric, query, row);
  float s = 0.0f;
  for (std::size_t d = 0; d < query.size(); ++d) {
    const float t = query[d] - row[d];
    switch (metric) {
      case Metric::squared_l2:
      case Metric::l2:
      case Metric::cosine:
        s = std::fma(t, t, s);
        break;
      case Metric::l1:
        s = s + std::fabs(t);
        break;
      case Metric::linf:
        s = std::max(s, std::fabs(t));
        break;
      case Metric::negative_dot:
        s = std::fma(-query[d], row[d], s);
        break;
      case Metric::hamming: {
        const std::uint32_t a = std::bit_cast<std::uint32_t>(query[d]),
                            b = std::bit_cast<std::uint32_t>(row[d]);
        for (int bit = 0; bit < 32; ++bit) s = s + ((a >> bit & 1u) == (b >> bit & 1u) ? 0.0f : 1.0f);
        break;
      }
      default:
        return table_chain(metric, query, row);
    }
  }
  return s;
}

Matrix prepared(Metric metric, Matrix rows) {
  if (metric != Metric::cosine) return rows;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    float* row = rows.values.data() + r * rows.cols;
    double squares = 0;
    for (std::int64_t d = 0; d < rows.cols; ++d) squares += double{row[d]} * double{row[d]};
    const double norm = std::sqrt(squares);
    for (std::int64_t d = 0; d < rows.cols; ++d) row[d] = static_cast<float>(double{row[d]} / norm);
  }
  return rows;
}

std::vector<float> chains(Metric metric, const Matrix& queries, const Matrix& train) {
  const Matrix a = prepared(metric, queries), b = prepared(metric, train);
  std::vector<float> values;
  values.reserve(size(a.rows * b.rows));
  for (std::int64_t q = 0; q < a.rows; ++q)
    for (std::int64_t t = 0; t < b.rows; ++t) values.push_back(chain(metric, a.row(q), b.row(t)));
  return values;
}

std::vector<Candidate> sorted(std::span<const float> values, std::size_t begin, std::size_t end,
                              std::uint32_t first_row) {
  return nearest_of(values, begin, end, first_row, end - begin);
}

std::vector<Key> selected(std::span<const float> values, std::size_t n, std::size_t k, std::size_t parts,
                          std::uint32_t first_row) {
  std::vector<Key> lists;
  const std::size_t part = (n + parts - 1) / parts;
  for (std::size_t q = 0; q < values.size() / n; ++q)
    for (std::size_t g = 0; g < parts; ++g) {
      const auto list =
          sorted(values.subspan(q * n, n), std::min(n, g * part), std::min(n, (g + 1) * part), first_row);
      for (std::size_t j = 0; j < k; ++j) lists.push_back(j < list.size() ? key(list[j]) : no_key);
    }
  return lists;
}

std::vector<Key> merged(std::span<const Key> lists, std::size_t count, std::size_t k) {
  std::vector<Key> result;
  for (std::size_t row = 0; row < lists.size(); row += count * k) {
    std::vector<Key> all(lists.begin() + static_cast<std::ptrdiff_t>(row),
                         lists.begin() + static_cast<std::ptrdiff_t>(row + count * k));
    std::sort(all.begin(), all.end());
    result.insert(result.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return result;
}

Neighbors neighbors(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k) {
  Neighbors found{queries.rows, k, {}, {}};
  const std::vector<float> values = chains(metric, queries, train);
  const std::size_t n = size(train.rows);
  for (std::size_t q = 0; q < size(queries.rows); ++q) {
    const auto list = nearest_of(std::span(values).subspan(q * n, n), 0, n, 0, size(k));
    for (std::size_t j = 0; j < size(k); ++j) {
      found.distance.push_back(j < list.size() ? finished(metric, list[j].first) : inf);
      found.row.push_back(j < list.size() ? static_cast<std::int64_t>(list[j].second) : -1);
    }
  }
  return found;
}

// ---- Some of the rows -----------------------------------------------------------------------------

RowFilter filter_of(const Counts& counts, std::int64_t n, std::int64_t filters) {
  RowFilter filter(n, filters, false);
  for (std::int64_t q = 0; q < filters; ++q)
    for (std::int64_t t = 0; t < n; ++t)
      if (counts(q, t)) filter.set(t, true, q);
  return filter;
}

std::vector<Candidate> ranked(const std::vector<float>& values, std::int64_t n, std::int64_t q,
                              const Counts& counts) {
  std::vector<float> counted(values.begin() + q * n, values.begin() + (q + 1) * n);
  for (std::int64_t t = 0; t < n; ++t)
    if (!std::isnan(counted[size(t)]) && !counts(q, t))
      counted[size(t)] = std::numeric_limits<float>::quiet_NaN();
  return sorted(counted, 0, size(n));
}

Neighbors neighbors_among(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k,
                          const Counts& counts) {
  Neighbors found{queries.rows, k, {}, {}};
  const std::vector<float> values = chains(metric, queries, train);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const std::vector<Candidate> list = ranked(values, train.rows, q, counts);
    for (std::size_t j = 0; j < size(k); ++j) {
      found.distance.push_back(j < list.size() ? finished(metric, list[j].first) : inf);
      found.row.push_back(j < list.size() ? static_cast<std::int64_t>(list[j].second) : -1);
    }
  }
  return found;
}

RadiusNeighbors within(Metric metric, const Matrix& queries, const Matrix& train,
                       const std::vector<float>& radii, const Counts& counts) {
  RadiusNeighbors found{queries.rows, {0}, {}, {}};
  const std::vector<float> values = chains(metric, queries, train);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const float radius = radii.size() == 1 ? radii[0] : radii[size(q)];
    for (const Candidate& candidate : ranked(values, train.rows, q, counts)) {
      const float distance = finished(metric, candidate.first);
      if (distance > radius) continue;
      found.distance.push_back(distance);
      found.row.push_back(candidate.second);
    }
    found.first.push_back(static_cast<std::int64_t>(found.row.size()));
  }
  return found;
}

}  // namespace kith::tests
