// Tests the bounds by which floats propose for doubles: docs/certificate.md, section 7.
#include "doubles/doubles_oracle.hpp"
#include "rows/doubles/rounded_rows.hpp"
#include "search/doubles/double_bounds.hpp"

namespace kith::tests {
namespace {

/// Wider than double on the machines that run this, so that it shows on which side of a number a double is.
using Wide = long double;

Wide norm_of(Metric metric, const std::vector<Wide>& values) {
  Wide sum = 0;
  for (const Wide value : values) {
    const Wide magnitude = std::abs(value);
    if (metric == Metric::l1) sum += magnitude;
    if (metric == Metric::linf) sum = std::max(sum, magnitude);
    if (metric != Metric::l1 && metric != Metric::linf) sum += value * value;
  }
  return metric == Metric::l1 || metric == Metric::linf ? sum : std::sqrt(sum);
}

/// Returns rows as they are after their checks; those of cosine need not be unit rows here.
PreparedDoubles prepared(const DoubleMatrix& rows) {
  PreparedDoubles given{{}, rows.rows, rows.cols, 0};
  given.values.assign(rows.values.begin(), rows.values.end());
  for (const double value : rows.values) given.largest = std::max(given.largest, std::abs(value));
  return given;
}

/// Checks the residual and the norm of each row against the real numbers.
void check_errors(Metric metric, const PreparedDoubles& rows, const Rounding& how) {
  const RoundedRows rounded = round_rows(metric, rows, how, 1);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const RowErrors& errors = rounded.errors[static_cast<std::size_t>(r)];
    if (std::isinf(errors.residual)) continue;
    std::vector<Wide> rest, near;
    for (std::int64_t d = 0; d < rows.dims; ++d) {
      const Wide centre = how.centre.empty() ? 0 : how.centre[static_cast<std::size_t>(d)];
      near.push_back(rounded.values[static_cast<std::size_t>(r * rows.dims + d)]);
      rest.push_back((static_cast<Wide>(rows.row(r)[static_cast<std::size_t>(d)]) - centre) *
                         static_cast<Wide>(how.scale) -
                     near.back());
    }
    CHECK(static_cast<Wide>(errors.residual) >= norm_of(metric, rest));
    CHECK(static_cast<Wide>(errors.norm) >= norm_of(metric, near));
  }
}

TEST_CASE("doubles: bounds of residuals hold, for every kind of data and centre") {
  std::mt19937 random(11);
  for (const Metric metric : number_metrics)
    for (const DoubleData kind : all_double_data) {
      CAPTURE_ALL(name(metric), static_cast<int>(kind));
      const PreparedDoubles rows = prepared(double_rows(kind, 30, 5, random));
      RoundingChoice choice(metric, rows.rows, rows.dims);
      choice.add(rows);
      check_errors(metric, rows, choice.rounding());
      check_errors(metric, rows, {{0.1, -3, 1e5, 0x1p-30, 0}, 1});
      check_errors(metric, rows, {{}, 0x1p-40});
    }
  // The difference rounds to a float: only the rounding itself is an error.
  check_errors(Metric::l2, prepared({1, 1, {0x1p49}}), {{0x1p-10}, 1});
}

TEST_CASE("doubles: rows that are floats around 0 stay as they are, and far ones are moved") {
  const auto rounding_of = [](Metric metric, const DoubleMatrix& rows) {
    const PreparedDoubles given = prepared(rows);
    RoundingChoice choice(metric, rows.rows, rows.cols);
    choice.add(given);
    return choice.rounding();
  };
  CHECK(rounding_of(Metric::l2, {2, 2, {0, 255, 17, 3}}).centre.empty());
  CHECK(rounding_of(Metric::l2, {3, 1, {1700000000, 1700000002, 1700000007}}).centre ==
        std::vector<double>{1700000002});
  CHECK(rounding_of(Metric::l2, {3, 1, {0.1, 0.2, 0.3}}).centre == std::vector<double>{410.0 / 2048});
  CHECK(rounding_of(Metric::l2, {5, 1, {7.5, 7.25, 7.125, 1e30, 7}}).centre == std::vector<double>{7.25});
  CHECK(rounding_of(Metric::negative_dot, {2, 1, {0.1, 0.3}}).centre.empty());
  CHECK(rounding_of(Metric::l1, {2, 1, {1e200, 3e200}}).scale == std::ldexp(1.0, -std::ilogb(2e200)));
  CHECK(rounding_of(Metric::l1, {2, 1, {1e-200, 3e-200}}).scale == std::ldexp(1.0, -std::ilogb(2e-200)));
}

TEST_CASE("doubles: bounds of floats are at least those of the theorem") {
  std::mt19937 random(12);
  std::uniform_real_distribution<double> any(0, 3);
  const std::int64_t dims = 7;
  const Wide u = 0x1p-53L,
             g = static_cast<Wide>(dims + 2) * 0x1p-24L / (1 - static_cast<Wide>(dims + 2) * 0x1p-24L),
             g64 = static_cast<Wide>(dims + 2) * u / (1 - static_cast<Wide>(dims + 2) * u),
             eta = static_cast<Wide>(dims) * 0x1p-149L;
  for (int turn = 0; turn < 2000; ++turn)
    for (const Metric metric : number_metrics) {
      const Rounding rows{{}, std::ldexp(1.0, static_cast<int>(random() % 9) - 4)},
          queries{{}, metric == Metric::negative_dot ? 0.25 : rows.scale};
      const RowErrors of_rows{any(random) * (turn % 3 == 0 ? 0 : 1e-6), any(random)},
          of_query{any(random) * (turn % 2 == 0 ? 0 : 1e-6), any(random)};
      const double value = any(random) * (turn % 5 == 0 ? 0 : 1) - (metric == Metric::negative_dot ? 1 : 0);
      const Wide scale = rows.scale, most = static_cast<Wide>(value) / (1 - g64);
      // The residual of a row that is so near: no more than rounding its floats makes.
      const auto residual_within = [&](Wide distance) {
        const Wide p = 0x1p-24L * (1 + 0x1p-20L), norm = static_cast<Wide>(of_query.norm) + of_query.residual;
        return std::min<Wide>(of_rows.residual,
                              (p * (norm + distance) + static_cast<Wide>(dims) * 0x1p-149L) / (1 - p));
      };
      Wide bound = 0;
      if (metric == Metric::negative_dot) {
        const Wide qn = of_query.norm, xn = of_rows.norm, qr = of_query.residual, xr = of_rows.residual;
        bound = static_cast<Wide>(value) * scale * 0.25L + (qn + qr) * xr + qr * xn + g * qn * xn + 2 * eta +
                g64 * (qn + qr) * (xn + xr);
      } else if (sums_squares(metric)) {
        const Wide distance = scale * std::sqrt(most);
        const Wide length = distance + of_query.residual + residual_within(distance);
        bound = length * length * (1 + g) + eta;
      } else {
        bound = (scale * most + of_query.residual + residual_within(scale * most)) * (1 + g) + eta;
      }
      CAPTURE_ALL(name(metric), turn);
      const float above = DoubleBounds(metric, dims, rows, queries, of_rows).above(value, of_query);
      CHECK(static_cast<Wide>(above) >= bound);
      CHECK(static_cast<Wide>(above) <= bound + std::abs(bound) * 0x1p-22L + 0x1p-126L);
    }
  const DoubleBounds bounds(Metric::l2, dims, {}, {}, {});
  CHECK(bounds.above(std::numeric_limits<double>::infinity(), {}) == std::numeric_limits<float>::infinity());
  CHECK(bounds.above(1e300, {}) == std::numeric_limits<float>::infinity());
  const DoubleBounds none(Metric::l2, dims, {}, {}, {INFINITY, 0});
  CHECK(none.above(1, {}) == std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace kith::tests
