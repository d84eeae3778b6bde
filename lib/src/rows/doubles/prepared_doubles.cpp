#include "rows/doubles/prepared_doubles.hpp"

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>

#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "rows/landing.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Up to this magnitude every whole number is a double.
constexpr std::int64_t most_whole = std::int64_t{1} << 53;

/// Returns the double that an integer equals; NaN: it is beyond 2^53.
template <class Integer>
double widened(Integer value) {
  if constexpr (sizeof(Integer) == 8)
    if (value < -most_whole || value > most_whole) return NAN;
  return static_cast<double>(value);
}

template <class Integer>
void widen_integers(const unsigned char* from, std::span<double> to) {
  for (std::size_t d = 0; d < to.size(); ++d) {
    Integer value{};
    std::memcpy(&value, from + d * sizeof value, sizeof value);
    to[d] = widened(value);
  }
}

///   gaps  NaN are missing values, which do not count
double largest_of(std::span<const double> row, bool gaps = false) {
  double largest = 0;
  for (const double value : row) {
    if (gaps && std::isnan(value)) continue;
    if (!std::isfinite(value)) return INFINITY;
    largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

/// Lowers `known` to `row` if that is smaller; several threads may call this at once.
void lower(std::atomic<std::int64_t>& known, std::int64_t row) {
  std::int64_t before = known;
  while (row < before && !known.compare_exchange_weak(before, row)) {
  }
}

/// What is wrong with rows: the first that is not finite, and the first of zeros; else the number of rows.
struct WrongRows {
  std::atomic<std::int64_t> not_finite, zero;
};

/// Returns whether a NaN of widened rows is a missing value; a NaN of whole numbers is one beyond 2^53.
bool has_gaps(const RowsView& given, Metric metric) {
  return takes_gaps(metric) && given.element != Element::i64;
}

/// Returns what a row of `given` holds where no double equals it, or where it is not finite, and what to do.
std::string why_wrong(const RowsView& given, Metric metric, std::int64_t r, std::int64_t d, double value) {
  if (given.element != Element::i64)
    return std::string(" holds ") + (std::isnan(value) ? "NaN" : "an infinity") +
           "; make every value finite, or " +
           (has_gaps(given, metric) ? "NaN where it is missing" : "leave the row out");
  std::int64_t whole = 0;
  std::memcpy(&whole, given.row(r) + d * row_bytes(given.element, 1), sizeof whole);
  return " holds " + std::to_string(whole) +
         ", beyond 2^53, up to which doubles hold all whole numbers; subtract what all rows "
         "have in common";
}

/// Refuses a row of the result.
///   r  the row of `given` that it is
[[noreturn]] void refuse_not_finite(std::string_view where, std::string_view what, const RowsView& given,
                                    Metric metric, std::span<const double> row, std::int64_t r,
                                    std::int64_t number, std::span<const std::int64_t> features) {
  const bool gaps = has_gaps(given, metric);
  const auto at = std::find_if(row.begin(), row.end(), [gaps](double value) {
    return !std::isfinite(value) && !(gaps && std::isnan(value));
  });
  const std::int64_t counted = at - row.begin();
  const std::int64_t d = features.empty() ? counted : features[size(counted)];
  refuse(where, place_text(what, number, d) + why_wrong(given, metric, r, d, *at));
}

/// Prepares rows `first` ... `end` - 1 of the result, and returns their max |element|.
double prepare_share(const RowsView& given, Metric metric, std::span<const std::int64_t> features,
                     std::span<const std::int64_t> order, PreparedDoubles& to, std::int64_t first,
                     std::int64_t end, WrongRows& wrong) {
  std::vector<float> floats(is_wide(given.element) ? 0 : size(given.cols));
  std::vector<double> whole(features.empty() ? 0 : size(given.cols));
  double most = 0;
  for (std::int64_t r = first; r < end; ++r) {
    const std::span<double> row(to.values.data() + r * to.dims, size(to.dims));
    widen_row(given, order.empty() ? r : order[size(r)], floats, features.empty() ? row : std::span(whole));
    for (std::size_t d = 0; d < features.size(); ++d) row[d] = whole[size(features[d])];
    const double largest = largest_of(row, has_gaps(given, metric));
    if (std::isinf(largest))
      lower(wrong.not_finite, r);
    else if (prepare_of(metric) == Prepare::unit_rows && !make_unit_row(row))
      lower(wrong.zero, r);
    most = std::max(most, prepare_of(metric) == Prepare::unit_rows ? 1 : largest);
  }
  return most;
}

/// Returns whether rows are compared as they are in memory, which has no gaps.
bool may_stay(const RowsView& given, Metric metric, std::span<const std::int64_t> features) {
  return given.where == Where::host && given.element == Element::f64 && features.empty() &&
         prepare_of(metric) == Prepare::none && given.stride_bytes == row_bytes(given.element, given.cols) &&
         reinterpret_cast<std::uintptr_t>(given.row(0)) % alignof(double) == 0;
}

/// Calls of_share(first, end) for all rows, in shares, and returns the largest result.
template <class OfShare>
double largest_of_shares(std::int64_t rows, std::int64_t cols, std::uint32_t threads,
                         const OfShare& of_share) {
  constexpr std::int64_t share_values = 1 << 14;
  const std::int64_t a_share = std::max<std::int64_t>(1, share_values / std::max<std::int64_t>(1, cols));
  const std::int64_t shares = divide_up(rows, a_share);
  std::vector<double> largest(size(shares));
  parallel_for(shares, rows * cols, threads, [&](std::int64_t s) {
    largest[size(s)] = of_share(s * a_share, std::min((s + 1) * a_share, rows));
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

}  // namespace

void widen_row(const RowsView& given, std::int64_t r, std::span<float> floats, std::span<double> to) {
  switch (given.element) {
    case Element::f64:
      std::memcpy(to.data(), given.row(r), to.size_bytes());
      return;
    case Element::i32:
      return widen_integers<std::int32_t>(given.row(r), to);
    case Element::u32:
      return widen_integers<std::uint32_t>(given.row(r), to);
    case Element::i64:
      return widen_integers<std::int64_t>(given.row(r), to);
    default:
      land_row(given.element, given.row(r), given.cols, floats.data());
      std::copy(floats.begin(), floats.end(), to.begin());
  }
}

bool make_unit_row(std::span<double> row) {
  const double largest = largest_of(row);
  if (largest == 0) return false;
  const int exponent = std::ilogb(largest);
  double sum = 0;
  for (double& value : row) {
    value = std::scalbn(value, -exponent);
    sum += value * value;
  }
  const double norm = std::sqrt(sum);
  for (double& value : row) value /= norm;
  return true;
}

PreparedDoubles prepare_doubles(std::string_view where, std::string_view what, const RowsView& given,
                                Metric metric, std::span<const std::int64_t> features,
                                std::span<const std::int64_t> order, std::uint32_t threads,
                                std::int64_t first_row) {
  check_element(where, what, given, metric);
  check_rows(where, what, given);
  const FloatGuard guard;
  PreparedDoubles to{
      {}, given.rows, features.empty() ? given.cols : static_cast<std::int64_t>(features.size())};
  to.values.resize(cells_of(to.rows, to.dims));
  WrongRows wrong{given.rows, given.rows};
  to.largest = largest_of_shares(to.rows, given.cols, threads, [&](std::int64_t first, std::int64_t end) {
    return prepare_share(given, metric, features, order, to, first, end, wrong);
  });
  const auto given_row = [&](std::int64_t r) { return order.empty() ? r : order[size(r)]; };
  const auto number = [&](std::int64_t r) { return first_row + given_row(r); };
  if (wrong.not_finite < to.rows) {
    const std::int64_t r = wrong.not_finite;
    refuse_not_finite(where, what, given, metric, to.row(r), given_row(r), number(r), features);
  }
  if (wrong.zero < to.rows)
    refuse(where, std::string(what) + " row " + std::to_string(number(wrong.zero)) + " is all zeros" +
                      (features.empty() ? "" : " in the columns that count") +
                      ", which has no direction; leave it out for cosine");
  return to;
}

PreparedDoubles prepare_or_leave(std::string_view where, std::string_view what, const RowsView& given,
                                 Metric metric, std::span<const std::int64_t> features,
                                 std::uint32_t threads) {
  if (!may_stay(given, metric, features))
    return prepare_doubles(where, what, given, metric, features, {}, threads);
  check_element(where, what, given, metric);
  check_rows(where, what, given);
  PreparedDoubles rows{{}, given.rows, given.cols, 0, reinterpret_cast<const double*>(given.row(0))};
  std::atomic<std::int64_t> not_finite = given.rows;
  rows.largest = largest_of_shares(rows.rows, rows.dims, threads, [&](std::int64_t first, std::int64_t end) {
    double most = 0;
    for (std::int64_t r = first; r < end; ++r) {
      const double largest = largest_of(rows.row(r));
      if (std::isinf(largest)) lower(not_finite, r);
      most = std::max(most, largest);
    }
    return most;
  });
  if (not_finite < rows.rows)
    refuse_not_finite(where, what, given, metric, rows.row(not_finite), not_finite, not_finite, {});
  return rows;
}

void check_range(std::string_view where, Metric metric, const PreparedDoubles& queries,
                 double largest_train) {
  if (metric != Metric::negative_dot) return;
  const auto is_in_range = [&](double largest) {
    // The smaller factor comes first, so that nothing overflows before the last product.
    const double first = static_cast<double>(queries.dims) * std::min(largest, largest_train);
    return first * std::max(largest, largest_train) < DBL_MAX;
  };
  if (is_in_range(queries.largest)) return;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const double largest = largest_of(queries.row(q));
    if (is_in_range(largest)) continue;
    refuse(where, "query row " + std::to_string(q) + " reaches " + text_of(largest) +
                      " and the training rows " + text_of(largest_train) +
                      ": dims * both may overflow double; scale them so that it stays below " +
                      text_of(DBL_MAX));
  }
}

}  // namespace kith
