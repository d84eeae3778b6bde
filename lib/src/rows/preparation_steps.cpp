#include "rows/preparation_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kith/error.hpp"

namespace kith {
namespace {

/// Writes codes and other values as doubles; with one_hot, a code becomes one column for each category. What
/// is missing and not filled in stays missing, in each of these columns.
template <class T>
void expand(const PreparationSteps& steps, const T* row, double* out) {
  const std::vector<std::int64_t>& categorical = steps.options.categorical;
  const bool one_hot = steps.options.categories == Categories::one_hot;
  std::size_t next = 0;
  for (std::int64_t d = 0; d < steps.dims; ++d) {
    const bool fill = !steps.fills.empty() && std::isnan(row[d]);
    const double value = fill ? steps.fills[static_cast<std::size_t>(d)] : static_cast<double>(row[d]);
    if (!one_hot || next == categorical.size() || categorical[next] != d) {
      *out++ = value;
      continue;
    }
    for (const std::int64_t category : steps.categories[next])
      *out++ = std::isnan(value) ? value : static_cast<double>(category) == value ? 1.0 : 0.0;
    ++next;
  }
}

/// Divides a row by its norm. A row of zeros does not change; neither does one whose norm overflows, because
/// its values exceed every float.
void divide_by_norm(double* row, std::int64_t width) {
  double sum = 0;
  for (std::int64_t d = 0; d < width; ++d) sum += row[d] * row[d];
  const double norm = std::sqrt(sum);
  if (norm == 0 || !std::isfinite(norm)) return;
  for (std::int64_t d = 0; d < width; ++d) row[d] /= norm;
}

/// Calls body(row) for each training row, in ascending order, so that sums do not depend on threads.
template <class T, class Body>
void for_each_row(const PreparationSteps& steps, std::size_t scalings, MatrixView<const T> train,
                  const Body& body) {
  std::vector<double> row(static_cast<std::size_t>(steps.width));
  for (std::int64_t r = 0; r < train.rows(); ++r) {
    steps.run(train.row(r), scalings, row.data());
    body(row);
  }
}

/// Values of each column, without those that are missing.
struct ColumnMeans {
  std::vector<double> mean;   ///< 0 in a column without values
  std::vector<double> count;  ///< whole numbers
};

/// Returns the means of columns. It sums differences from the first value, which are exactly 0 in a column
/// of equal values.
template <class T>
ColumnMeans column_means(const PreparationSteps& steps, std::size_t scalings, MatrixView<const T> train) {
  const auto width = static_cast<std::size_t>(steps.width);
  std::vector<double> first(width), sum(width), count(width);
  for_each_row(steps, scalings, train, [&](const std::vector<double>& row) {
    for (std::size_t d = 0; d < width; ++d) {
      if (std::isnan(row[d])) continue;
      if (count[d] == 0) first[d] = row[d];
      sum[d] += row[d] - first[d];
      ++count[d];
    }
  });
  for (std::size_t d = 0; d < width; ++d) first[d] += count[d] == 0 ? 0 : sum[d] / count[d];
  return {std::move(first), std::move(count)};
}

/// Subtracts means. Columns of categories do not change.
template <class T>
Preparation::Columns learn_centre(const PreparationSteps& steps, std::size_t scalings,
                                  MatrixView<const T> train) {
  std::vector<double> shift = column_means(steps, scalings, train).mean;
  const std::vector<bool> categories = steps.of_categories();
  for (std::size_t d = 0; d < shift.size(); ++d)
    if (categories[d]) shift[d] = 0;
  std::vector<double> divisor(shift.size(), 1.0);
  return {std::move(shift), std::move(divisor)};
}

template <class T>
Preparation::Columns learn_standardize(const PreparationSteps& steps, std::size_t scalings,
                                       MatrixView<const T> train) {
  const auto width = static_cast<std::size_t>(steps.width);
  ColumnMeans values = column_means(steps, scalings, train);
  const std::vector<double>& mean = values.mean;
  std::vector<double> sum(width), divisor(width);
  for_each_row(steps, scalings, train, [&](const std::vector<double>& row) {
    for (std::size_t d = 0; d < width; ++d)
      if (!std::isnan(row[d])) sum[d] += (row[d] - mean[d]) * (row[d] - mean[d]);
  });
  for (std::size_t d = 0; d < width; ++d) {
    const double deviation = sum[d] == 0 ? 0 : std::sqrt(sum[d] / values.count[d]);
    divisor[d] = deviation == 0 ? 1 : deviation;
  }
  return {std::move(values.mean), std::move(divisor)};
}

template <class T>
Preparation::Columns learn_min_max(const PreparationSteps& steps, std::size_t scalings,
                                   MatrixView<const T> train) {
  const auto width = static_cast<std::size_t>(steps.width);
  constexpr double gone = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> least(width, gone), largest(width, gone);
  for_each_row(steps, scalings, train, [&](const std::vector<double>& row) {
    for (std::size_t d = 0; d < width; ++d) {
      if (std::isnan(row[d])) continue;
      if (!(row[d] >= least[d])) least[d] = row[d];
      if (!(row[d] <= largest[d])) largest[d] = row[d];
    }
  });
  for (std::size_t d = 0; d < width; ++d) {
    if (std::isnan(least[d])) least[d] = largest[d] = 0;  // no value is there
    const double range = largest[d] - least[d];
    largest[d] = range == 0 ? 1 : range;
  }
  return {std::move(least), std::move(largest)};
}

/// Returns the mean; values are added in the order of the rows.
template <class T>
double mean(const std::vector<T>& values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

template <class T>
double median(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return static_cast<double>(values[half]);
  return (static_cast<double>(values[half - 1]) + static_cast<double>(values[half])) / 2;
}

template <class T>
double most_frequent(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  std::size_t best = 0, most = 0;
  for (std::size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && values[end] == values[begin]) ++end;
    if (end - begin > most) most = end - begin, best = begin;
  }
  return static_cast<double>(values[best]) + 0.0;  // adding +0 makes +0 of -0, which equals it
}

}  // namespace

template <class T>
void PreparationSteps::run(const T* row, std::size_t scalings, double* out) const {
  expand(*this, row, out);
  for (std::size_t s = 0; s < scalings; ++s) {
    if (options.scalings[s] == Scaling::l2_rows) {
      divide_by_norm(out, width);
      continue;
    }
    const double *shift = columns[s].shift.data(), *divisor = columns[s].divisor.data();
    for (std::int64_t d = 0; d < width; ++d) out[d] = (out[d] - shift[d]) / divisor[d];
  }
}

std::vector<bool> PreparationSteps::of_categories() const {
  std::vector<bool> of;
  for (std::int64_t d = 0, next = 0; d < dims; ++d) {
    const auto place = static_cast<std::size_t>(next);
    const bool category = place < options.categorical.size() && options.categorical[place] == d;
    next += category;
    of.insert(of.end(), category && !categories.empty() ? categories[place].size() : 1, category);
  }
  return of;
}

template <class T>
std::vector<double> learn_fills(const PreparationOptions& options, MatrixView<const T> train) {
  std::vector<double> fills;
  std::vector<T> values;
  for (std::int64_t d = 0; d < train.cols(); ++d) {
    values.clear();
    for (std::int64_t r = 0; r < train.rows(); ++r)
      if (!std::isnan(train(r, d))) values.push_back(train(r, d));
    if (values.empty())
      throw Error(Errc::invalid_argument, "preparation: column " + std::to_string(d) +
                                              " has no value to learn from; leave the column out");
    const bool category = std::binary_search(options.categorical.begin(), options.categorical.end(), d);
    if (options.missing == Missing::most_frequent || category)
      fills.push_back(most_frequent(values));
    else
      fills.push_back(options.missing == Missing::mean ? mean(values) : median(values));
  }
  return fills;
}

template <class T>
Preparation::Columns learn_columns(const PreparationSteps& steps, Scaling scaling, std::size_t scalings,
                                   MatrixView<const T> train) {
  switch (scaling) {
    case Scaling::centre:
      return learn_centre(steps, scalings, train);
    case Scaling::standardize:
      return learn_standardize(steps, scalings, train);
    case Scaling::min_max:
      return learn_min_max(steps, scalings, train);
    case Scaling::l2_rows:
      break;
  }
  return {};
}

template std::vector<double> learn_fills(const PreparationOptions&, MatrixView<const float>);
template std::vector<double> learn_fills(const PreparationOptions&, MatrixView<const double>);
template Preparation::Columns learn_columns(const PreparationSteps&, Scaling, std::size_t,
                                            MatrixView<const float>);
template Preparation::Columns learn_columns(const PreparationSteps&, Scaling, std::size_t,
                                            MatrixView<const double>);
template void PreparationSteps::run(const float*, std::size_t, double*) const;
template void PreparationSteps::run(const double*, std::size_t, double*) const;

}  // namespace kith
