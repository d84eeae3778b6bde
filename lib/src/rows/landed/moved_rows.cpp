#include "rows/landed/moved_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "device/watcher.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "rows/index_state.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/periodic_box.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

template <class T>
double value_at(const RowsView& rows, std::int64_t r, std::int64_t d) {
  T value = 0;
  std::memcpy(&value, rows.row(r) + d * static_cast<std::int64_t>(sizeof value), sizeof value);
  return static_cast<double>(value);
}

/// Calls use(a value of the element) for rows of f32 or f64.
template <class Use>
auto by_element(const RowsView& rows, const Use& use) {
  return rows.element == Element::f64 ? use(double{}) : use(float{});
}

void check_moved_element(std::string_view where, std::string_view what, Element element,
                         const std::string& by = "centre") {
  if (element == Element::f32 || element == Element::f64) return;
  refuse(where, "the " + std::string(what) + " rows are " + std::string(name(element)) + ", and a " + by +
                    " is for f32 and f64; give these, or leave the " + by + " out");
}

/// Moves the values of a row into a box.
template <class T>
bool move_into(const PeriodicBox& box, const RowsView& rows, std::int64_t r, float* to) {
  bool finite = true;
  for (std::int64_t d = 0; d < rows.cols; ++d) {
    to[d] = moved_into<float>(box.lengths()[size(d)], value_at<T>(rows, r, d));
    finite = finite && std::isfinite(to[d]);
  }
  return finite;
}

/// Moves rows as `index` demands, each value rounded once. Returns whether all are finite.
bool move_rows(const Index::State& index, const RowsView& rows, float* to) {
  if (!index.box) return subtract_centre(rows, index.shift, to);
  bool finite = true;
  by_element(rows, [&](auto element) {
    for (std::int64_t r = 0; r < rows.rows; ++r)
      finite = move_into<decltype(element)>(*index.box, rows, r, to + r * rows.cols) && finite;
  });
  return finite;
}

/// Refuses values that count, are finite, and become infinite. prepare_rows() refuses other values.
template <class T>
void refuse_too_large(std::string_view where, std::string_view what, const RowsView& rows,
                      const Index::State& index, std::int64_t first_row) {
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (const std::int64_t d : index.features) {
      const double value = value_at<T>(rows, r, d), moved = index.box ? value : value - index.shift[size(d)];
      const bool stays = index.box && index.box->lengths()[size(d)] > 0;
      if (stays || !std::isfinite(value) || std::isfinite(static_cast<float>(moved))) continue;
      refuse(where, place_text(what, first_row + r, d) + (index.box ? " is " : " less the centre is ") +
                        text_of(moved) + ", which is too large for a float (" + text_of(FLT_MAX) +
                        "); leave the row out, or scale the column");
    }
}

}  // namespace

void ColumnSums::add(const RowsView& more) try {
  check_moved_element("centre", "given", more.element);
  check_rows("centre", "given", more);
  const auto cols = static_cast<std::size_t>(more.cols);
  if (rows > 0 && cols != first.size())
    refuse("centre", "the given rows have " + std::to_string(cols) + " columns, and those before " +
                         std::to_string(first.size()) + "; give as many");
  const FloatGuard guard;
  std::vector<double> row(cols);
  by_element(more, [&](auto element) {
    for (std::int64_t r = 0; r < more.rows; ++r) {
      for (std::size_t d = 0; d < cols; ++d)
        row[d] = value_at<decltype(element)>(more, r, static_cast<std::int64_t>(d));
      add_row(*this, row);
    }
  });
} catch (...) {
  rethrow_as_error();
}

std::vector<double> ColumnSums::means() const {
  const FloatGuard guard;
  std::vector<double> means = first;
  for (std::size_t d = 0; d < means.size(); ++d) means[d] += sum[d] / static_cast<double>(rows);
  return means;
}

std::vector<double> ColumnSums::centre() const {
  std::vector<double> centre = means();
  for (double& value : centre)
    if (!std::isfinite(value)) value = 0;
  return centre;
}

void check_no_doubles(std::string_view where, std::string_view what, Element element) {
  if (!is_wide(element)) return;
  const std::string rows =
      std::string(where) + ": the " + std::string(what) + " rows are " + std::string(name(element));
  if (element == Element::f64)
    throw Error(Errc::unsupported, rows +
                                       ", which a preparation, an index with a centre and an index in double "
                                       "precision take; give one of these, or round the rows to f32");
  throw Error(
      Errc::unsupported,
      rows + ", which an index in double precision takes; choose arithmetic f64, or convert them to f32");
}

std::vector<double> centre_of(const IndexOptions& options, Metric metric, Element element,
                              std::int64_t columns, std::span<const std::int64_t> features,
                              const std::function<ColumnSums()>& sums) {
  if (options.centre.empty() && !options.learn_centre) {
    check_no_doubles("index", "training", element);
    return {};
  }
  if (!options.centre.empty() && options.learn_centre)
    refuse("index", "a centre is given, and one is to be learned; leave one of them out");
  if (!takes_centre(metric))
    refuse("index", "a centre is for differences of values, and " + std::string(name(metric)) +
                        " is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
  check_moved_element("index", "training", element);
  const std::vector<double> centre = options.learn_centre ? sums().centre() : options.centre;
  if (static_cast<std::int64_t>(centre.size()) != columns)
    refuse("index", "the centre has " + std::to_string(centre.size()) +
                        (centre.size() == 1 ? " value" : " values") + " for rows of " +
                        std::to_string(columns) + (columns == 1 ? " column" : " columns") +
                        "; give one a column");
  std::vector<double> kept(centre.size());
  for (const std::int64_t d : features) {
    kept[size(d)] = centre[size(d)];
    if (!std::isfinite(kept[size(d)]))
      refuse("index", "the centre of column " + std::to_string(d) + " is " + text_of(kept[size(d)]) +
                          "; give a finite number");
  }
  return kept;
}

bool subtract_centre(const RowsView& rows, std::span<const double> centre, float* to) {
  bool finite = true;
  by_element(rows, [&](auto element) {
    for (std::int64_t r = 0; r < rows.rows; ++r, to += rows.cols)
      for (std::int64_t d = 0; d < rows.cols; ++d) {
        to[d] = static_cast<float>(value_at<decltype(element)>(rows, r, d) - centre[size(d)]);
        finite = finite && std::isfinite(to[d]);
      }
  });
  return finite;
}

MovedRows::MovedRows(std::string_view where, std::string_view what, const Index::State& index,
                     const RowsView& given, const SearchOptions& options, std::int64_t first_row)
    : view_(given) {
  if (!index.prepared && index.shift.empty() && (!index.box || index.arithmetic == Arithmetic::f64)) {
    if (index.arithmetic == Arithmetic::f64) return;
    check_no_doubles(where, what, given.element);
    return;
  }
  if (!index.prepared) check_moved_element(where, what, given.element, index.box ? "box" : "centre");
  const std::int64_t columns = given_columns(index.shown.metric, index.columns);
  if (given.cols != columns)
    refuse(where, "the " + std::string(what) + " rows have " + std::to_string(given.cols) +
                      " columns but the index has " + std::to_string(columns) + "; give as many");
  std::vector<unsigned char> copy;
  const RowsView rows = rows_on_host(where, what, index.device.state(), given, copy);
  check_rows(where, what, rows);
  if (index.prepared)
    prepare(where, what, index, rows, options, first_row);
  else
    move(where, what, index, rows, options, first_row);
}

void MovedRows::move(std::string_view where, std::string_view what, const Index::State& index,
                     const RowsView& rows, const SearchOptions& options, std::int64_t first_row) {
  own_.resize(cells_of(rows.rows, rows.cols));
  constexpr std::int64_t share_values = 1 << 14;
  const std::int64_t a_share = std::max<std::int64_t>(1, share_values / rows.cols);
  std::atomic<bool> finite = true;
  parallel_for(divide_up(rows.rows, a_share), rows.rows * rows.cols, options.threads,
               [&](std::int64_t share) {
                 const std::int64_t first = share * a_share, count = std::min(a_share, rows.rows - first);
                 if (!move_rows(index, rows.slice(first, count), own_.data() + first * rows.cols))
                   finite = false;
               });
  if (!finite)
    by_element(rows, [&](auto element) {
      refuse_too_large<decltype(element)>(where, what, rows, index, first_row);
    });
  view_ = RowsView(own_.data(), rows.rows, rows.cols);
}

void MovedRows::prepare(std::string_view where, std::string_view what, const Index::State& index,
                        const RowsView& rows, const SearchOptions& options, std::int64_t first_row) {
  const bool is_double = index.arithmetic == Arithmetic::f64;
  const std::size_t cells = cells_of(rows.rows, index.columns);
  if (is_double)
    own64_.assign(cells, 0);
  else
    own_.assign(cells, 0);
  constexpr std::int64_t values_at_once = std::int64_t{1} << 20, work_at_once = std::int64_t{1} << 29;
  std::int64_t step = std::max<std::int64_t>(1, values_at_once / rows.cols);
  if (index.shown.metric ==
      Metric::mahalanobis)  // an operation for each value and column, and a stop within a second
    step = std::min(step, std::max<std::int64_t>(64, work_at_once / rows.cols / rows.cols));
  const Watcher watcher(options, rows.rows);
  for (std::int64_t first = 0; first < rows.rows; first += step) {
    watcher.check_stop();
    const RowsView some = rows.slice(first, std::min(step, rows.rows - first));
    PreparedDoubles doubles = prepare_doubles(where, what, some, as_given(index.shown.metric), index.mask(),
                                              {}, options.threads, first_row + first);
    const FloatGuard guard;
    index.prepared->change(where, what, doubles.values, first_row + first, is_double ? DBL_MAX : FLT_MAX,
                           options.threads);
    for (std::int64_t r = 0; r < some.rows; ++r)
      for (std::size_t d = 0; d < index.features.size(); ++d) {
        const double value = doubles.values[size(r) * index.features.size() + d];
        const std::size_t to = size((first + r) * index.columns + index.features[d]);
        if (is_double)
          own64_[to] = value;
        else
          own_[to] = static_cast<float>(value);
      }
  }
  view_ = is_double ? RowsView(own64_.data(), Element::f64, rows.rows, index.columns)
                    : RowsView(own_.data(), rows.rows, index.columns);
}

}  // namespace kith
