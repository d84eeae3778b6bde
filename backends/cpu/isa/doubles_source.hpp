// Computes chains in double precision; kernels_source.hpp includes this. The same restrictions hold as there.
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// A double for the table of metrics: fma, fabs and fmax are functions of this type here, as they are of
/// Lanes.
struct Double {
  double value;
  constexpr Double(double of) : value(of) {}
  friend Double operator+(Double a, Double b) { return a.value + b.value; }
  friend Double operator-(Double a, Double b) { return a.value - b.value; }
  friend Double operator*(Double a, Double b) { return a.value * b.value; }
  friend Double operator-(Double a) { return -a.value; }
};

inline Double fma(Double a, Double b, Double c) {
  return __builtin_fma(a.value, b.value, c.value);
}
inline Double fabs(Double a) {
  return __builtin_fabs(a.value);
}
inline Double fmax(Double a, Double b) {
  return a.value > b.value ? a : b;
}
inline Double fmin(Double a, Double b) {  // b if either is NaN
  return a.value < b.value ? a : b;
}
inline Double above_0(Double a) {
  return a.value > 0 ? 1.0 : a.value;
}
inline Double root(Double a) {
  return __builtin_sqrt(a.value);
}
inline Double quotient(Double a, Double b) {
  return b.value == 0 ? 0.0 : a.value / b.value;
}
/// Completes the table: rows of doubles hold no bits.
inline Double bits_apart(Double, Double) {
  return 0.0;
}

/// The chain of one metric: DoubleChain<metric>::first and DoubleChain<metric>::next(acc, a, b).
template <Metric metric>
struct DoubleChain;
#define KITH_METRIC(id, prepare, start, accumulate, finish)                   \
  template <>                                                                 \
  struct DoubleChain<Metric::id> {                                            \
    static constexpr double first = start;                                    \
    static Double next(Double acc, Double a, Double b) { return accumulate; } \
  };
#define KITH_PERIODIC(term)                                        \
  inline Double periodic(Double near, Double far, Double length) { \
    return term;                                                   \
  }
#define KITH_CATEGORY(term)             \
  inline Double category(Double near) { \
    return term;                        \
  }
#define KITH_CANBERRA(code, term)              \
  inline Double canberra(Double a, Double b) { \
    return term;                               \
  }
#include "kith/metrics.def"
#undef KITH_CANBERRA
#undef KITH_CATEGORY
#undef KITH_PERIODIC
#undef KITH_METRIC

inline Double power(Double near, int halves) {
  switch (halves) {
#include "kith/spi/power_cases.def"
  }
}

/// Returns the term of a pair of values, which does not follow from their difference alone, or that of their
/// difference.
template <Terms kind>
inline Double term_of(Double a, Double b, double p) {
  if (kind == Terms::mixed && p == static_cast<double>(canberra_term)) return canberra(a, b);
  const Double near = fabs(a - b);
  if (kind == Terms::periodic || p > 0) return periodic(near, near, p);
  return p == 0 ? category(near) : power(near, static_cast<int>(-p));
}

/// Returns the chain after column d of a query and a row.
///   terms  parameters of columns; not read if chains take differences
template <Metric metric, Terms kind>
inline Double next_double(Double acc, Double a, Double b, const double* terms, std::size_t d) {
  if constexpr (kind == Terms::differences) return DoubleChain<metric>::next(acc, a, b);
  return DoubleChain<metric>::next(acc, term_of<kind>(a, b, terms[d]), 0.0);
}

/// The number of chains that a processor works at together: it begins two steps a cycle, and waits four
/// cycles for each.
constexpr std::size_t double_chains_at_once = 8;

/// Computes the chains of `count` rows, at most double_chains_at_once.
template <Metric metric, Terms kind>
void some_double_chains(const DoubleCandidates& c, const double* const* rows, std::size_t count,
                        double* const* out) {
  const double* row[double_chains_at_once];
  Double acc[double_chains_at_once] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < double_chains_at_once; ++i) {
    row[i] = rows[i < count ? i : 0];
    acc[i] = DoubleChain<metric>::first;
  }
  for (std::size_t d = 0; d < c.dims; ++d) {
    const Double value = c.query[d];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < double_chains_at_once; ++i)
      acc[i] = next_double<metric, kind>(acc[i], value, row[i][d], c.terms, d);
  }
  for (std::size_t i = 0; i < count; ++i) *out[i] = acc[i].value;
}

template <Metric metric, Terms kind>
void double_chains_of(const DoubleCandidates& c, double* values) {
  const double* rows[double_chains_at_once];
  double* out[double_chains_at_once];
  std::size_t found = 0;
  for (std::size_t j = 0; j < c.count; ++j) {
    const std::uint32_t row = c.rows[j] - c.first_row;
    if (row >= c.train_rows) continue;
    rows[found] = c.train + row * c.stride;
    out[found++] = values + j;
    if (found < double_chains_at_once) continue;
    some_double_chains<metric, kind>(c, rows, found, out);
    found = 0;
  }
  if (found > 0) some_double_chains<metric, kind>(c, rows, found, out);
}

template <Metric metric>
void double_chains_by(const DoubleCandidates& c, double* values) {
  if constexpr (takes_mixed_terms(metric))
    if (c.mixed) return double_chains_of<metric, Terms::mixed>(c, values);
  if constexpr (takes_box(metric))
    if (c.terms) return double_chains_of<metric, Terms::periodic>(c, values);
  double_chains_of<metric, Terms::differences>(c, values);
}

void double_chains(const DoubleCandidates& c, double* values) {
  switch (c.metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    double_chains_by<Metric::id>(c, values);                \
    return;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
}

/// Rows whose chains a query accumulates together, as many as compilers keep in vector registers, and
/// columns of them that are copied at a time.
constexpr std::size_t rows_together = 32, columns_together = 128;

/// Some rows of a list, column by column.
struct RowsTogether {
  const double* row[rows_together];
  std::size_t place[rows_together];  ///< in the list
  std::size_t count = 0;
  double columns[columns_together][rows_together];

  /// Copies columns d0 ... d0 + width - 1. What is behind the rows repeats the first.
  void copy(std::size_t d0, std::size_t width) {
    for (std::size_t d = 0; d < width; ++d)
      for (std::size_t i = 0; i < rows_together; ++i) columns[d][i] = row[i < count ? i : 0][d0 + d];
  }
};

/// Continues the chains of a query by the copied columns.
///   first  whether they begin here; else `values` has them so far
///   query, terms  from the first of these columns on
template <Metric metric, Terms kind>
void continue_chains(const RowsTogether& rows, const double* query, const double* terms, std::size_t width,
                     bool first, double* values) {
  double acc[rows_together];
  for (std::size_t i = 0; i < rows_together; ++i)
    acc[i] = first || i >= rows.count ? DoubleChain<metric>::first : values[rows.place[i]];
  for (std::size_t d = 0; d < width; ++d) {
    const Double value = query[d];
    for (std::size_t i = 0; i < rows_together; ++i)
      acc[i] = next_double<metric, kind>(acc[i], value, rows.columns[d][i], terms, d).value;
  }
  for (std::size_t i = 0; i < rows.count; ++i) values[rows.place[i]] = acc[i];
}

template <Metric metric, Terms kind>
void shared_chains_of(const DoubleCandidates& c, std::size_t queries, std::size_t query_stride,
                      double* values, std::size_t stride) {
  RowsTogether rows;
  for (std::size_t j = 0; j < c.count;) {
    for (rows.count = 0; j < c.count && rows.count < rows_together; ++j) {
      const std::uint32_t row = c.rows[j] - c.first_row;
      if (row >= c.train_rows) continue;
      rows.row[rows.count] = c.train + row * c.stride;
      rows.place[rows.count++] = j;
    }
    if (rows.count == 0) return;
    for (std::size_t d = 0; d < c.dims; d += columns_together) {
      const std::size_t width = c.dims - d < columns_together ? c.dims - d : columns_together;
      rows.copy(d, width);
      for (std::size_t q = 0; q < queries; ++q)
        continue_chains<metric, kind>(rows, c.query + q * query_stride + d,
                                      kind == Terms::differences ? nullptr : c.terms + d, width, d == 0,
                                      values + q * stride);
    }
  }
}

template <Metric metric>
void shared_chains_by(const DoubleCandidates& c, std::size_t queries, std::size_t query_stride,
                      double* values, std::size_t stride) {
  if constexpr (takes_mixed_terms(metric))
    if (c.mixed) return shared_chains_of<metric, Terms::mixed>(c, queries, query_stride, values, stride);
  if constexpr (takes_box(metric))
    if (c.terms) return shared_chains_of<metric, Terms::periodic>(c, queries, query_stride, values, stride);
  shared_chains_of<metric, Terms::differences>(c, queries, query_stride, values, stride);
}

void shared_double_chains(const DoubleCandidates& c, std::size_t queries, std::size_t query_stride,
                          double* values, std::size_t stride) {
  switch (c.metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish)                 \
  case Metric::id:                                                          \
    shared_chains_by<Metric::id>(c, queries, query_stride, values, stride); \
    return;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
