// Helps tests of docs/certificate.md: a problem, its quantized rows, and the test that collect applies to
// each row, computed in long double.
#pragma once

#include "common/quantized/quantized_rows.hpp"

namespace kith::tests::certifying {

/// Holds a problem within the range of the certificate, with its exact products and the values of its chains.
struct Problem {
  Metric metric;
  Matrix queries, train;
  std::vector<float> centre, values;  ///< [dims]; [m, n] chains
  std::vector<Real> products;         ///< [m, n] q' . x'

  Problem(Metric of, Matrix asked, Matrix rows, std::vector<float> moved_by)
      : metric(of), queries(std::move(asked)), train(std::move(rows)), centre(std::move(moved_by)) {
    for (std::int64_t q = 0; q < queries.rows; ++q)
      for (std::int64_t t = 0; t < train.rows; ++t) {
        Real sum = 0;
        for (std::size_t d = 0; d < centre.size(); ++d) sum += moved(queries, q, d) * moved(train, t, d);
        products.push_back(sum);
        values.push_back(chain(metric, queries.row(q), train.row(t)));
      }
  }

  /// Makes hard data, with the mean of the training rows as centre, or 0.
  static Problem hard(DataKind kind, Metric metric, std::int64_t m, std::int64_t n, std::int64_t dims,
                      bool centred) {
    const Matrix queries = prepared(metric, hard_rows(kind, Set::queries, m, dims, metric));
    const Matrix train = prepared(metric, hard_rows(kind, Set::train, n, dims, metric));
    Matrix all = queries;  // scales both by the same power of two
    all.rows += n;
    all.values.insert(all.values.end(), train.values.begin(), train.values.end());
    all = within_range(all);
    const auto middle = all.values.begin() + m * dims;
    const Matrix scaled{n, dims, {middle, all.values.end()}};
    const bool moves = centred && (metric == Metric::squared_l2 || metric == Metric::l2);
    return {metric,
            {m, dims, {all.values.begin(), middle}},
            scaled,
            moves ? mean_of(scaled) : std::vector<float>(size(dims))};
  }

  std::size_t m() const { return size(queries.rows); }
  std::size_t n() const { return size(train.rows); }
  /// Returns the k-th smallest value of a query.
  float worst(std::size_t q, std::size_t k) const {
    return sorted(std::span(values).subspan(q * n(), n()), 0, n())[k - 1].first;
  }

 private:
  Real moved(const Matrix& rows, std::int64_t r, std::size_t d) const {
    const float x = rows.row(r)[d], c = centre[d];
    return Real{x - c} + error_of_difference(x, c);
  }
};

/// Holds what a device prepares for a problem: quantized rows, and the thresholds that follow from the true
/// k-th values.
struct Prepared {
  GuardedQuantizedRows queries, train;
  GuardedGrid<float> threshold;
  std::vector<float> query_terms, train_terms, bounds;

  Prepared(spi::Device& device, const Problem& problem, std::uint32_t k)
      : queries(device, problem.queries, problem.centre, device.info.query_block, 2, problem.train),
        train(device, problem.train, problem.centre, device.info.train_block, 5, problem.queries),
        threshold(device, problem.m(), 1, inf) {
    REQUIRE(queries.prepare(device) == "");
    REQUIRE(train.prepare(device) == "");
    const std::size_t m = problem.m();
    std::vector<Key> best;
    for (std::size_t q = 0; q < m; ++q) {
      for (std::uint32_t j = 0; j + 1 < k; ++j) best.push_back(make_key(-inf, j));
      best.push_back(make_key(problem.worst(q, k), k));
    }
    const GuardedGrid<Key> keys(device, m, 1, 0), lists(device, m, k, 0, best);
    const GuardedGrid<std::uint32_t> counts(device, m, 1, 1, std::vector<std::uint32_t>(m)),
        lost(device, m, 1, 0);
    REQUIRE(run_step(device, spi::TightenStep{Proposer::gemm,
                                              problem.metric,
                                              static_cast<std::uint32_t>(problem.train.cols),
                                              k,
                                              keys.grid(),
                                              counts.grid(),
                                              lists.grid(),
                                              queries.row_terms.grid(),
                                              threshold.grid(),
                                              lost.grid(),
                                              {}}) == "");
    query_terms = queries.row_terms.inside();
    train_terms = train.row_terms.inside();
    bounds = threshold.inside();
  }
};

/// Repeats the test of collect in long double, and measures how much of the error bound was needed.
struct Judge {
  const Problem& problem;
  const Prepared& prepared;
  Certificate certificate{problem.centre.size(), problem.metric};
  Certificate::Queries all = {};

  Judge(const Problem& of, const Prepared& by) : problem(of), prepared(by) {
    const auto& row_terms = prepared.query_terms;
    const std::size_t m = problem.m();
    for (std::size_t q = 0; q < m; ++q)
      certificate.add(all, row_terms[spi::norm * m + q], row_terms[spi::quantized_norm * m + q],
                      row_terms[spi::residual * m + q]);
  }

  float row_term(spi::RowTerm which, std::size_t t) const {
    return prepared.train_terms[which * problem.n() + t];
  }
  Real error(std::size_t t) const {
    return certificate.error(all, row_term(spi::quantized_norm, t), row_term(spi::residual, t));
  }
  /// Returns low(t) before rounding, with the error bound multiplied by `share`.
  Real low(std::size_t t, Real share) const {
    return (certificate.squares ? row_term(spi::half_norm, t) : 0) - error(t) * share;
  }
  /// Returns whether collect must keep row t if the device's product is p.
  bool keeps(std::size_t q, std::size_t t, float p, Real share = 1) const {
    const Real exact = low(t, share * (1 + 0x1p-20L)), lowered = exact - std::fabs(exact) * 0x1p-22L;
    const float rounded = static_cast<float>(lowered);
    return (rounded > lowered ? std::nextafter(rounded, -inf) : rounded) - p <= prepared.bounds[q];
  }
  /// Returns the largest |q' . x' - p| / E; it must not exceed 1.
  Real needed(const std::vector<float>& products) const {
    Real most = 0;
    for (std::size_t i = 0; i < products.size(); ++i)
      most = std::max(most, std::fabs(problem.products[i] - products[i]) / error(i % problem.n()));
    return most;
  }
  /// Returns how many of the k nearest rows, ties included, are lost if the error bound is multiplied
  /// by `share`.
  std::size_t lost(const std::vector<float>& products, std::uint32_t k, Real share = 1) const {
    std::size_t count = 0;
    for (std::size_t q = 0; q < problem.m(); ++q) {
      const float worst = problem.worst(q, k);
      for (std::size_t t = 0; t < problem.n(); ++t) {
        const std::size_t i = q * problem.n() + t;
        count += problem.values[i] <= worst && !keeps(q, t, products[i], share);
      }
    }
    return count;
  }
};

}  // namespace kith::tests::certifying
