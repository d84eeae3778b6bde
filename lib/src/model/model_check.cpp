#include "model/model_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "kith/error.hpp"
#include "kith/labels.hpp"
#include "model/model_metric.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/landed/column_variances.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"
#include "search/index_checks.hpp"
#include "vote/votes.hpp"
#include "vote/weights.hpp"

namespace kith {
namespace {

std::string count(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what;
}

/// Returns whether `size` is rows * cols, which may exceed every integer type.
bool is_product(std::size_t size, std::int64_t rows, std::int64_t cols) {
  const auto r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(cols);
  return size % r == 0 && size / r == c;
}

void check_sizes(const Model& model) {
  if (model.n < 1 || model.dims < 1 || model.outputs < 1)
    refuse("model", "it has n = " + std::to_string(model.n) + " rows, dims = " + std::to_string(model.dims) +
                        " columns and " + std::to_string(model.outputs) +
                        " outputs; each must be at least 1");
  if (model.k < 0 || model.k > model.n)
    refuse("model", "k = " + std::to_string(model.k) + " but it holds " + std::to_string(model.n) +
                        " rows; choose k from 1 to " + std::to_string(model.n) + ", or 0 to leave it open");
}

void check_preparation(const Model& model) {
  const Preparation& preparation = model.preparation;
  if (preparation.dims() > 0 && preparation.width() != model.dims)
    refuse("model", "the preparation makes " + std::to_string(preparation.width()) +
                        " columns but the rows have " + std::to_string(model.dims) +
                        "; prepare the rows with it");
}

void check_columns(const Model& model) {
  std::vector<std::int64_t> sorted = model.features;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= model.dims)
      refuse("model", "there is no feature " + std::to_string(sorted[i]) + "; prepared columns are 0 to " +
                          std::to_string(model.dims - 1));
    if (i > 0 && sorted[i] == sorted[i - 1])
      refuse("model", "feature " + std::to_string(sorted[i]) + " is there twice; name it once");
  }
  const std::int64_t given = model.preparation.dims() > 0 ? model.preparation.dims() : model.dims;
  if (!model.columns.empty() && static_cast<std::int64_t>(model.columns.size()) != given)
    refuse("model", count(model.columns.size(), "names for ") + std::to_string(given) +
                        " columns before preparation; give one a column, or none");
  if (!model.category_texts.empty() && static_cast<std::int64_t>(model.category_texts.size()) != given)
    refuse("model", count(model.category_texts.size(), "lists of texts of categories for ") +
                        std::to_string(given) + " columns before preparation; give one a column, or none");
}

void check_doubles(const Model& model) {
  if (is_of_sums(model.metric))
    refuse("model", "it computes in double precision, which " + std::string(name(model.metric)) +
                        " does not; choose arithmetic f32, and floats");
  if (model.preparation.dims() > 0)
    refuse("model",
           "it computes in double precision, but its preparation makes floats; leave one of them out");
  if (!model.rows.empty() || !is_product(model.rows64.size(), model.n, model.dims))
    refuse("model", count(model.rows64.size(), "doubles and ") + count(model.rows.size(), "floats are not ") +
                        std::to_string(model.n) + " rows of " + std::to_string(model.dims) +
                        " columns in double precision; give doubles, [n, dims], and no floats");
  prepare_doubles("model", "training", RowsView(model.rows64.data(), Element::f64, model.n, model.dims),
                  model.metric, {}, {}, 0);
}

void check_rows(const Model& model) {
  if (model.arithmetic == Arithmetic::f64) return check_doubles(model);
  if (!is_product(model.rows.size(), model.n, model.dims))
    refuse("model", count(model.rows.size(), "values are not ") + std::to_string(model.n) + " rows of " +
                        std::to_string(model.dims) + " columns; give [n, dims]");
  if (!model.rows64.empty())
    refuse("model", count(model.rows64.size(), "doubles in a model in single precision; leave them out"));
  prepare_rows("model", "training", {model.rows.data(), model.n, model.dims}, model.metric, 0);
}

void check_metric(const Model& model) {
  IndexOptions options = index_options_of(model);
  const Metric metric = metric_of_power(model.metric, options.p);
  if (metric != model.metric) options = without_p(options);
  const std::vector<std::int64_t> features = checked_features(options, metric, model.dims);
  prepared_metric_of(
      options, metric, model.dims, features,
      [&] { return variances_of(RowsInParts(rows_of(model)), features, 0); },
      [&] { return std::vector<double>(size(model.dims), 1); });
}

void check_labels(const Model& model) {
  if (model.labels.empty() == model.values.empty())
    refuse("model", model.labels.empty()
                        ? "it has neither labels nor values; give labels to a classifier, values to a "
                          "regressor"
                        : "it has both labels and values; give labels to a classifier, values to a "
                          "regressor");
  if (model.labels.empty()) {
    if (!model.label_texts.empty())
      refuse("model", count(model.label_texts.size(), "texts of labels, but no labels; leave them out"));
    return;
  }
  if (!is_product(model.labels.size(), model.n, model.outputs))
    refuse("model", count(model.labels.size(), "labels are not one for each of ") + std::to_string(model.n) +
                        " rows and " + std::to_string(model.outputs) + " outputs; give [n, outputs]");
  const auto texts = static_cast<std::int64_t>(model.label_texts.size());
  for (std::size_t i = 0; texts > 0 && i < model.labels.size(); ++i)
    if (model.labels[i] < 0 || model.labels[i] >= texts)
      refuse("model", "the label of row " + std::to_string(i / static_cast<std::size_t>(model.outputs)) +
                          " is " + std::to_string(model.labels[i]) +
                          ", which has no text; there are those of 0 to " + std::to_string(texts - 1));
}

void check_values(const Model& model) {
  if (model.values.empty()) return;
  if (!is_product(model.values.size(), model.n, model.outputs))
    refuse("model", count(model.values.size(), "values are not one for each of ") + std::to_string(model.n) +
                        " rows and " + std::to_string(model.outputs) + " outputs; give [n, outputs]");
  for (std::size_t i = 0; i < model.values.size(); ++i)
    if (!std::isfinite(model.values[i]))
      refuse("model", "a value of row " + std::to_string(i / static_cast<std::size_t>(model.outputs)) +
                          " is " + text_of(model.values[i]) + "; make every value finite");
}

void check_samples(const Model& model) {
  check_sample_weights("model", model.sample_weights, model.n);
}

/// Returns the number of classes of the first output, to which priors and costs belong.
std::size_t count_classes(const Model& model) {
  std::vector<std::int64_t> classes;
  for (std::size_t i = 0; i < model.labels.size(); i += static_cast<std::size_t>(model.outputs))
    classes.push_back(model.labels[i]);
  return classes_of(std::move(classes)).size();
}

void check_vote(const Model& model) {
  check_voting("model", model.voting, model.metric, count_classes(model), model.k);
}

void check_origin(const Model& model) {
  if (!model.answer_names.empty() && static_cast<std::int64_t>(model.answer_names.size()) != model.outputs)
    refuse("model", count(model.answer_names.size(), "names for ") + std::to_string(model.outputs) +
                        " outputs; give one an output, or none");
  const std::vector<std::int64_t>& numbers = model.row_numbers;
  bool good = numbers.empty() || (static_cast<std::int64_t>(numbers.size()) == model.n && numbers[0] >= 0);
  for (std::size_t i = 1; i < numbers.size(); ++i) good = good && numbers[i - 1] < numbers[i];
  if (!good)
    refuse("model", count(numbers.size(), "numbers for ") + std::to_string(model.n) +
                        " rows, or they do not ascend from 0 or more; give one a row, or none");
  if (model.first_index < -1 || model.first_index > 1)
    refuse("model",
           "the first index is " + std::to_string(model.first_index) + "; it is 0 or 1, or -1 for none");
}

void check_unread(const Model& model) {
  const std::vector<std::int64_t>& unread = model.unread;
  const std::int64_t read = model.preparation.dims() > 0 ? model.preparation.dims() : model.dims,
                     all = read + static_cast<std::int64_t>(unread.size());
  bool good = unread.empty() || (unread.front() >= 0 && unread.back() < all);
  for (std::size_t i = 1; i < unread.size(); ++i) good = good && unread[i - 1] < unread[i];
  if (!good)
    refuse("model", count(unread.size(), "columns that nobody reads beside ") + std::to_string(read) +
                        ", but their places do not ascend from 0 to " + std::to_string(all - 1) +
                        "; give each its place among all");
  const std::size_t names = model.columns.empty() ? 0 : unread.size();
  if (model.unread_names.size() != names)
    refuse("model", count(model.unread_names.size(), "names for ") +
                        count(unread.size(), "columns that nobody reads") +
                        "; give one each where columns have names, else none");
}

constexpr ModelSection sections[] = {
    {"model", check_sizes},   {"prepare", check_preparation}, {"columns", check_columns},
    {"rows", check_rows},     {"metric", check_metric},       {"labels", check_labels},
    {"values", check_values}, {"samples", check_samples},     {"voting", check_vote},
    {"origin", check_origin}, {"unread", check_unread}};

}  // namespace

std::span<const ModelSection> model_checks() {
  return sections;
}

void check_model(const Model& model) {
  const FloatGuard guard;
  for (const ModelSection& section : sections) section.check(model);
}

}  // namespace kith
