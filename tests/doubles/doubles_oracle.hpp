// What a search in double precision must return, written from docs/contract.md alone.
#pragma once

#include <random>

#include "common/device.hpp"
#include "kith/index.hpp"

namespace kith::tests {

/// Rows of doubles.
struct DoubleMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> values;

  MatrixView<const double> view() const { return {values.data(), rows, cols}; }
  operator RowsView() const { return RowsView(view()); }
  std::vector<double> row(std::int64_t r) const {
    return {values.begin() + r * cols, values.begin() + (r + 1) * cols};
  }
};

/// Returns the rows as they are compared by `metric`.
inline DoubleMatrix prepared_by_oracle(Metric metric, DoubleMatrix rows) {
  if (metric != Metric::cosine) return rows;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    double* const row = rows.values.data() + r * rows.cols;
    double largest = 0, sum = 0;
    for (std::int64_t d = 0; d < rows.cols; ++d) largest = std::max(largest, std::abs(row[d]));
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest = 0.5 ... 1 times 2^exponent
    for (std::int64_t d = 0; d < rows.cols; ++d) {
      row[d] = std::ldexp(row[d], 1 - exponent);
      sum = sum + row[d] * row[d];
    }
    for (std::int64_t d = 0; d < rows.cols; ++d) row[d] = row[d] / std::sqrt(sum);
  }
  return rows;
}

inline double chain_by_oracle(Metric metric, const double* a, const double* b, std::int64_t dims) {
  double s = 0;
  for (std::int64_t d = 0; d < dims; ++d) {
    const double gap = a[d] - b[d];
    if (metric == Metric::l1)
      s = s + std::abs(gap);
    else if (metric == Metric::linf)
      s = std::max(s, std::abs(gap));
    else if (metric == Metric::negative_dot)
      s = std::fma(-a[d], b[d], s);
    else
      s = std::fma(gap, gap, s);
  }
  return s == 0 ? 0.0 : s;
}

inline double shown_by_oracle(Metric metric, double s) {
  if (metric == Metric::l2) return std::sqrt(s);
  return metric == Metric::cosine ? s / 2 : s;
}

/// Names all pairs for all_by_oracle().
inline constexpr auto every_row = [](std::int64_t, std::int64_t) { return true; };

/// A training row with its raw value, in the order of the contract.
struct OracleRow {
  double value;
  std::int64_t row;
  bool operator<(const OracleRow& other) const {
    return value < other.value || (value == other.value && row < other.row);
  }
};

/// Returns all rows that `counts(query, row)` names, for each query: nearest first.
template <class Counts>
std::vector<std::vector<OracleRow>> all_by_oracle(Metric metric, const DoubleMatrix& train,
                                                  const DoubleMatrix& queries, const Counts& counts) {
  const DoubleMatrix rows = prepared_by_oracle(metric, train), asked = prepared_by_oracle(metric, queries);
  std::vector<std::vector<OracleRow>> all(static_cast<std::size_t>(queries.rows));
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    auto& list = all[static_cast<std::size_t>(q)];
    for (std::int64_t t = 0; t < train.rows; ++t)
      if (counts(q, t))
        list.push_back({chain_by_oracle(metric, asked.values.data() + q * asked.cols,
                                        rows.values.data() + t * rows.cols, rows.cols),
                        t});
    std::sort(list.begin(), list.end());
  }
  return all;
}

inline Neighbors nearest_by_oracle(Metric metric, const std::vector<std::vector<OracleRow>>& all,
                                   std::int64_t k) {
  Neighbors found;
  found.queries = static_cast<std::int64_t>(all.size());
  found.k = k;
  found.arithmetic = Arithmetic::f64;
  for (const std::vector<OracleRow>& list : all)
    for (std::int64_t j = 0; j < k; ++j) {
      const bool there = j < static_cast<std::int64_t>(list.size());
      const OracleRow one = there ? list[static_cast<std::size_t>(j)] : OracleRow{0, -1};
      found.distance64.push_back(there ? shown_by_oracle(metric, one.value)
                                       : std::numeric_limits<double>::infinity());
      found.row.push_back(one.row);
    }
  return found;
}

inline RadiusNeighbors within_by_oracle(Metric metric, const std::vector<std::vector<OracleRow>>& all,
                                        const std::vector<double>& radii) {
  RadiusNeighbors found;
  found.queries = static_cast<std::int64_t>(all.size());
  found.first = {0};
  found.arithmetic = Arithmetic::f64;
  for (std::size_t q = 0; q < all.size(); ++q) {
    for (const OracleRow& one : all[q]) {
      if (!(shown_by_oracle(metric, one.value) <= radii[radii.size() == 1 ? 0 : q])) continue;
      found.distance64.push_back(shown_by_oracle(metric, one.value));
      found.row.push_back(one.row);
    }
    found.first.push_back(static_cast<std::int64_t>(found.row.size()));
  }
  return found;
}

/// Kinds of data on which double precision differs from single, or on which a proof may fail.
enum class DoubleData {
  normal,        ///< of a normal distribution
  map,           ///< coordinates in metres, far from 0
  seconds,       ///< unix times of one day, beside other values
  grid,          ///< whole numbers, with many equal distances
  one_ulp,       ///< rows that differ by units in the last place of a double
  float_ulp,     ///< rows whose differences are below the last place of a float
  huge,          ///< beyond the range of float
  tiny,          ///< subnormal as floats, not as doubles
  subnormal,     ///< subnormal as doubles
  mixed_scales,  ///< columns and rows of very different magnitude
  equal,         ///< few different rows
  outlier        ///< a normal distribution, and some rows far away
};
inline constexpr std::array all_double_data = {
    DoubleData::normal,    DoubleData::map,          DoubleData::seconds, DoubleData::grid,
    DoubleData::one_ulp,   DoubleData::float_ulp,    DoubleData::huge,    DoubleData::tiny,
    DoubleData::subnormal, DoubleData::mixed_scales, DoubleData::equal,   DoubleData::outlier};

inline double double_of(DoubleData kind, std::int64_t column, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto whole = [&](int most) { return static_cast<double>(random() % static_cast<unsigned>(most)); };
  switch (kind) {
    case DoubleData::normal:
      return normal(random);
    case DoubleData::map:
      return (column % 2 == 0 ? 691000.0 : 5334000.0) + whole(500000) / 1000;
    case DoubleData::seconds:
      return column == 0 ? 1700000000.0 + whole(86400) : normal(random);
    case DoubleData::grid:
      return whole(4) + 1;
    case DoubleData::one_ulp:
      return 1 + whole(8) * 0x1p-52;
    case DoubleData::float_ulp:
      return 1 + whole(1 << 20) * 0x1p-50;
    case DoubleData::huge:
      return normal(random) * 1e150;
    case DoubleData::tiny:
      return normal(random) * 1e-60;
    case DoubleData::subnormal:
      return whole(100) * 0x1p-1074;
    case DoubleData::mixed_scales:
      return normal(random) * std::ldexp(1.0, static_cast<int>(random() % 80) - 40);
    case DoubleData::equal:
      return 0.1 * (1 + whole(2));
    case DoubleData::outlier:
      return random() % 64 == 0 ? -99999.0 : normal(random);
  }
  return 0;
}

inline DoubleMatrix double_rows(DoubleData kind, std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  DoubleMatrix made{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i) made.values.push_back(double_of(kind, i % cols, random));
  for (std::int64_t r = 0; r < rows; ++r)  // no row of zeros, which cosine refuses
    if (made.values[static_cast<std::size_t>(r * cols)] == 0)
      made.values[static_cast<std::size_t>(r * cols)] = kind == DoubleData::subnormal ? 0x1p-1074 : 1;
  return made;
}

}  // namespace kith::tests
