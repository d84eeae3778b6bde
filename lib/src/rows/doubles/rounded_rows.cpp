#include "rows/doubles/rounded_rows.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/float_guard.hpp"
#include "host/parallel.hpp"
#include "kith/centre.hpp"

namespace kith {
namespace {

/// Floats stay as they are unless their centre is this many times as far from 0 as they are from it.
constexpr double far_from_zero = 256;

/// So many rows show where the middle of a column is.
constexpr std::int64_t sample_rows = 4096;

/// Elements of x~ stay below 2^32, so that no sum of squares of floats overflows; a query may be 2^18 times
/// as far away.
constexpr double most_moved = 0x1p32, most_of_query = 0x1p50, least_moved = 0x1p-32;

/// The sum of a row in the norm of a metric: that of l1, of linf, or the Euclidean one for all others.
template <Metric metric>
class Norm {
 public:
  void add(double value) {
    if constexpr (metric == Metric::l1)
      sum_ += std::fabs(value);
    else if constexpr (metric == Metric::linf)
      sum_ = std::max(sum_, std::fabs(value));
    else
      sum_ += value * value;
  }

  /// Returns at least the norm. In double precision a sum of `dims` squares has a relative error of at most
  /// (dims + 2) 2^-53; squares below 2^-1022 lose less than 2^-1074 each.
  double above(std::size_t dims) const {
    if (sum_ == 0 && !may_underflow_) return 0;
    const auto count = static_cast<double>(dims);
    constexpr bool squares = metric != Metric::l1 && metric != Metric::linf;
    const double norm = squares ? std::sqrt(sum_ + count * 0x1p-1022) : sum_;
    return norm * (1 + (count + 8) * 0x1p-52);
  }

  /// Says that a value other than 0 was added, whose square may have become 0.
  void note_underflow() { may_underflow_ = true; }

 private:
  double sum_ = 0;
  bool may_underflow_ = false;
};

/// Returns the length of a column of the box in which floats are.
double length_of_floats(double length) {
  return std::max(static_cast<double>(static_cast<float>(length)), static_cast<double>(FLT_MIN));
}

/// Returns at least what the term of a periodic box differs by where rows are exact: the lengths of floats
/// are rounded, and the two operations of each chain are, by at most 2^-24 or 2^-53 of the length each.
template <Metric metric>
double error_of_box(const Rounding& how) {
  Norm<metric> errors;
  for (const double length : how.lengths) {
    if (std::isinf(length)) continue;
    const double of_floats = length_of_floats(length);
    errors.add(std::fabs(length - of_floats) + 0x1.00001p-23 * of_floats + 0x1.00001p-52 * length);
  }
  errors.note_underflow();
  return errors.above(how.lengths.size());
}

/// Rounds one row. Errors of the operations: docs/certificate.md, section 7.
template <Metric metric>
RowErrors round_row(std::span<const double> row, const Rounding& how, std::span<float> to) {
  Norm<metric> rest, moved, rounded;
  bool fits = true;
  for (std::size_t d = 0; d < row.size(); ++d) {
    const double x = (how.centre.empty() ? row[d] : row[d] - how.centre[d]) * how.scale;
    const bool small = std::fabs(x) < most_of_query;  // false for infinities, and for inf - inf
    fits = fits && small;
    to[d] = small ? static_cast<float>(x) : 0;
    const bool wraps = !how.lengths.empty() && !std::isinf(how.lengths[d]) &&
                       static_cast<double>(to[d]) >= length_of_floats(how.lengths[d]);
    if (wraps) to[d] = 0;
    const auto near = static_cast<double>(to[d]);
    rest.add(wraps ? how.lengths[d] - x : x - near);
    if (x != near) rest.note_underflow();
    moved.add(x);
    rounded.add(near);
    if (near != 0) rounded.note_underflow();
  }
  if (!fits) {
    std::fill(to.begin(), to.end(), 0.0f);
    return {INFINITY, 0};
  }
  RowErrors errors{rest.above(row.size()), rounded.above(row.size())};
  // The difference is rounded once, and the product once where it is subnormal.
  if (!how.centre.empty()) errors.residual += 0x1p-52 * moved.above(row.size());
  if (how.scale != 1) errors.residual += 0x1p-1000;
  if (!how.lengths.empty()) errors = {errors.residual + error_of_box<metric>(how), INFINITY};
  return errors;
}

/// Returns at least what the term of a column differs by if x becomes `near`. Equal categories stay equal,
/// and different ones different while they are floats. Canberra distances and powers up to the first obey
/// the triangle inequality, column by column; of higher powers the root of the sum does.
double error_of_term(double x, double near, double p) {
  if (x == near) return 0;
  const double moved = std::fabs(x - near);
  if (p > 0) return moved;
  if (p == 0) return 1;
  if (p == static_cast<double>(canberra_term))
    return moved / (std::fabs(x) + std::fabs(near)) * (1 + 0x1p-40);
  return std::pow(moved, -p / 2) * (1 + 0x1p-40) + 0x1p-1000;
}

/// Rounds one row whose columns have mixed terms.
RowErrors round_row_of_terms(std::span<const double> row, const Rounding& how, std::span<float> to) {
  Norm<Metric::l1> rest;
  bool fits = true;
  for (std::size_t d = 0; d < row.size(); ++d) {
    const bool small = std::fabs(row[d]) < most_of_query;
    fits = fits && small;
    to[d] = small ? static_cast<float>(row[d]) : 0;
    rest.add(error_of_term(row[d], static_cast<double>(to[d]), how.mixed[d]));
  }
  if (!fits) std::fill(to.begin(), to.end(), 0.0f);
  const double sum = rest.above(row.size()), p = -how.mixed.front() / 2;
  const bool has_root = p > 1 && how.mixed.front() != static_cast<double>(canberra_term);
  return {fits ? has_root ? std::pow(sum, 1 / p) * (1 + 0x1p-40) : sum : INFINITY, INFINITY};
}

/// Returns the power of two that brings `largest` near 1; 1 if it is in a range that needs none.
double scale_of(double largest) {
  if (largest == 0 || (largest >= least_moved && largest <= most_moved)) return 1;
  const int exponent = std::clamp(-std::ilogb(largest), -1000, 1000);
  return std::scalbn(1.0, exponent);
}

bool are_floats(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) {
    return std::fabs(value) <= most_moved && static_cast<double>(static_cast<float>(value)) == value;
  });
}

}  // namespace

void RowErrors::include(const RowErrors& other) {
  residual = std::max(residual, other.residual);
  norm = std::max(norm, other.norm);
}

std::vector<double> Rounding::lengths_of_floats() const {
  std::vector<double> floats;
  for (const double length : lengths) floats.push_back(std::isinf(length) ? 0 : length_of_floats(length));
  return floats;
}

RoundingChoice::RoundingChoice(Metric metric, std::int64_t rows, std::int64_t dims, const ColumnTerms* terms)
    : metric_(metric),
      dims_(size(dims)),
      stride_(divide_up(rows, sample_rows)),
      least_(dims_, INFINITY),
      most_(dims_, -INFINITY),
      lengths_(terms && !terms->is_mixed() ? terms->doubles() : std::vector<double>()),
      mixed_(terms && terms->is_mixed() ? terms->doubles() : std::vector<double>()) {}

void RoundingChoice::add(const PreparedDoubles& some) {
  largest_ = std::max(largest_, some.largest);
  if (metric_ == Metric::negative_dot) return;
  are_floats_ = are_floats_ && are_floats(some.values);
  for (std::int64_t r = 0; r < some.rows; ++r, ++added_) {
    const std::span<const double> row = some.row(r);
    for (std::size_t d = 0; d < dims_; ++d) {
      least_[d] = std::min(least_[d], row[d]);
      most_[d] = std::max(most_[d], row[d]);
    }
    if (added_ % stride_ == 0) sample_.insert(sample_.end(), row.begin(), row.end());
  }
}

/// Returns about the median of a column, which a few far values do not move. It has few digits below the
/// spread of the column, so that whole numbers less the centre are whole, and are floats.
double RoundingChoice::centre_of_column(std::size_t column) {
  std::vector<double> values;
  for (std::size_t i = column; i < sample_.size(); i += dims_) values.push_back(sample_[i]);
  std::sort(values.begin(), values.end());
  const double median = values[values.size() / 2];
  const double spread = values[values.size() * 3 / 4] - values[values.size() / 4];
  if (!std::isnormal(spread)) return median;
  constexpr int digits = 8;
  const double step = std::scalbn(1.0, std::ilogb(spread) - digits);
  const double centre = std::nearbyint(median / step) * step;
  return std::isfinite(centre) ? centre : median;
}

Rounding RoundingChoice::rounding() {
  const FloatGuard guard;
  if (metric_ == Metric::negative_dot) return {{}, scale_of(largest_)};
  if (!mixed_.empty()) return {{}, 1, {}, mixed_};
  Rounding how;
  double largest = 0;
  for (std::size_t d = 0; d < dims_; ++d) {
    how.centre.push_back(is_open(d) ? centre_of_column(d) : 0);
    largest = std::max({largest, most_[d] - how.centre[d], how.centre[d] - least_[d]});
    if (!is_open(d)) largest = std::max(largest, lengths_[d]);
  }
  if (largest_ < far_from_zero * largest && are_floats_)
    how.centre.clear();
  else
    how.scale = scale_of(largest);
  for (const double length : lengths_) how.lengths.push_back(length * how.scale);
  return how;
}

Rounding rounding_of_queries(Metric metric, const PreparedDoubles& queries, const Rounding& of_rows) {
  return metric == Metric::negative_dot ? Rounding{{}, scale_of(queries.largest)} : of_rows;
}

RoundedRows round_rows(Metric metric, const PreparedDoubles& rows, const Rounding& how,
                       std::uint32_t threads) {
  RoundedRows rounded;
  rounded.values.resize(size(rows.rows) * size(rows.dims));
  rounded.errors.resize(size(rows.rows));
  const auto round = !how.mixed.empty()       ? round_row_of_terms
                     : metric == Metric::l1   ? round_row<Metric::l1>
                     : metric == Metric::linf ? round_row<Metric::linf>
                                              : round_row<Metric::l2>;
  constexpr std::int64_t share_values = 1 << 14;
  const std::int64_t a_share = std::max<std::int64_t>(1, share_values / rows.dims);
  parallel_for(divide_up(rows.rows, a_share), rows.rows * rows.dims, threads, [&](std::int64_t s) {
    for (std::int64_t r = s * a_share; r < std::min((s + 1) * a_share, rows.rows); ++r)
      rounded.errors[size(r)] =
          round(rows.row(r), how, {rounded.values.data() + r * rows.dims, size(rows.dims)});
  });
  return rounded;
}

RowErrors largest_errors(std::span<const RowErrors> errors) {
  RowErrors all;
  for (const RowErrors& one : errors) all.include(one);
  return all;
}

}  // namespace kith
