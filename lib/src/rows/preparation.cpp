#include "kith/preparation.hpp"

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/names.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "rows/preparation_steps.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t categories_end = std::int64_t{1} << 24;  // floats hold all smaller whole numbers

/// Returns columns in ascending order. Throws if one does not exist, or occurs twice.
std::vector<std::int64_t> checked_columns(std::vector<std::int64_t> columns, std::int64_t dims) {
  std::sort(columns.begin(), columns.end());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0 || columns[i] >= dims)
      refuse("preparation", "there is no column " + std::to_string(columns[i]) +
                                " to hold categories; columns are 0 to " + std::to_string(dims - 1));
    if (i > 0 && columns[i] == columns[i - 1])
      refuse("preparation", "column " + std::to_string(columns[i]) + " holds categories twice; name it once");
  }
  return columns;
}

/// Returns whether rows may have NaN.
bool takes_nan(const PreparationOptions& options) {
  return options.missing != Missing::refuse && options.missing != Missing::drop;
}

/// Returns whether NaN are filled in.
bool fills(const PreparationOptions& options) {
  return takes_nan(options) && options.missing != Missing::pairwise;
}

/// Refuses norms of rows of which values are missing.
void check_norms(const PreparationOptions& options) {
  const auto& scalings = options.scalings;
  if (options.missing == Missing::pairwise &&
      std::find(scalings.begin(), scalings.end(), Scaling::l2_rows) != scalings.end())
    refuse(
        "preparation",
        "l2_rows divides by the norm of a whole row, of which missing=pairwise leaves values out; drop one "
        "of them");
}

/// Refuses values that are not finite; NaN are allowed if they stay, or are filled in.
template <class T>
void check_finite(std::string_view what, MatrixView<const T> rows, bool may_miss) {
  check_view("preparation", what, rows);
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    for (std::int64_t d = 0; d < rows.cols(); ++d)
      if (const T value = rows(r, d); !std::isfinite(value) && !(may_miss && std::isnan(value)))
        refuse(
            "preparation",
            place_text(what, r, d) +
                (may_miss ? " is " + text_of(value) + "; values must be finite, or NaN where they are missing"
                          : std::string(std::isnan(value) ? " holds NaN" : " holds an infinity") +
                                "; make every value finite, or leave the row out"));
}

/// Refuses values that are not finite, and values in columns of categories that are no category.
template <class T>
void check_values(std::string_view what, MatrixView<const T> rows, const PreparationOptions& options) {
  check_finite(what, rows, takes_nan(options));
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    for (const std::int64_t d : options.categorical) {
      const T value = rows(r, d);
      if (std::isnan(value)) continue;
      if (value >= 0 && value < static_cast<T>(categories_end) && value == std::floor(value)) continue;
      refuse("preparation", place_text(what, r, d) + " holds " + text_of(value) +
                                ", which is no category; categories are whole numbers from 0 to " +
                                std::to_string(categories_end - 1));
    }
}

template <class T>
std::vector<std::int64_t> categories_of(MatrixView<const T> rows, std::int64_t column) {
  std::vector<bool> seen;
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    if (std::isnan(rows(r, column))) continue;
    const auto code = static_cast<std::size_t>(rows(r, column));
    if (code >= seen.size()) seen.resize(code + 1);
    seen[code] = true;
  }
  std::vector<std::int64_t> found;
  for (std::size_t code = 0; code < seen.size(); ++code)
    if (seen[code]) found.push_back(static_cast<std::int64_t>(code));
  return found;
}

std::int64_t width_of(std::int64_t dims, const std::vector<std::vector<std::int64_t>>& categories) {
  std::int64_t width = dims - static_cast<std::int64_t>(categories.size());
  for (const auto& of_one : categories) width += static_cast<std::int64_t>(of_one.size());
  return width;
}

}  // namespace

std::string_view name(Missing missing) {
  return name_in(names_of<Missing>, missing);
}
std::string_view name(Scaling scaling) {
  return name_in(names_of<Scaling>, scaling);
}
std::string_view name(Categories categories) {
  return name_in(names_of<Categories>, categories);
}

template <class T>
void Preparation::learn(MatrixView<const T> train) {
  const FloatGuard guard;
  if (train.rows() < 1 || dims_ < 1)
    refuse("preparation", "there are " + std::to_string(train.rows()) + " training rows of " +
                              std::to_string(dims_) + " columns; give at least one of each");
  check_norms(options_);
  options_.categorical = checked_columns(std::move(options_.categorical), dims_);
  check_values("training", train, options_);
  if (fills(options_)) fills_ = learn_fills(options_, train);
  if (options_.categories == Categories::one_hot)
    for (const std::int64_t column : options_.categorical) {
      categories_.push_back(categories_of(train, column));
      if (categories_.back().empty())
        refuse("preparation",
               "column " + std::to_string(column) + " has no category to learn from; leave the column out");
    }
  width_ = width_of(dims_, categories_);
  const PreparationSteps steps{dims_, width_, options_, categories_, columns_, fills_};
  for (std::size_t s = 0; s < options_.scalings.size(); ++s)
    columns_.push_back(learn_columns(steps, options_.scalings[s], s, train));
}

Preparation::Preparation(MatrixView<const float> train, const PreparationOptions& options) try
    : dims_(train.cols()), options_(options) {
  learn(train);
} catch (...) {
  rethrow_as_error();
}

Preparation::Preparation(MatrixView<const double> train, const PreparationOptions& options) try
    : dims_(train.cols()), options_(options) {
  learn(train);
} catch (...) {
  rethrow_as_error();
}

namespace {

template <class T>
std::vector<std::int64_t> rows_without_nan(MatrixView<const T> rows) {
  std::vector<std::int64_t> complete;
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    bool whole = true;
    for (std::int64_t d = 0; d < rows.cols(); ++d) whole = whole && !std::isnan(rows(r, d));
    if (whole) complete.push_back(r);
  }
  return complete;
}

}  // namespace

std::vector<std::int64_t> complete_rows(MatrixView<const float> rows) try {
  return rows_without_nan(rows);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> complete_rows(MatrixView<const double> rows) try {
  return rows_without_nan(rows);
} catch (...) {
  rethrow_as_error();
}

template <class T>
std::vector<float> Preparation::applied(MatrixView<const T> rows) const {
  const FloatGuard guard;
  if (dims_ > 0 && rows.cols() != dims_)
    refuse("preparation", "the rows have " + std::to_string(rows.cols()) +
                              " columns, the training rows had " + std::to_string(dims_) +
                              "; give the same columns");
  check_values("given", rows, options_);
  const std::int64_t dims = rows.cols(), width = dims_ > 0 ? width_ : dims, m = rows.rows();
  const PreparationSteps steps{dims, width, options_, categories_, columns_, fills_};
  std::vector<float> prepared(static_cast<std::size_t>(m * width));
  const std::uint32_t team = team_size(0);
  std::vector<double> room(static_cast<std::size_t>(width) * team);
  std::atomic<std::int64_t> first_bad = m;
  const std::vector<std::int64_t> from = dims_ > 0 ? sources() : std::vector<std::int64_t>();
  const auto fits = [&](std::int64_t r, std::int64_t d, double value) {
    if (std::isfinite(static_cast<float>(value))) return true;
    return options_.missing == Missing::pairwise && std::isnan(rows(r, from[static_cast<std::size_t>(d)]));
  };
  const auto one = [&](std::size_t task, std::size_t thread) {
    const auto r = static_cast<std::int64_t>(task);
    double* row = room.data() + thread * static_cast<std::size_t>(width);
    steps.run(rows.row(r), columns_.size(), row);
    bool good = true;
    for (std::int64_t d = 0; d < width; ++d) {
      good = good && fits(r, d, row[d]);
      prepared[static_cast<std::size_t>(r * width + d)] = static_cast<float>(row[d]);
    }
    std::int64_t known = first_bad;
    while (!good && r < known && !first_bad.compare_exchange_weak(known, r)) {
    }
  };
  run_team(static_cast<std::size_t>(m), prepared.size(), team, one);
  if (first_bad == m) return prepared;
  steps.run(rows.row(first_bad), columns_.size(), room.data());
  std::int64_t d = 0;
  while (fits(first_bad, d, room[static_cast<std::size_t>(d)])) ++d;
  refuse("preparation", place_text("given", first_bad, sources()[static_cast<std::size_t>(d)]) + " becomes " +
                            text_of(room[static_cast<std::size_t>(d)]) +
                            ", which is too large for a float (" + text_of(FLT_MAX) +
                            "); leave the row out, or scale in another way");
}

std::vector<float> Preparation::apply(MatrixView<const float> rows) const try {
  return applied(rows);
} catch (...) {
  rethrow_as_error();
}

std::vector<float> Preparation::apply(MatrixView<const double> rows) const try {
  return applied(rows);
} catch (...) {
  rethrow_as_error();
}

bool Preparation::changes_nothing() const {
  return options_.scalings.empty() && categories_.empty() && fills_.empty();
}

std::vector<std::int64_t> Preparation::sources() const try {
  std::vector<std::int64_t> from;
  std::size_t next = 0;
  for (std::int64_t d = 0; d < dims_; ++d) {
    std::size_t columns = 1;
    if (next < categories_.size() && options_.categorical[next] == d) columns = categories_[next++].size();
    from.insert(from.end(), columns, d);
  }
  return from;
} catch (...) {
  rethrow_as_error();
}

namespace {

void check_categories(const std::vector<std::int64_t>& categories, std::int64_t column) {
  bool good = !categories.empty() && categories.front() >= 0 && categories.back() < categories_end;
  for (std::size_t i = 1; i < categories.size(); ++i) good = good && categories[i - 1] < categories[i];
  if (!good)
    refuse("preparation", "the categories of column " + std::to_string(column) +
                              " are not ascending whole numbers from 0 to " +
                              std::to_string(categories_end - 1) + "; learn them from training rows");
}

void check_scaling(Scaling scaling, const Preparation::Columns& columns, std::int64_t width) {
  const std::size_t wanted = scaling == Scaling::l2_rows ? 0 : static_cast<std::size_t>(width);
  bool good = columns.shift.size() == wanted && columns.divisor.size() == wanted;
  for (std::size_t d = 0; good && d < wanted; ++d)
    good = std::isfinite(columns.shift[d]) && std::isfinite(columns.divisor[d]) && columns.divisor[d] > 0;
  if (!good)
    refuse("preparation", std::string(name(scaling)) +
                              " has not one finite shift and one finite divisor above 0 for each of " +
                              std::to_string(wanted) + " columns; learn them from training rows");
}

void check_fills(const std::vector<double>& fills, std::int64_t wanted,
                 const std::vector<std::int64_t>& categorical) {
  bool good = static_cast<std::int64_t>(fills.size()) == wanted;
  for (const double fill : fills) good = good && std::fabs(fill) <= double{FLT_MAX};
  for (const std::int64_t d : categorical) {
    if (!good || fills.empty()) break;
    const double code = fills[static_cast<std::size_t>(d)];
    good = code >= 0 && code < static_cast<double>(categories_end) && code == std::floor(code);
  }
  if (!good)
    refuse(
        "preparation",
        "there are " + std::to_string(fills.size()) + " values in place of missing ones for " +
            std::to_string(wanted) +
            " columns that are filled, or one is no finite float, or no category where there should be one; "
            "learn them from training rows");
}

}  // namespace

Preparation::Preparation(Learned learned) try
    : dims_(learned.dims),
      options_(std::move(learned.options)),
      categories_(std::move(learned.categories)),
      columns_(std::move(learned.columns)),
      fills_(std::move(learned.fills)) {
  if (dims_ < 0 ||
      (dims_ == 0 && !(options_.scalings.empty() && options_.categorical.empty() && !takes_nan(options_))))
    refuse("preparation",
           "it was learned from rows of " + std::to_string(dims_) + " columns; there must be at least one");
  check_norms(options_);
  if (checked_columns(options_.categorical, dims_) != options_.categorical)
    refuse("preparation", "the columns that hold categories are not in ascending order; sort them");
  const std::size_t wanted = options_.categories == Categories::one_hot ? options_.categorical.size() : 0;
  if (categories_.size() != wanted || columns_.size() != options_.scalings.size())
    refuse("preparation", "there are " + std::to_string(categories_.size()) + " lists of categories for " +
                              std::to_string(wanted) + " columns of one_hot, and parameters of " +
                              std::to_string(columns_.size()) + " scalings for " +
                              std::to_string(options_.scalings.size()) + "; give one each");
  for (std::size_t i = 0; i < wanted; ++i) check_categories(categories_[i], options_.categorical[i]);
  width_ = width_of(dims_, categories_);
  for (std::size_t s = 0; s < columns_.size(); ++s) check_scaling(options_.scalings[s], columns_[s], width_);
  check_fills(fills_, fills(options_) ? dims_ : 0, options_.categorical);
} catch (...) {
  rethrow_as_error();
}

Preparation::Learned Preparation::learned() const try {
  return {dims_, options_, categories_, columns_, fills_};
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
