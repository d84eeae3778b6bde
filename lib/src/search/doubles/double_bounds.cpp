#include "search/doubles/double_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.hpp"
#include "kith/spi/product_error.hpp"

namespace kith {
namespace {

constexpr double unit = 0x1p-53;
/// Covers the operations below: fewer than 32, each with a relative error of at most 2^-53.
constexpr double roundings = 0x1p-40;
/// A row is at most this share of its norm away from its floats, and this for each column that is subnormal.
constexpr double share_of_norm = 0x1p-24 * (1 + 0x1p-20), of_subnormal = 0x1p-149;

/// A term is rounded as often as so many more columns would be, and loses as much by underflow as so many.
constexpr std::size_t roundings_of_term = 20, underflows_of_term = 16;

std::size_t columns_of_error(std::size_t dims, const Rounding& rows) {
  return rows.mixed.empty() ? dims : dims + roundings_of_term;
}
std::size_t columns_of_underflow(std::size_t dims, const Rounding& rows) {
  return rows.mixed.empty() ? dims : dims * underflows_of_term;
}

double root_of_terms(const Rounding& rows) {
  if (rows.mixed.empty() || rows.mixed.front() == static_cast<double>(canberra_term)) return 1;
  return std::max(1.0, -rows.mixed.front() / 2);
}

double chain_error_of_doubles(double dims) {
  return (dims + 2) * unit / (1 - (dims + 2) * unit) * (1 + roundings);
}

}  // namespace

DoubleBounds::DoubleBounds(Metric metric, std::int64_t dims, const Rounding& rows, const Rounding& queries,
                           const RowErrors& errors)
    : metric_(metric),
      dims_(static_cast<double>(dims)),
      row_scale_(rows.scale),
      query_scale_(queries.scale),
      root_(root_of_terms(rows)),
      errors_(errors),
      g_(spi::chain_error(columns_of_error(size(dims), rows))),
      eta_(spi::chain_underflow(columns_of_underflow(size(dims), rows))),
      g_double_(chain_error_of_doubles(static_cast<double>(columns_of_error(size(dims), rows)))),
      eta_double_(static_cast<double>(columns_of_underflow(size(dims), rows)) * 0x1p-1074) {}

double DoubleBounds::residual_near(const RowErrors& query, double distance) const {
  if (!std::isfinite(errors_.residual)) return errors_.residual;  // of a row without floats near it
  const double norm = query.norm + query.residual + distance;
  return std::min(errors_.residual,
                  (share_of_norm * norm + dims_ * of_subnormal) * (1 + 2 * share_of_norm) * (1 + roundings));
}

float DoubleBounds::above(double value, const RowErrors& query) const {
  if (!(g_ < 1)) return std::numeric_limits<float>::infinity();
  return spi::float_above(metric_ == Metric::negative_dot ? of_product(value, query) : of_norm(value, query));
}

double DoubleBounds::of_product(double value, const RowErrors& query) const {
  const double query_norm = query.norm + query.residual, row_norm = errors_.norm + errors_.residual;
  const double moved = query_norm * errors_.residual + query.residual * errors_.norm;
  const double rounded = g_ * query.norm * errors_.norm + 2 * eta_ + g_double_ * query_norm * row_norm;
  // The chain of doubles loses what is subnormal, and so may the scaled value.
  const int scale = std::ilogb(query_scale_) + std::ilogb(row_scale_);  // one of them may be large
  const double lost = 2 * std::scalbn(eta_double_, scale) + 0x1p-1000;
  const double scaled = std::scalbn(value, scale);
  const double slack = moved + rounded + lost;
  return scaled + slack + (std::fabs(scaled) + slack) * roundings;
}

double DoubleBounds::of_norm(double value, const RowErrors& query) const {
  const double most = (value + eta_double_) / (1 - g_double_);
  const bool squares = sums_squares(metric_);
  const auto raised = [](double x, double power) {  // at least the power of x
    return power == 1 ? x : std::pow(x, power) * (1 + roundings);
  };
  const double distance = (squares ? std::sqrt(most) : raised(most, 1 / root_)) * row_scale_;
  const double of_floats = distance + query.residual + residual_near(query, distance) + 0x1p-1000;
  return ((squares ? of_floats * of_floats : raised(of_floats, root_)) * (1 + g_) + eta_) * (1 + roundings);
}

}  // namespace kith
