// Tests the bounds of projections and what they are made of: docs/certificate.md, section 10.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/rows_of_directions.hpp"
#include "common/test.hpp"
#include "search/projected/projection.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_projection_bounds {
namespace {

/// Sums as no kernel does, from the last column to the first.
float sum_backwards(const float* a, const float* b, std::int64_t count) {
  float sum = 0;
  for (std::int64_t d = count - 1; d >= 0; --d) {
    const float apart = a[d] - b[d];
    sum += apart * apart;
  }
  return sum;
}

/// Checks all pairs. Returns the largest share of a bound that is beyond the chain.
double check_bounds(const Matrix& train, const Matrix& queries) {
  const std::int64_t cols = train.cols;
  std::vector<float> centre(size(cols));
  for (std::int64_t d = 0; d < cols; ++d) {
    double sum = 0;
    for (std::int64_t r = 0; r < train.rows; ++r) sum += static_cast<double>(train.row(r)[size(d)]);
    centre[size(d)] = static_cast<float>(sum / static_cast<double>(train.rows));
  }
  const MatrixView<const float> sample = MatrixView<const float>(train).slice(0, train.rows * 3 / 4);
  const Projection projection(centre, directions_of(sample, centre, 1));
  const Projected rows = projection.project(train, 1), asked = projection.project(queries, 1);
  double widest = 0;
  for (std::int64_t q = 0; q < queries.rows; ++q)
    for (std::int64_t t = 0; t < train.rows; ++t) {
      const float value = chain(Metric::squared_l2, queries.row(q), train.row(t));
      if (!std::isfinite(value)) continue;
      const auto of = [](const std::vector<float>& all, std::int64_t r, std::int64_t width) {
        return std::span(all).subspan(size(r * width), size(width));
      };
      const std::span coarse_q = of(asked.coarse, q, coarse_columns),
                      coarse_t = of(rows.coarse, t, coarse_columns), fine_q = of(asked.fine, q, fine_columns),
                      fine_t = of(rows.fine, t, fine_columns);
      const float of_coarse = projection.bound(asked.norms[size(q)], value, coarse_columns),
                  of_fine = projection.bound(asked.norms[size(q)], value, fine_columns);
      const bool right = chain(Metric::squared_l2, coarse_q, coarse_t) <= of_coarse &&
                         chain(Metric::squared_l2, fine_q, fine_t) <= of_fine &&
                         sum_backwards(fine_q.data(), fine_t.data(), fine_columns) <= of_fine;
      if (!right) FAIL_CHECK(q << ' ' << t << ' ' << value);
      if (value > 0) widest = std::max(widest, static_cast<double>(of_coarse / value) - 1);
    }
  return widest;
}

TEST_CASE("projections: no bound is below the chain of projections of a pair") {
  for (int kind = 0; kind <= static_cast<int>(DataKind::byte_grid); ++kind) {
    CAPTURE(std::string(name(static_cast<DataKind>(kind))));
    check_bounds(hard_rows(static_cast<DataKind>(kind), Set::train, 260, 300, Metric::l2),
                 hard_rows(static_cast<DataKind>(kind), Set::queries, 20, 300, Metric::l2));
  }
  // Squares of 1e-22 have few bits, or none.
  for (const float factor : {1.0f, 1e-22f, 1e12f})
    for (const float offset : {0.0f, 1e6f}) {
      CAPTURE_ALL(factor, offset);
      Matrix train = rows_along({.blur = 0.2f}, 300, 1, 300),
             queries = rows_along({.blur = 0.2f}, 20, 2, 300);
      // Some rows are those of queries, or nearly so, and some columns have one value.
      std::copy_n(queries.values.begin(), 10 * 300, train.values.begin());
      for (std::int64_t r = 0; r < 5; ++r) train.values[size(r * 301)] += 1e-4f;
      for (Matrix* all : {&train, &queries})
        for (std::size_t i = 0; i < all->values.size(); ++i)
          all->values[i] = i % 7 == 0 ? 5 * factor : all->values[i] * factor + offset * factor;
      const double widest = check_bounds(train, queries);
      if (factor == 1.0f && offset == 0) CHECK(widest < 2);  // even for rows that hardly differ
    }
}

TEST_CASE("projections: no bound forgets the rounding of projections, which is most along a query") {
  const Matrix queries = rows_along({.blur = 0.2f}, 20, 2, 300);
  Matrix train{300, 300, {}};
  for (std::int64_t r = 0; r < train.rows; ++r)
    for (const float value : queries.row(r % queries.rows))
      train.values.push_back(value * (1 + static_cast<float>(r + 1) * 3e-7f));
  check_bounds(train, queries);
}

TEST_CASE("projections: noise fills all directions, and rows of few directions these") {
  const std::vector<float> centre(size(wide_columns));
  const Matrix few = rows_along({}, 256, 1);
  CHECK(filled_directions(few, centre, 1) < 7);
  Matrix noisy{256, wide_columns, {}};
  workloads::Random random(4);
  for (std::int64_t i = 0; i < 256 * wide_columns; ++i) noisy.values.push_back(noise(random));
  CHECK(filled_directions(noisy, centre, 1) > 100);
  CHECK(filled_directions(Matrix{2, wide_columns, std::vector<float>(size(2 * wide_columns))}, centre, 1) ==
        0);
}

}  // namespace
}  // namespace kith::tests::test_projection_bounds
